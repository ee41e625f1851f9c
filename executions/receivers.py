"""Who is told when an execution of a trigger begins, waits or ends; `executions` itself knows no loop or room.

Each app fills the registry from its `AppConfig.ready`. Receivers run inside the step's transaction, under the
agent's lock, and may queue the next execution.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Protocol

from agents.runtimes.base import Outcome
from executions.models import Execution
from executions.step import AgentStep
from executions.vocabulary import Trigger
from trinity.kernel.statements import Statement


class Receiver(Protocol):
    """What an app does at the turning points of its executions."""

    def reads(self, execution: Execution) -> Mapping[str, Statement]:
        """What it will want to know when the execution ends: asked together with the lock, found in `step.ahead`."""

    def may_begin(self, step: AgentStep, execution: Execution) -> bool:
        """Asked when it gets its slot; on False it is withdrawn, and the receiver has recorded why."""

    def begun(self, step: AgentStep, execution: Execution) -> None:
        """It got its slot and is claimed."""

    def waits(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        """It went back to the queue: its model is away. The call may have cost something."""

    def patience_ends(self, step: AgentStep, execution: Execution) -> dt.datetime | None:
        """When waiting for a model makes no sense any more for its parent; None: no such time."""

    def ended(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        """Its outcome stands."""

    def withdrawn(self, step: AgentStep, execution: Execution) -> None:
        """It was cancelled before it began; whoever asked for that may have recorded it already."""

    def graded(self, step: AgentStep, execution: Execution) -> None:
        """Its verdicts stand."""


class _Alone:
    """The receiver of a trigger that nobody registered for: a single call has no parent."""

    def reads(self, execution: Execution) -> Mapping[str, Statement]:
        return {}

    def may_begin(self, step: AgentStep, execution: Execution) -> bool:
        return True

    def begun(self, step: AgentStep, execution: Execution) -> None:
        return

    def waits(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        return

    def patience_ends(self, step: AgentStep, execution: Execution) -> dt.datetime | None:
        return None

    def ended(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        return

    def withdrawn(self, step: AgentStep, execution: Execution) -> None:
        return

    def graded(self, step: AgentStep, execution: Execution) -> None:
        return


# Finds due rows of an app and moves each, at most `limit`; returns how many moved.
Repair = Callable[[dt.datetime, int], int]

_ALONE = _Alone()
_receivers: dict[str, Receiver] = {}
_repairs: dict[str, Repair] = {}


def register(trigger: Trigger, receiver: Receiver) -> None:
    """Let `receiver` hear of all executions of this trigger; once, at start."""
    _receivers[trigger] = receiver


def register_repair(name: str, repair: Repair) -> None:
    """Let the sweep call `repair` on each of its passes."""
    _repairs[name] = repair


def receiver_of(execution: Execution) -> Receiver:
    return _receivers.get(execution.trigger, _ALONE)


def repairs() -> dict[str, Repair]:
    return dict(_repairs)
