"""Reads of loops, with the permission of the one who asks; writes nothing but the refusals of agents."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, QuerySet
from django.db.models.functions import Left

from accounts.services import audit, forbidden
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.queries import agent_for, may_use, usable_agents
from executions.models import Execution
from executions.queries import PREVIEW_CHARACTERS
from loops.models import Loop, Run
from loops.vocabulary import LoopStatus
from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

_PEOPLE = ("agent", "started_by", "source_agent", "stop_requested_by", "stop_requested_by_agent")


def visible_loops(viewer: Viewer) -> QuerySet[Loop]:
    """Loops of the agents that the viewer has access to, newest first, without their last responses."""
    loops = loops_with_people()
    return loops if viewer.is_admin else loops.filter(agent__in=usable_agents(viewer).values("pk"))


def loops_with_people() -> QuerySet[Loop]:
    """All loops, newest first, with agents and people and without last responses; who may see which is for the
    caller to say."""
    return Loop.objects.select_related(*_PEOPLE).defer("last_response").order_by("-created_at", "-id")


@dataclass(frozen=True, slots=True)
class LoopFilter:
    """Which loops to list; None does not restrict."""

    agent: str | None = None
    status: LoopStatus | None = None


def listed_loops(viewer: Viewer, wanted: LoopFilter) -> QuerySet[Loop]:
    """Visible loops, newest first. Refused (not found) when the agent is unknown or not to be seen."""
    found = visible_loops(viewer)
    if wanted.agent is not None:
        found = found.filter(agent=agent_for(viewer, wanted.agent))
    return found if wanted.status is None else found.filter(status=wanted.status)


def loop_for(viewer: Viewer, loop_id: str, *, doing: AuditAction = AuditAction.LOOP_READ) -> Loop:
    """The one door to a loop by its id, for pages, REST, sockets and MCP alike (section 2).

    Refused (not found) when it is unknown, and to clients, for whom there are no loops. Refused (forbidden) to who
    neither started it nor has access to its agent; having started it counts for people, not for an agent that has
    lost its permission. A refused agent leaves a line in the audit log. The sentence never names the loop's agent.
    """
    clean = fields.clip(loop_id, 40)
    loop = Loop.objects.select_related(*_PEOPLE).filter(pk=clean).first()
    if loop is None or viewer.is_client:
        raise Refused(f"There is no loop {clean!r}.", code=RefusalCode.NOT_FOUND)
    if not _may_see(viewer, loop):
        if not viewer.is_person:
            audit(doing, f"loop:{loop.pk}", by=viewer, refused=True)
        raise forbidden(f"The loop {loop.pk} is not accessible to you.")
    return loop


def _may_see(viewer: Viewer, loop: Loop) -> bool:
    if viewer.user is not None and viewer.user.is_active and loop.started_by_id == viewer.user.pk:
        return True
    return may_use(viewer, loop.agent_id)


def runs_of(loop: Loop) -> list[Run]:
    """The loop's runs, first to last, each with its execution and the beginning of its reply as `preview`."""
    return list(
        Run.objects.filter(loop=loop)
        .select_related("execution")
        .defer("execution__prompt", "execution__response")
        .prefetch_related("execution__verdicts")
        .annotate(preview=Left("execution__response", PREVIEW_CHARACTERS))
        .order_by("run_number")
    )


def unended_executions(loops: Iterable[Loop]) -> dict[str, Execution]:
    """The execution of each active loop's run that waits or is in flight, by loop id; one query for all.

    It is the run after the last completed one: found by its number, since by the executions' status or loop SQLite
    would read all that there are.
    """
    active = {loop.pk: loop for loop in loops if not loop.ended}
    if not active:
        return {}
    runs = (
        Run.objects.filter(loop__in=list(active), run_number=F("loop__runs_completed") + 1)
        .select_related("execution")
        .defer("execution__prompt", "execution__response")
    )
    found = {run.loop_id: run.execution for run in runs if not run.execution.ended}
    for loop_id, execution in found.items():
        execution.agent = active[loop_id].agent  # loaded already; slots and waits need it
    return found
