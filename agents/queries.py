"""Reads of agents, each with the permission of the one who asks; writes nothing but the refusals of agents."""

import datetime as dt

from django.db.models import Q, QuerySet

from accounts.services import audit
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.models import Agent, AgentPermission
from trinity.kernel import clock, fields, rows
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

ENDS_AFTER_ARCHIVAL = dt.timedelta(days=1)  # far more than the longest run takes


def usable_agents(viewer: Viewer) -> QuerySet[Agent]:
    """The agents that the viewer has access to, archived ones included: owned, shared, or all for admins; an agent
    has access to itself and to those it may call; a client has none."""
    if viewer.user is not None:
        return _usable_by_person(viewer)
    permitted = AgentPermission.objects.filter(caller=viewer.agent_id).values("target")
    return Agent.objects.filter(Q(pk=viewer.agent_id) | Q(pk__in=permitted))


def _usable_by_person(viewer: Viewer) -> QuerySet[Agent]:
    user = viewer.user
    assert user is not None  # noqa: S101 — narrowed by the only caller
    if _barred(viewer):
        return Agent.objects.none()
    if user.is_admin:
        return Agent.objects.all()
    return Agent.objects.filter(Q(owner=user) | Q(pk__in=user.agent_shares.values("agent")))


def _barred(viewer: Viewer) -> bool:
    """To a client no agent exists, nor to one whose account was closed."""
    return viewer.user is not None and (viewer.user.is_client or not viewer.user.is_active)


def visible_agents(viewer: Viewer) -> QuerySet[Agent]:
    """The living agents that the viewer may use (section 2)."""
    return usable_agents(viewer).filter(archived_at=None)


def heard_agents(viewer: Viewer) -> QuerySet[Agent]:
    """Those of which a reader of all loops hears: living ones, and what was in flight when one was archived."""
    lately = clock.now() - ENDS_AFTER_ARCHIVAL
    return usable_agents(viewer).filter(Q(archived_at=None) | Q(archived_at__gte=lately))


def heard_agent(viewer: Viewer, name: str) -> int:
    """The key of the agent that a socket tells of, archived ones included; Refused as `agent_for` refuses.

    Asked every few seconds for each socket: one column and no order cost a third of the whole row.
    """
    clean = fields.clip(name)
    found = usable_agents(viewer).filter(name=clean).order_by().values_list("pk", flat=True)[:1]
    for pk in found:
        return pk
    raise agent_not_found(clean)


def agent_for(viewer: Viewer, name: str, *, doing: AuditAction | None = None, archived: bool = False) -> Agent:
    """The agent of this name; Refused (not found) alike when unknown and when not to be seen.

    An agent that is refused one that exists leaves a line in the audit log, when `doing` says what it wanted.
    With `archived` also one that was put away: its history is read as before, and nothing can be done with it.
    """
    clean = fields.clip(name)
    known = usable_agents(viewer) if archived else visible_agents(viewer)
    agent = known.filter(name=clean).select_related("owner").first()
    if agent is None:
        if doing is not None and not viewer.is_person and Agent.objects.filter(name=clean).exists():
            audit(doing, f"agent:{clean}", by=viewer, refused=True)
        raise agent_not_found(clean)
    return agent


def agent_to_lock(viewer: Viewer, name: str, *, doing: AuditAction) -> Agent:
    """The same for a door that reads the row again under its lock: by statements built once, and without its owner."""
    agent = rows.find(Agent, "name", fields.clip(name))
    if agent is not None and agent.archived_at is None and owns(viewer, agent) and not _barred(viewer):
        return agent
    return agent_for(viewer, name, doing=doing)


def may_use(viewer: Viewer, agent_id: int) -> bool:
    """Whether the viewer has access to the agent, archived ones included."""
    if viewer.user is None and viewer.agent_id == agent_id:
        return True
    return usable_agents(viewer).filter(pk=agent_id).exists()


def owns(viewer: Viewer, agent: Agent) -> bool:
    """Whether the viewer may change the agent and abandon its runs: its owner or an admin."""
    return viewer.user is not None and (viewer.is_admin or agent.owner_id == viewer.user.pk)


def agent_not_found(name: str) -> Refused:
    """One answer for an unknown agent and for one that may not be seen."""
    return Refused(f"There is no agent {fields.clip(name, 63)!r}.", code=RefusalCode.NOT_FOUND)
