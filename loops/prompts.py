"""Fills a loop's message for one run; reads nothing but its arguments."""

import re

CARRIED_CHARACTERS = 2_000
MAX_PROMPT_CHARACTERS = 1_000_000  # a message of placeholders only may grow 100-fold; a model takes no more
_PLACEHOLDER = re.compile(r"\{\{(run|previous_response)\}\}")


def render(message: str, *, run_number: int, previous_response: str | None) -> str:
    """One pass over the message only: what a reply contains is never expanded again (section 2)."""
    values = {"run": str(run_number), "previous_response": (previous_response or "")[-CARRIED_CHARACTERS:]}
    return _PLACEHOLDER.sub(lambda found: values[found[1]], message)[:MAX_PROMPT_CHARACTERS]
