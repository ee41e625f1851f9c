"""Stores and reads an execution's trajectory in the neutral JSON of section 4; judges nothing."""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from agents.runtimes.base import Step
from executions.models import Execution, Trajectory
from executions.vocabulary import ExecutionStatus
from trinity.kernel.errors import Broken

FORMAT = "trinity-trajectory/1"
_END_REASONS = {
    ExecutionStatus.COMPLETED: "completed",
    ExecutionStatus.FAILED: "error",
    ExecutionStatus.TIMED_OUT: "timeout",
    ExecutionStatus.CANCELLED: "cancelled",
}


def packed(execution: Execution, steps: Sequence[Step]) -> Trajectory:
    """The steps of an execution that just ended, as the row that keeps them."""
    text = json.dumps(
        [step if isinstance(step, Mapping) else list(step) for step in steps],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return Trajectory(execution=execution, compressed=zlib.compress(text.encode("utf-8", "replace"), 6))


def read(execution: Execution) -> dict[str, Any] | None:
    """The trajectory as our own JSON; None when none was recorded."""
    row = Trajectory.objects.filter(execution=execution).first()
    if row is None:
        return None
    return {
        "format": FORMAT,
        "steps": steps_of(row),
        "end_reason": end_reason(execution),
    }


def steps_of(row: Trajectory) -> list[list[dict[str, Any]]]:
    """The steps of a stored trajectory, each a list of calls. Broken when what is stored cannot be read."""
    try:
        steps: list[list[dict[str, Any]]] = json.loads(zlib.decompress(bytes(row.compressed)))
    except (zlib.error, ValueError) as error:
        raise Broken(f"The trajectory of {row.execution_id} cannot be read: {error}") from error
    return steps


def end_reason(execution: Execution) -> str:
    """How the run ended, in the trajectory's words."""
    return _END_REASONS.get(ExecutionStatus(execution.status), "unknown")


def count_calls(steps: Sequence[Step]) -> int:
    """How many tool calls there are; an event in place of a step is none."""
    return sum(len(step) for step in steps if not isinstance(step, Mapping))
