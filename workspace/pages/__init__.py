"""The Workspace's pages: doors and the plain values that templates draw; no rule and no write stands here."""
