"""Writes what an agent is doing in one short line: its last tool and the first argument; reads no output."""

import json
from typing import Any

from agents.runtimes.keeping import name_of
from trinity.kernel.text import clean, collapse

ACTIVITY_CHARACTERS = 200
_MUCH = 2_000  # of an argument; more is never shown


def activity_line(tool: object, args: Any) -> str:
    """ "Bash: make test", at most 200 characters."""
    name = name_of(tool) or "a tool"
    first = next(iter(args.values()), "") if isinstance(args, dict) else args
    if first is None or first == "":
        return name[:ACTIVITY_CHARACTERS]
    text = first if isinstance(first, str) else json.dumps(first, ensure_ascii=False)
    line = f"{name}: {collapse(clean(text[:_MUCH]))}"
    return line if len(line) <= ACTIVITY_CHARACTERS else line[: ACTIVITY_CHARACTERS - 1] + "…"
