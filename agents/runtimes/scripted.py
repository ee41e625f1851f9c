"""The runtime `scripted`: answers from a list, inside the worker, for tests, benchmarks and scenarios.

It starts nothing, waits for nothing and reads no clock but the one it is given through `kernel.clock`.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from agents.runtimes.base import AgentCall, Away, CommandSpec, Ending, ErrorKind, Outcome, Printed, Step
from agents.runtimes.faults import AWAY_KINDS
from agents.runtimes.keeping import RESULT_CHARACTERS, kept_json, kept_reply
from agents.runtimes.settings import Setting, cleaned
from agents.runtimes.usage import cost_nano
from agents.runtimes.values import WrongValue, a_list, a_text, a_whole_number
from trinity.kernel import clock
from trinity.kernel.errors import Broken

MOST_REPLIES = 10_000
MOST_CALLS = 1_000
MOST_SECONDS = 7 * 86_400

_CALL_KEYS = frozenset({"tool", "args", "result", "error", "agent", "id"})


class ScriptedRuntime:
    """The answer to run N is the N-th of the setting `replies`; the last one repeats."""

    name = "scripted"
    answers_in_worker = True

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return cleaned(settings, _SETTINGS, patience_seconds=0)

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return True  # it uses none that the list does not name

    def answer(self, call: AgentCall, settings: Mapping[str, Any]) -> Outcome:
        """The outcome of run `call.run_number`; `duration_ms` is the time that it stands for."""
        replies: Sequence[Mapping[str, Any]] = settings["replies"]
        reply = replies[min(max(call.run_number, 1), len(replies)) - 1]
        ending, kind = _ending(reply)
        return Outcome(
            ending=ending,
            response=reply.get("response") or "",
            error_kind=kind,
            error=reply.get("error") or ("" if kind is None else "It failed as its list says."),
            cost_nano=cost_nano(reply.get("cost_usd")),
            model=call.model,
            steps=_steps(reply.get("tools", ())),
            permission_denials=tuple(reply.get("permission_denials", ())),
            away=_away(reply, kind),
            duration_ms=int(reply.get("seconds", 0) * 1_000),
        )

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        raise Broken("A scripted agent starts no process; ask for its answer instead.")

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        raise Broken("A scripted agent prints nothing; ask for its answer instead.")

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        return None


def _ending(reply: Mapping[str, Any]) -> tuple[Ending, ErrorKind | None]:
    if reply.get("timed_out"):
        return Ending.TIMED_OUT, ErrorKind.TIMEOUT
    if reply.get("error") is None and reply.get("error_kind") is None:
        return Ending.COMPLETED, None
    return Ending.FAILED, ErrorKind(reply.get("error_kind") or ErrorKind.AGENT_ERROR)


def _away(reply: Mapping[str, Any], kind: ErrorKind | None) -> Away | None:
    if kind not in AWAY_KINDS or reply.get("tools"):
        return None
    seconds = reply.get("away_seconds")
    return Away(kind, None if seconds is None else clock.now() + dt.timedelta(seconds=seconds))


def _steps(tools: Sequence[Any]) -> tuple[Step, ...]:
    """A call by itself is a step; a list is a step of several calls."""
    return tuple(tuple(step) if isinstance(step, list) else (step,) for step in tools)


def _reply(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValue('Must be an object such as {"response": "done"}.')
    if unknown := sorted(value.keys() - _REPLY_CHECKS.keys()):
        raise WrongValue(f"Unknown: {', '.join(unknown)}. Known: {', '.join(sorted(_REPLY_CHECKS))}.")
    reply = {key: _REPLY_CHECKS[key](part) for key, part in value.items() if part is not None}
    if not reply.keys() & {"response", "error", "error_kind"} and not reply.get("timed_out"):
        raise WrongValue("Must have a response or an error.")
    return reply


def _call(value: Any) -> Any:
    if isinstance(value, list):
        return a_list(value, _one_call, least=0, most=MOST_CALLS)
    return _one_call(value)


def _one_call(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or value.keys() - _CALL_KEYS:
        raise WrongValue(f"Must be an object with a tool, and nothing but {', '.join(sorted(_CALL_KEYS))}.")
    kept = kept_json(value)
    if not isinstance(kept, dict):
        raise WrongValue(f"Must not be longer than {RESULT_CHARACTERS:,} characters.")
    return kept


def _response(value: Any) -> str:
    if not isinstance(value, str):
        raise WrongValue("Must be a text.")
    return kept_reply(value)


def _dollars(value: Any) -> float:
    if cost_nano(value) is None:
        raise WrongValue("Must be a finite number of dollars, at least 0.")
    return float(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        raise WrongValue(f"Must be a number of seconds from 0 to {MOST_SECONDS:,}.")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValue("Must be true or false.")
    return value


def _kind(value: Any) -> str:
    if value not in set(ErrorKind):
        raise WrongValue(f"Must be one of {', '.join(ErrorKind)}.")
    return str(value)


_REPLY_CHECKS: dict[str, Callable[[Any], Any]] = {
    "response": _response,
    "error": partial(a_text, most=10_000),
    "error_kind": _kind,
    "timed_out": _flag,
    "cost_usd": _dollars,
    "seconds": _seconds,
    "tools": partial(a_list, check=_call, least=0, most=MOST_CALLS),
    "permission_denials": partial(a_list, check=a_text, least=0, most=MOST_CALLS),
    "away_seconds": a_whole_number(0, MOST_SECONDS),
}
_SETTINGS = (Setting("replies", partial(a_list, check=_reply, least=1, most=MOST_REPLIES), required=True),)
