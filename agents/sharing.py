"""Writes of who may use an agent, and which agent may call which; only an owner or an admin may."""

from django.db import transaction

from accounts.models import User
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction, UserKind
from agents.models import Agent, AgentPermission, AgentShare
from agents.queries import visible_agents
from agents.record import record
from agents.services import refuse_unless_owner
from trinity.kernel import fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode


def share(viewer: Viewer, agent: Agent, username: str) -> tuple[AgentShare, bool]:
    """Let a member use the agent; the share, and whether it is new. Refused for clients, who may only chat."""
    refuse_unless_owner(viewer, agent)
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise refused_field("user", f"There is no user {fields.clip(username)!r}.")
    if user.is_client:
        raise refused_field("user", "A client may not use agents; invite them to a room instead.")
    if user.pk == agent.owner_id:
        raise refused_field("user", "They own this agent.")
    with transaction.atomic():
        found, made = AgentShare.objects.get_or_create(agent=agent, user=user)
        if made:
            record(AuditAction.SHARE_ADDED, agent, by=viewer, facts={"user": username})
    return found, made


def unshare(viewer: Viewer, agent: Agent, username: str) -> None:
    """End a share, and with it what that user's own agents were permitted by it. Refused when there is none."""
    refuse_unless_owner(viewer, agent)
    username = fields.clip(username)
    with transaction.atomic():
        gone, _ = AgentShare.objects.filter(agent=agent, user__username=username).delete()
        if not gone:
            raise Refused(f"{agent.name} is not shared with them.", code=RefusalCode.NOT_FOUND)
        theirs = AgentPermission.objects.filter(target=agent, caller__owner__username=username)
        for permission in theirs.exclude(caller__owner__kind=UserKind.ADMIN).select_related("caller", "target"):
            _end(viewer, permission)
        record(AuditAction.SHARE_REMOVED, agent, by=viewer, facts={"user": username})


def permit(viewer: Viewer, caller: Agent, name: str) -> tuple[AgentPermission, bool]:
    """Let the agent call another that the viewer may use; the permission, and whether it is new."""
    refuse_unless_owner(viewer, caller)
    target = visible_agents(viewer).filter(name=name).first()
    if target is None:
        raise refused_field("agent", f"There is no agent {fields.clip(name)!r}.")
    if target.pk == caller.pk:
        raise refused_field("agent", "An agent needs no permission to call itself.")
    with transaction.atomic():
        found, made = AgentPermission.objects.get_or_create(caller=caller, target=target)
        if made:
            record(AuditAction.PERMISSION_ADDED, caller, by=viewer, facts={"agent": target.name})
    return found, made


def forbid(viewer: Viewer, caller: Agent, name: str) -> None:
    """End a permission; from then on the caller can neither read nor stop what it started there."""
    refuse_unless_owner(viewer, caller)
    held = AgentPermission.objects.filter(caller=caller).select_related("caller", "target")
    found = held.filter(target__name=fields.clip(name)).first()
    if found is None:
        raise Refused(f"{caller.name} holds no permission for that agent.", code=RefusalCode.NOT_FOUND)
    with transaction.atomic():
        _end(viewer, found)


def _end(viewer: Viewer, permission: AgentPermission) -> None:
    permission.delete()
    facts = {"agent": permission.target.name}
    record(AuditAction.PERMISSION_REMOVED, permission.caller, by=viewer, facts=facts)
