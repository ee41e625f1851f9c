"""Why queued executions have not begun, and their places in line; moves nothing."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from executions.models import Execution
from executions.vocabulary import ExecutionStatus, WaitReason


@dataclass(frozen=True, slots=True)
class Wait:
    """What a queued execution waits for."""

    reason: WaitReason
    place_in_line: int | None = None  # 1 is next; None where nobody stands in line
    until: dt.datetime | None = None  # when the model is asked again
    why: str = ""  # the error kind with which the model is away
    since: dt.datetime | None = None  # when it was first found away
    asked: int = 0  # how often so far

    @property
    def words(self) -> str:
        """For people: "waiting for a slot, 2nd in line"."""
        match self.reason:
            case WaitReason.AGENT_STOPPED:
                return "the agent is stopped"
            case WaitReason.MODEL:
                until = f" until {self.until:%H:%M} UTC" if self.until else ""
                return f"waiting for the model{until}"
            case WaitReason.SLOT:
                return f"waiting for a slot, {_ordinal(self.place_in_line or 1)} in line"
            case WaitReason.WORKER:
                return "waiting for a worker"


def waits_of(executions: Iterable[Execution], now: dt.datetime) -> dict[str, Wait]:
    """Why each queued one of these waits, by id; their agents must be loaded. One query, however many there are."""
    queued = {one.pk: one for one in executions if one.waiting}
    in_line = {pk: one for pk, one in queued.items() if _not_in_line(one, now) is None}
    places = {pk: (ahead, taken) for pk, ahead, taken in _places(list(in_line), now)} if in_line else {}
    return {pk: _not_in_line(one, now) or _in_line(one, *places.get(pk, (0, 0))) for pk, one in queued.items()}


def wait_of(execution: Execution, now: dt.datetime) -> Wait | None:
    """Why this one has not begun; None when it does not wait."""
    return waits_of([execution], now).get(execution.pk)


def _not_in_line(execution: Execution, now: dt.datetime) -> Wait | None:
    if not execution.agent.running:
        return Wait(WaitReason.AGENT_STOPPED)
    if execution.waits_for_model and execution.not_before and execution.not_before > now:
        return Wait(
            WaitReason.MODEL,
            until=execution.not_before,
            why=execution.waits_for_model,
            since=execution.away_since,
            asked=execution.attempt - 1,
        )
    return None


def _in_line(execution: Execution, ahead: int, slots_taken: int) -> Wait:
    free = execution.agent.max_parallel_tasks - slots_taken
    return Wait(WaitReason.SLOT if ahead >= free else WaitReason.WORKER, place_in_line=ahead + 1)


def _places(ids: list[str], now: dt.datetime) -> Iterable[tuple[str, int, int]]:
    """Id, how many stand before it, and how many slots of its agent are taken."""
    same_agent = Execution.objects.filter(agent=OuterRef("agent"))
    before = Q(queued_at__lt=OuterRef("queued_at")) | Q(queued_at=OuterRef("queued_at"), pk__lt=OuterRef("pk"))
    due = Q(not_before=None) | Q(not_before__lte=now)
    ahead = same_agent.filter(before, due, status=ExecutionStatus.QUEUED)
    taken = same_agent.filter(status=ExecutionStatus.RUNNING)
    return (
        Execution.objects.filter(pk__in=ids)
        .annotate(ahead=_count(ahead), slots_taken=_count(taken))
        .values_list("pk", "ahead", "slots_taken")
    )


def _count(executions: QuerySet[Execution]) -> Coalesce:
    counted = executions.order_by().values(of=F("agent")).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
