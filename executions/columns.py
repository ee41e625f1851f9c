"""The columns that an outcome fills, cleaned and bounded so that the database refuses none; writes nothing."""

from typing import Any

from agents.runtimes.base import Ending, Outcome
from executions.models import Execution
from executions.trajectory import count_calls
from executions.vocabulary import ExecutionStatus
from trinity.kernel.money import MAX_REPORT_NANO
from trinity.kernel.text import clean

MAX_RESPONSE_CHARACTERS = 1_000_000
MAX_ERROR_CHARACTERS = 10_000
MAX_TOKENS = 2**63 - 1  # a bigint column
MAX_COUNT = 2**31 - 1  # an integer column
MAX_DENIALS = 200
MAX_NOTES = 20
MAX_NOTE_CHARACTERS = 1_000

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
        "notes": [clean(sentence, MAX_NOTE_CHARACTERS) for sentence in outcome.notes[:MAX_NOTES]],
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
        "cost_nano": attempt_cost(outcome),
        "cost_estimated": outcome.cost_estimated,
    }


def cost_columns(execution: Execution, outcome: Outcome) -> dict[str, Any]:
    """What all attempts of an execution cost together: those before met a model that was away, and may have cost.

    Where the last one's cost is unknown and an earlier one's is not, the sum is an estimate: it is at least so much. A
    call that the model's service refused and that names no cost is taken to have had none.
    """
    before, own = execution.cost_nano, attempt_cost(outcome)
    if not before:
        return {"cost_nano": own, "cost_estimated": outcome.cost_estimated}
    return {
        "cost_nano": min(before + (own or 0), MAX_REPORT_NANO),
        "cost_estimated": outcome.cost_estimated or execution.cost_estimated or (own is None and outcome.away is None),
    }


def attempt_cost(outcome: Outcome) -> int | None:
    """Nano-dollars of this one attempt, as much as its column holds; None is unknown."""
    return _count(outcome.cost_nano, MAX_REPORT_NANO)


def duration_column(outcome: Outcome, otherwise_ms: int) -> int:
    """Milliseconds by the runner's clock, where it told."""
    told = _count(outcome.duration_ms, MAX_TOKENS)
    return told if told is not None else otherwise_ms


def _count(number: int | None, most: int) -> int | None:
    """A count or an amount that its column can hold; one below zero says nothing, so it is unknown."""
    return None if number is None or number < 0 else min(number, most)
