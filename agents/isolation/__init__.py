"""What holds an agent, beyond what its runtime does: another user, a sandbox, limits (design, section 3)."""
