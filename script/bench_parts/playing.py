"""Agents and loops that are played before readers; what they show is measured elsewhere."""

import secrets
from typing import Any

from bench_parts.stacks import Installation


def new_agent(here: Installation, seconds: float, **more: Any) -> str:
    """A scripted agent whose runs take so long; its name."""
    name = f"bench-{secrets.token_hex(4)}"
    replies = [{"response": f"reply {number}", "seconds": seconds} for number in range(20)]
    here.get("/api/agents", {"name": name, "runtime": "scripted", "runtime_settings": {"replies": replies}, **more})
    return name


def new_loop(here: Installation, agent: str, runs: int) -> str:
    """A loop that goes on whatever is replied; its id."""
    asked = {"message": "Go", "max_runs": runs, "no_progress_threshold": 0}
    return str(here.get(f"/api/agents/{agent}/loops", asked)["loop_id"])
