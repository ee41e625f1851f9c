"""The neutral trajectory: what an agent did, whoever recorded it; knows no file format and no grader."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

OWN_FORMAT: Final = "trinity-trajectory/1"
MAIN_LANE: Final = ""


class Missing(Enum):
    """The type of `MISSING`, so that a type checker can tell it from a recorded value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


class Call(NamedTuple):
    """One tool call of a model step.

    `args` is the JSON value that the tool was given; None stands for "no arguments" and equals `{}`.
    `result` is the recorded JSON value, or MISSING when none was recorded (a recorded null is None).
    `lane` names the agent that called; the main agent's is `MAIN_LANE`.
    """

    tool: str
    args: object = None
    result: object = MISSING
    is_error: bool = False
    id: str | None = None
    lane: str = MAIN_LANE


class Step(NamedTuple):
    """One answer of the model: the calls that it issued together, none when it only talked.

    `lane` is the lane of a step without calls; calls carry their own.
    """

    calls: Sequence[Call] = ()
    lane: str = MAIN_LANE


@dataclass(slots=True)
class Trajectory:
    """The ordered steps of one execution.

    `steps` may be an iterator that reads a file as it goes: then it can be walked once, and `end_reason` and
    `max_iterations` are known only when it is exhausted.
    """

    steps: Iterable[Step]
    end_reason: str | None = None
    max_iterations: int | None = None
