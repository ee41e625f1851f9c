"""What must always be true of loops, their runs and their agents: each broken rule as a sentence; repairs nothing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Min, Q

from agents.models import Agent
from agents.runtimes.base import ErrorKind
from executions.models import Execution
from executions.vocabulary import ENDED as ENDED_EXECUTIONS
from executions.vocabulary import UNENDED, ExecutionStatus
from loops.models import Loop, LoopEvent, Run
from loops.vocabulary import EventKind, LoopStatus, OnFailure, StopReason

_DONE = frozenset({LoopStatus.COMPLETED, LoopStatus.COMPLETED_WITH_ERRORS})
# Which statuses a reason goes with (section 2, "Words a person reads").
STATUSES_OF: dict[StopReason, frozenset[LoopStatus]] = {
    StopReason.MAX_RUNS_REACHED: _DONE,
    StopReason.STOP_SIGNAL_MATCHED: _DONE,
    StopReason.USER_STOPPED: frozenset({LoopStatus.STOPPED}),
    StopReason.DEADLINE_EXCEEDED: frozenset({LoopStatus.STOPPED}),
    StopReason.BUDGET_EXHAUSTED: frozenset({LoopStatus.STOPPED}),
    StopReason.NO_PROGRESS: frozenset({LoopStatus.STOPPED}),
    StopReason.ERROR: frozenset({LoopStatus.FAILED}),
    StopReason.MAX_CONSECUTIVE_FAILURES: frozenset({LoopStatus.FAILED}),
    StopReason.INTERRUPTED: frozenset({LoopStatus.INTERRUPTED}),
}


class _Call(NamedTuple):
    """An execution of a loop, as far as the rules here look at it: no prompt and no reply."""

    pk: str
    loop_id: str
    run_number: int | None
    status: str
    error_kind: str
    cost_nano: int | None

    @property
    def ended(self) -> bool:
        return self.status in ENDED_EXECUTIONS


class _Events(NamedTuple):
    """The events of one loop, counted by the database."""

    number: int = 0
    first: int | None = None
    last: int | None = None
    run_ends: int = 0
    ends: int = 0


@dataclass(slots=True)
class _Evidence:
    """What stands beside the row of one loop."""

    calls: dict[str, _Call] = field(default_factory=dict)
    runs: dict[int, str] = field(default_factory=dict)
    events: _Events = field(default_factory=_Events)

    @property
    def closed(self) -> list[_Call]:
        """The calls of its ended runs."""
        runs = set(self.runs.values())
        return [call for call in self.calls.values() if call.ended and call.pk in runs]

    @property
    def unended(self) -> list[_Call]:
        return [call for call in self.calls.values() if not call.ended]


def check_loop(loop: Loop) -> list[str]:
    """The broken invariants of one loop as the database has it now, empty when it is sound."""
    return check_loops([loop.pk])


def check_loops(loop_ids: Sequence[str]) -> list[str]:
    """The same for some loops, in four queries whatever their number. Sound only over one view of the database."""
    evidence = _gather(loop_ids)
    loops = Loop.objects.filter(pk__in=loop_ids).defer("message", "last_response").order_by("pk")
    return [f"{loop.pk}: {sentence}" for loop in loops for sentence in _of_loop(loop, evidence[loop.pk])]


def _gather(loop_ids: Sequence[str]) -> dict[str, _Evidence]:
    evidence: dict[str, _Evidence] = defaultdict(_Evidence)
    calls = Execution.objects.filter(loop_id__in=loop_ids).exclude(loop_id="")  # as the index says
    for call in map(_Call._make, calls.order_by().values_list(*_Call._fields)):
        evidence[call.loop_id].calls[call.pk] = call
    runs = Run.objects.filter(loop__in=loop_ids).order_by()
    for loop_id, run_number, execution_id in runs.values_list("loop_id", "run_number", "execution_id"):
        evidence[loop_id].runs[run_number] = execution_id
    events = LoopEvent.objects.filter(loop__in=loop_ids).order_by().values("loop_id")
    for loop_id, *counts in events.annotate(**_COUNTS).values_list("loop_id", *_COUNTS):
        evidence[loop_id].events = _Events(*counts)
    return evidence


_COUNTS: dict[str, Any] = {
    "number": Count("pk"),
    "first": Min("sequence"),
    "last": Max("sequence"),
    "run_ends": Count("pk", filter=Q(kind=EventKind.LOOP_RUN_COMPLETED)),
    "ends": Count("pk", filter=Q(kind=EventKind.LOOP_COMPLETED)),
}


def _of_loop(loop: Loop, evidence: _Evidence) -> Iterator[str]:
    yield from _of_runs(loop, evidence)
    yield from _of_outcomes(loop, evidence.closed)
    yield from _of_money(loop, list(evidence.calls.values()))
    yield from _of_ending(loop, evidence.unended)
    yield from _of_waiting(loop, evidence.unended)
    yield from _of_events(loop, evidence.events)


def _of_runs(loop: Loop, evidence: _Evidence) -> Iterator[str]:
    runs, unended = evidence.runs, len(evidence.unended)
    if sorted(runs) != list(range(1, len(runs) + 1)):
        yield f"its runs are numbered {sorted(runs)}"
    if len(runs) != loop.runs_completed + unended:
        yield f"it has {len(runs)} runs, {loop.runs_completed} completed and {unended} not ended"
    for number, execution_id in runs.items():
        call = evidence.calls.get(execution_id)
        if call is None or call.run_number != number:
            yield f"run {number} has execution {execution_id}, which says otherwise"
    for call in evidence.calls.values():
        if runs.get(call.run_number or 0) != call.pk and call.status != ExecutionStatus.CANCELLED:
            yield f"execution {call.pk} is {call.status} but belongs to no run"


def _of_outcomes(loop: Loop, closed: list[_Call]) -> Iterator[str]:
    failed = sum(call.status != ExecutionStatus.COMPLETED for call in closed)
    if failed != loop.failed_runs + (loop.status == LoopStatus.FAILED):
        yield f"{failed} of its runs failed; it is {loop.status} and tolerated {loop.failed_runs}"
    if loop.on_failure == OnFailure.ABORT and loop.failed_runs:
        yield f"it aborts on failure and yet tolerated {loop.failed_runs}"
    if bool(loop.last_fingerprint) != any(call.status == ExecutionStatus.COMPLETED for call in closed):
        yield "its last reply does not fit its runs"


def _of_money(loop: Loop, calls: list[_Call]) -> Iterator[str]:
    """One that waits for its model, or was withdrawn while it did, holds what its calls in vain cost."""
    spent = sum(call.cost_nano or 0 for call in calls if call.error_kind != ErrorKind.LOST)
    late = sum(call.cost_nano or 0 for call in calls if call.error_kind == ErrorKind.LOST)
    if not spent <= loop.spent_nano <= spent + late:  # a late outcome's cost stays with its execution
        yield f"it spent {loop.spent_nano}, its runs {spent}"


def _of_ending(loop: Loop, unended: list[_Call]) -> Iterator[str]:
    if not loop.ended:
        return
    for call in unended:
        yield f"it ended, and execution {call.pk} is {call.status}"
    if LoopStatus(loop.status) not in STATUSES_OF[StopReason(loop.stop_reason)]:
        yield f"it is {loop.status} because of {loop.stop_reason}"
    if loop.status in _DONE and (loop.status == LoopStatus.COMPLETED_WITH_ERRORS) != bool(loop.failed_runs):
        yield f"it is {loop.status}, with {loop.failed_runs} failed runs"
    if loop.stop_reason == StopReason.USER_STOPPED and not loop.stop_requested:
        yield "somebody stopped it, and nobody asked for it"


def _of_waiting(loop: Loop, unended: list[_Call]) -> Iterator[str]:
    if loop.ended:
        return
    parked = loop.next_run_at is not None
    if not unended and not parked:
        yield "it is active, and nothing will ever move it: no run waits or works, and it is not parked"
    if unended and parked:
        yield "it is parked, and a run waits or works"
    began = loop.started_at is not None
    if began != (loop.status == LoopStatus.RUNNING):
        yield f"it is {loop.status}, and {'began' if began else 'never began'}"
    if not began and (parked or any(call.status == ExecutionStatus.RUNNING for call in unended)):
        yield "it never began, and is past its beginning"
    if (loop.deadline_at is not None) != (began and loop.max_duration_seconds is not None):
        yield "its deadline does not fit its time limit"


def _of_events(loop: Loop, events: _Events) -> Iterator[str]:
    if (events.first, events.last, events.number) != (1, loop.version, loop.version):
        yield f"its version is {loop.version}; it has {events.number} events, from {events.first} to {events.last}"
    if events.ends != int(loop.ended):
        yield f"it is {loop.status}, and ended {events.ends} times"
    if events.run_ends != loop.runs_completed:
        yield f"{loop.runs_completed} runs completed, and {events.run_ends} events say so"


def check_agents() -> list[str]:
    """Agents with more in flight than they have slots. A limit lowered while runs go on shows here too, until
    enough of them have ended; nothing in the database tells the two apart."""
    over = Agent.objects.annotate(
        in_flight=Count("executions", filter=Q(executions__status=ExecutionStatus.RUNNING))
    ).filter(in_flight__gt=F("max_parallel_tasks"))
    return [f"agent {one.name}: {one.in_flight} in flight, {one.max_parallel_tasks} slots" for one in over]


def check_executions() -> list[str]:
    """Executions that nobody would ever move, and those that belong to a loop that is not there; at most 100."""
    unclaimed = Q(status=ExecutionStatus.RUNNING) & (Q(claim_token="") | Q(lease_until=None))
    no_loop = Q(status__in=sorted(UNENDED)) & ~Q(loop_id="") & ~Q(loop_id__in=Loop.objects.order_by().values("pk"))
    return [f"execution {one.pk} is in flight, and no lease will ever end" for one in _first(unclaimed)] + [
        f"execution {one.pk} is {one.status}, and there is no loop {one.loop_id}" for one in _first(no_loop)
    ]


def _first(broken: Q) -> list[Execution]:
    return list(Execution.objects.filter(broken).only("pk", "status", "loop_id").order_by("pk")[:100])
