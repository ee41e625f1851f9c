"""Reads of agents, each with the permission of the one who asks; writes nothing."""

from django.db.models import Q, QuerySet

from accounts.viewers import Viewer
from agents.models import Agent, AgentPermission
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


def visible_agents(viewer: Viewer) -> QuerySet[Agent]:
    """The agents that the viewer may use (section 2): owned, shared or all for admins; an agent sees itself
    and those it may call; a client sees none."""
    living = Agent.objects.filter(archived_at=None)
    if viewer.user is not None:
        return _visible_to_person(living, viewer)
    permitted = AgentPermission.objects.filter(caller=viewer.agent_id).values("target")
    return living.filter(Q(pk=viewer.agent_id) | Q(pk__in=permitted))


def _visible_to_person(agents: QuerySet[Agent], viewer: Viewer) -> QuerySet[Agent]:
    user = viewer.user
    assert user is not None  # noqa: S101 — narrowed by the only caller
    if user.is_client or not user.is_active:
        return agents.none()
    if user.is_admin:
        return agents
    return agents.filter(Q(owner=user) | Q(pk__in=user.agent_shares.values("agent")))


def agent_for(viewer: Viewer, name: str) -> Agent:
    """The agent of this name; Refused (not found) alike when unknown and when not to be seen."""
    agent = visible_agents(viewer).filter(name=name).first()
    if agent is None:
        raise agent_not_found(name)
    return agent


def may_use(viewer: Viewer, agent_id: int) -> bool:
    """Whether the viewer has access to the agent, archived ones included."""
    if viewer.user is not None:
        if viewer.is_client or not viewer.user.is_active:
            return False
        return viewer.is_admin or (
            Agent.objects.filter(pk=agent_id)
            .filter(Q(owner=viewer.user) | Q(pk__in=viewer.user.agent_shares.values("agent")))
            .exists()
        )
    return (
        viewer.agent_id == agent_id or AgentPermission.objects.filter(caller=viewer.agent_id, target=agent_id).exists()
    )


def owns(viewer: Viewer, agent: Agent) -> bool:
    """Whether the viewer may change the agent and abandon its runs: its owner or an admin."""
    return viewer.user is not None and (viewer.is_admin or agent.owner_id == viewer.user.pk)


def agent_not_found(name: str) -> Refused:
    """One answer for an unknown agent and for one that may not be seen."""
    return Refused(f"There is no agent {name[:63]!r}.", code=RefusalCode.NOT_FOUND)
