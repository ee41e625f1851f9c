"""What callers ask of graders: one trajectory, or one execution's; stores nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.viewers import Viewer
from executions import trajectory
from executions.queries import execution_for
from graders.grading import grade
from trinity.kernel import fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode

EXECUTION_ID_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class GradingParameters:
    """The graders, and what they shall judge: exactly one of the two."""

    graders: list[Any]
    trajectory: Any = None
    execution_id: str | None = None


def _anything(value: Any) -> Any:
    return value  # the graders' own reader says what is wrong with it, by path


_FIELDS: dict[str, fields.Read] = {
    "graders": _anything,
    "trajectory": _anything,
    "execution_id": lambda value: fields.text(value, 1, EXECUTION_ID_CHARACTERS),
}


def read_grading(given: Mapping[str, Any]) -> GradingParameters:
    """The fields of a request. Refused unless there is either a trajectory or an execution."""
    asked = GradingParameters(**fields.read(given, _FIELDS, required=("graders",)))
    if (asked.trajectory is None) == (asked.execution_id is None):
        raise refused_field("trajectory", "Give either a trajectory or an execution_id, not both and not neither.")
    return asked


def graded(viewer: Viewer, asked: GradingParameters) -> dict[str, Any]:
    """`{"results", "lint"}` (section 4). Refused (conflict) for an execution that has not ended.

    An ended execution without a trajectory gets error results: that is no verdict, and no pass.
    """
    if asked.execution_id is None:
        return grade(asked.graders, asked.trajectory)
    execution = execution_for(viewer, asked.execution_id)
    if not execution.ended:
        raise Refused(
            f"The execution {execution.pk} is {execution.status}; it can be graded once it has ended.",
            code=RefusalCode.CONFLICT,
        )
    return grade(asked.graders, trajectory.read(execution))
