"""Reads of executions, with the permission of the one who asks; writes nothing."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import agent_for, may_use, usable_agents
from agents.vocabulary import AgentStatus
from executions.models import Execution, Verdict
from executions.vocabulary import ExecutionStatus, Trigger, VerdictFilter
from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

PREVIEW_CHARACTERS = 500
_SAYS = {
    VerdictFilter.PASSED: Q(passed=True),
    VerdictFilter.FAILED: Q(passed=False),
    VerdictFilter.ERROR: Q(error=True),
}


def visible_executions(viewer: Viewer) -> QuerySet[Execution]:
    """Executions of the agents that the viewer has access to, archived ones included; none for a client."""
    if viewer.is_admin:
        return Execution.objects.all()
    return Execution.objects.filter(agent__in=usable_agents(viewer).values("pk"))


def execution_for(viewer: Viewer, execution_id: str) -> Execution:
    """The execution; Refused (not found) alike when unknown and when not to be seen."""
    clean = fields.clip(execution_id, 40)
    related = ("agent", "agent__owner", "started_by", "source_agent")
    found = Execution.objects.filter(pk=clean).select_related(*related).first()
    if found is None or not may_use(viewer, found.agent_id):
        raise Refused(f"There is no execution {clean!r}.", code=RefusalCode.NOT_FOUND)
    return found


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which executions to list; None does not restrict."""

    agent: str | None = None
    trigger: Trigger | None = None
    status: ExecutionStatus | None = None
    loop_id: str | None = None
    verdict: VerdictFilter | None = None


def listed_executions(viewer: Viewer, wanted: ExecutionFilter) -> QuerySet[Execution]:
    """Visible executions, newest first, with the beginnings of their texts in place of the texts.

    Refused (not found) when the agent is unknown or not to be seen.
    """
    found = visible_executions(viewer)
    if wanted.agent is not None:
        found = found.filter(agent=agent_for(viewer, wanted.agent))
    for name in ("trigger", "status", "loop_id"):
        if (value := getattr(wanted, name)) is not None:
            found = found.filter(**{name: value})
    if wanted.verdict is not None:
        found = found.filter(Exists(Verdict.objects.filter(_SAYS[wanted.verdict], execution=OuterRef("pk"))))
    return (
        found.select_related("agent", "started_by", "source_agent")
        .defer("prompt", "response")
        .annotate(
            prompt_begins=Left("prompt", PREVIEW_CHARACTERS),
            response_begins=Left("response", PREVIEW_CHARACTERS),
        )
        .order_by("-queued_at", "-id")
    )


def agents_with_due_work(place: str, now: dt.datetime, limit: int) -> list[int]:
    """Agents of a place that have a due execution and a free slot, longest waiting first."""
    due = Execution.objects.filter(status=ExecutionStatus.QUEUED).filter(Q(not_before=None) | Q(not_before__lte=now))
    waiting = due.filter(agent__place=place, agent__status=AgentStatus.RUNNING, agent__archived_at=None)
    free = (
        Agent.objects.filter(pk__in=waiting.values("agent"))
        .annotate(in_flight=in_flight_count(), first=Subquery(oldest_of(due)))
        .filter(in_flight__lt=F("max_parallel_tasks"))
    )
    return list(free.order_by("first").values_list("pk", flat=True)[:limit])


def in_flight_count() -> Coalesce:
    """How many executions of an agent are in flight, for annotating agents."""
    counted = (
        Execution.objects.filter(agent=OuterRef("pk"), status=ExecutionStatus.RUNNING)
        .order_by()
        .values("agent")
        .annotate(count=Count("pk"))
        .values("count")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def oldest_of(executions: QuerySet[Execution]) -> QuerySet[Execution, object]:
    """When the agent's oldest of these was queued, for a subquery over agents."""
    return executions.filter(agent=OuterRef("pk")).order_by("queued_at", "id").values("queued_at")[:1]
