"""Tool calls of a trajectory as people read them: one line each, long texts cut; judges nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ARGUMENT_CHARACTERS = 160
TEXT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One tool call. `result` is None when none was recorded."""

    number: int
    tool: str
    argument: str  # the first argument, or all of them on one line
    arguments: str
    result: str | None
    error: bool
    agent: str


def shown_calls(steps: Sequence[Sequence[Any]], limit: int, offset: int = 0) -> list[ShownCall]:
    """Calls `offset` to `offset + limit` in order; what is no call of a model is passed over."""
    calls = [
        call for step in steps if isinstance(step, list) for call in step if isinstance(call, dict) and "tool" in call
    ]
    return [_shown(number, call) for number, call in enumerate(calls[offset : offset + limit], start=offset + 1)]


def _shown(number: int, call: dict[str, Any]) -> ShownCall:
    args = call.get("args")
    return ShownCall(
        number=number,
        tool=_cut(str(call["tool"]), 80),
        argument=_cut(" ".join(_first(args).split()), ARGUMENT_CHARACTERS),
        arguments=_cut(_text(args), TEXT_CHARACTERS) if args else "",
        result=_cut(_text(call["result"]), TEXT_CHARACTERS) if "result" in call else None,
        error=bool(call.get("error")),
        agent=_cut(str(call.get("agent") or ""), 80),
    )


def _first(args: object) -> str:
    if isinstance(args, dict) and args:
        return _text(next(iter(args.values())))
    return _text(args) if args else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text):,} characters]"
