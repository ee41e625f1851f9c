"""Named points at which a test lets the process end as a power cut would; off, each costs one comparison.

Only `arm` turns one on: no variable and no setting does, so a running installation cannot be ended by it.
"""

import os
from enum import StrEnum

EXIT_CODE = 86


class CrashPoint(StrEnum):
    """Where a process may die such that somebody else has to go on."""

    BEFORE_COMMIT = "before a step's commit"
    AFTER_COMMIT = "after a step's commit, before anybody is told"
    BEFORE_START = "before a runner's start"
    AFTER_START = "after a runner's start"
    WATCHED = "while a runner is watched"
    BEFORE_SETTLE = "with an outcome, before it is settled"
    AFTER_SETTLE = "after an outcome is settled, before the next run begins"


_armed: CrashPoint | None = None
_left = 0


def arm(point: CrashPoint, times: int = 1) -> None:
    """End this process when `point` is reached so many times from now."""
    global _armed, _left
    _armed, _left = point, times


def reached(point: CrashPoint) -> None:
    """Say that this point is reached; ends the process, without any clean-up, when it is armed and its time came."""
    if _armed is not None:
        _count_down(point)


def _count_down(point: CrashPoint) -> None:
    global _left
    if point is _armed:
        _left -= 1
        if _left == 0:
            os._exit(EXIT_CODE)
