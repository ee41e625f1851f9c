"""What must always be true of a loop and its runs: each broken rule as a sentence; repairs nothing."""

from collections.abc import Iterator

from django.db.models import Count, F, Q

from agents.models import Agent
from executions.models import Execution
from executions.vocabulary import ENDED as ENDED_EXECUTIONS
from executions.vocabulary import ExecutionStatus
from loops.models import Loop
from loops.vocabulary import EventKind, LoopStatus, OnFailure


def check_loop(loop: Loop) -> list[str]:
    """The broken invariants of one loop, empty when it is sound."""
    executions = list(Execution.objects.filter(loop_id=loop.pk).exclude(loop_id=""))
    runs = {run.run_number: run.execution_id for run in loop.runs.all()}
    return [f"{loop.pk}: {sentence}" for sentence in _of_loop(loop, executions, runs)]


def _of_loop(loop: Loop, executions: list[Execution], runs: dict[int, str]) -> Iterator[str]:
    unended = [one for one in executions if not one.ended]
    closed = [one for one in executions if one.ended and one.pk in runs.values()]
    yield from _of_numbers(loop, runs, len(unended))
    yield from _of_money(loop, closed)
    yield from _of_rest(loop, unended)
    yield from _of_events(loop)
    for one in executions:
        if one.pk not in runs.values() and one.status != ExecutionStatus.CANCELLED:
            yield f"execution {one.pk} is {one.status} but belongs to no run"


def _of_numbers(loop: Loop, runs: dict[int, str], unended: int) -> Iterator[str]:
    if sorted(runs) != list(range(1, len(runs) + 1)):
        yield f"its runs are numbered {sorted(runs)}"
    if len(runs) != loop.runs_completed + unended:
        yield f"it has {len(runs)} runs, {loop.runs_completed} completed and {unended} not ended"
    if loop.failed_runs > loop.runs_completed:
        yield f"{loop.failed_runs} failed runs of {loop.runs_completed}"
    if loop.on_failure == OnFailure.ABORT and loop.failed_runs:
        yield f"it aborts on failure and yet tolerated {loop.failed_runs}"


def _of_money(loop: Loop, closed: list[Execution]) -> Iterator[str]:
    spent = sum(one.cost_nano or 0 for one in closed if one.error_kind != "lost")
    late = sum(one.cost_nano or 0 for one in closed if one.error_kind == "lost")
    if not spent <= loop.spent_nano <= spent + late:  # a late outcome's cost stays with its execution
        yield f"it spent {loop.spent_nano}, its runs {spent}"


def _of_rest(loop: Loop, unended: list[Execution]) -> Iterator[str]:
    if loop.ended and unended:
        yield f"it ended, and execution {unended[0].pk} is {unended[0].status}"
    if loop.ended and loop.status == LoopStatus.COMPLETED and loop.failed_runs:
        yield "it is completed, with failed runs"
    if not loop.ended and not unended and loop.next_run_at is None:
        yield "it is active, and nothing will ever move it: no run waits or works, and it is not parked"
    if loop.next_run_at is not None and unended:
        yield "it is parked, and a run waits or works"
    if loop.status == LoopStatus.QUEUED and loop.started_at is not None:
        yield "it is queued, and began"
    if loop.status == LoopStatus.RUNNING and loop.started_at is None:
        yield "it is running, and never began"


def _of_events(loop: Loop) -> Iterator[str]:
    events = list(loop.events.order_by("sequence").values_list("sequence", "kind"))
    if [sequence for sequence, _ in events] != list(range(1, loop.version + 1)):
        yield f"version {loop.version} does not fit its {len(events)} events"
    ends = [kind for _, kind in events].count(EventKind.LOOP_COMPLETED)
    if ends != int(loop.ended):
        yield f"it is {loop.status}, and ended {ends} times"
    completed = [kind for _, kind in events].count(EventKind.LOOP_RUN_COMPLETED)
    if completed != loop.runs_completed:
        yield f"{loop.runs_completed} runs completed, and {completed} events say so"


def check_agents() -> list[str]:
    """Agents with more in flight than they have slots. (A limit lowered while runs go on shows here too.)"""
    over = Agent.objects.annotate(
        in_flight=Count("executions", filter=Q(executions__status=ExecutionStatus.RUNNING))
    ).filter(in_flight__gt=F("max_parallel_tasks"))
    return [f"agent {one.name}: {one.in_flight} in flight, {one.max_parallel_tasks} slots" for one in over]


def check_executions() -> list[str]:
    """Ended executions without an end, and those in flight that nobody claims."""
    strange = Execution.objects.filter(
        Q(status__in=ENDED_EXECUTIONS, ended_at=None) | Q(status=ExecutionStatus.RUNNING, claim_token="")
    )
    return [f"execution {one.pk} is {one.status}, without an end or a claim" for one in strange[:100]]
