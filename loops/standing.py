"""What an active loop is doing at one moment, in words and numbers; decides nothing and compares no limit."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from executions.models import Execution
from executions.waiting import Wait, waits_of
from loops.models import Loop
from loops.queries import unended_executions


@dataclass(frozen=True, slots=True)
class Standing:
    """Of a loop that has ended nothing is set."""

    execution: Execution | None = None  # of the run that waits or is in flight
    wait: Wait | None = None  # why it has not begun
    stop_requested: bool = False
    next_run_at: dt.datetime | None = None

    @property
    def run_number(self) -> int | None:
        """The run in flight, for `Run N / M` (section 2, "Words a person reads")."""
        return self.execution.run_number if self.execution is not None and self.execution.in_flight else None

    @property
    def words(self) -> str:
        """What stands beside the badge of an active loop; blank when a run simply goes on."""
        if self.stop_requested and self.run_number is not None:
            return f"finishing run {self.run_number}"
        if self.next_run_at is not None:
            return f"next run {self.next_run_at:%H:%M:%S} UTC"
        return self.wait.words if self.wait is not None else ""


def standings_of(loops: Iterable[Loop], now: dt.datetime) -> dict[str, Standing]:
    """The standing of each loop by its id; two queries, however many loops there are."""
    listed = list(loops)
    executions = unended_executions(listed)
    waits = waits_of(executions.values(), now)
    return {loop.pk: _standing(loop, executions.get(loop.pk), waits) for loop in listed}


def standing_of(loop: Loop, now: dt.datetime) -> Standing:
    """The standing of one loop."""
    return standings_of([loop], now)[loop.pk]


def _standing(loop: Loop, execution: Execution | None, waits: dict[str, Wait]) -> Standing:
    if loop.ended:
        return Standing()
    wait = waits.get(execution.pk) if execution is not None else None
    return Standing(execution, wait, loop.stop_requested, loop.next_run_at)
