"""The columns that an outcome fills, cleaned and bounded so that the database refuses none; writes nothing."""

from typing import Any

from agents.runtimes.base import Ending, Outcome
from executions.trajectory import count_calls
from executions.vocabulary import ExecutionStatus
from trinity.kernel.money import MAX_REPORT_NANO
from trinity.kernel.text import clean

MAX_RESPONSE_CHARACTERS = 1_000_000
MAX_ERROR_CHARACTERS = 10_000
MAX_TOKENS = 2**63 - 1  # a bigint column
MAX_COUNT = 2**31 - 1  # an integer column
MAX_DENIALS = 200

_STATUS_OF = {
    Ending.COMPLETED: ExecutionStatus.COMPLETED,
    Ending.FAILED: ExecutionStatus.FAILED,
    Ending.TIMED_OUT: ExecutionStatus.TIMED_OUT,
}


def outcome_columns(outcome: Outcome) -> dict[str, Any]:
    """All of them. An outcome that the database refused could never be settled, and its loop would hang for ever."""
    return {
        "status": _STATUS_OF[outcome.ending],
        "error_kind": outcome.error_kind or "",
        "error": clean(outcome.error, MAX_ERROR_CHARACTERS),
        "input_tokens": _count(outcome.tokens.input, MAX_TOKENS),
        "output_tokens": _count(outcome.tokens.output, MAX_TOKENS),
        "cache_read_tokens": _count(outcome.tokens.cache_read, MAX_TOKENS),
        "cache_write_tokens": _count(outcome.tokens.cache_write, MAX_TOKENS),
        "used_model": clean(outcome.model, 200),
        "permission_denials": [clean(tool, 200) for tool in outcome.permission_denials[:MAX_DENIALS]],
        "tool_calls": min(count_calls(outcome.steps), MAX_COUNT),
        "to_grade": bool(outcome.steps),
        "commits": _count(outcome.commits, MAX_COUNT),
        "lines_added": _count(outcome.lines_added, MAX_COUNT),
        "lines_removed": _count(outcome.lines_removed, MAX_COUNT),
        **reply_columns(outcome),
    }


def reply_columns(outcome: Outcome) -> dict[str, Any]:
    """What is kept even of an outcome that comes too late: the text and the cost (section 3)."""
    return {
        "response": clean(outcome.response, MAX_RESPONSE_CHARACTERS),
        "cost_nano": _count(outcome.cost_nano, MAX_REPORT_NANO),
        "cost_estimated": outcome.cost_estimated,
    }


def duration_column(outcome: Outcome, otherwise_ms: int) -> int:
    """Milliseconds by the runner's clock, where it told."""
    told = _count(outcome.duration_ms, MAX_TOKENS)
    return told if told is not None else otherwise_ms


def _count(number: int | None, most: int) -> int | None:
    """A count or an amount that its column can hold; one below zero says nothing, so it is unknown."""
    return None if number is None or number < 0 else min(number, most)
