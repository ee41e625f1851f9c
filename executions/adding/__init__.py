"""Adding one's own agent: what is on this machine, on which folder, and one call that shows that it works."""
