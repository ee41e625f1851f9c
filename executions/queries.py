"""Reads of executions, with the permission of the one who asks; writes nothing."""

import datetime as dt

from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import may_use, visible_agents
from agents.vocabulary import AgentStatus
from executions.models import Execution
from executions.vocabulary import ExecutionStatus, WaitReason
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


def visible_executions(viewer: Viewer) -> QuerySet[Execution]:
    """Executions of the agents that the viewer may use; none for a client."""
    if viewer.is_admin:
        return Execution.objects.all()
    return Execution.objects.filter(agent__in=visible_agents(viewer).values("pk"))


def execution_for(viewer: Viewer, execution_id: str) -> Execution:
    """The execution; Refused (not found) alike when unknown and when not to be seen."""
    found = Execution.objects.filter(pk=execution_id).select_related("agent", "agent__owner", "started_by").first()
    if found is None or not may_use(viewer, found.agent_id):
        raise Refused(f"There is no execution {execution_id[:40]!r}.", code=RefusalCode.NOT_FOUND)
    return found


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


def wait_of(execution: Execution, now: dt.datetime) -> tuple[WaitReason, int] | None:
    """Why a queued execution has not begun, and its place in line (1 is next); None when it does not wait."""
    if not execution.waiting:
        return None
    if not execution.agent.running:
        return WaitReason.AGENT_STOPPED, 0
    if execution.waits_for_model and execution.not_before and execution.not_before > now:
        return WaitReason.MODEL, 0
    agent = Execution.objects.filter(agent=execution.agent_id)
    ahead = (
        agent.filter(status=ExecutionStatus.QUEUED)
        .filter(Q(not_before=None) | Q(not_before__lte=now))
        .filter(Q(queued_at__lt=execution.queued_at) | Q(queued_at=execution.queued_at, pk__lt=execution.pk))
        .count()
    )
    free = execution.agent.max_parallel_tasks - agent.filter(status=ExecutionStatus.RUNNING).count()
    return (WaitReason.SLOT if ahead >= free else WaitReason.WORKER), ahead + 1
