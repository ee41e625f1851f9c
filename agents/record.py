"""What happened to an agent: its line in the audit log, and after the commit the live event that mirrors it.

Decides nothing and changes no agent. The event carries no setting and no name of a person: pages read again.
"""

import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction

from accounts.models import AuditEvent
from accounts.services import audit
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.models import Agent
from trinity.kernel import live
from trinity.kernel.clock import wire_time
from trinity.kernel.live import LiveEvent

PREFIX = "agent:"
# What pages show of an agent. Who may call whom is shown on the caller's Settings tab.
TOLD = (
    AuditAction.AGENT_CREATED,
    AuditAction.AGENT_CHANGED,
    AuditAction.AGENT_STARTED,
    AuditAction.AGENT_STOPPED,
    AuditAction.AGENT_ARCHIVED,
    AuditAction.SHARE_ADDED,
    AuditAction.SHARE_REMOVED,
    AuditAction.PERMISSION_ADDED,
    AuditAction.PERMISSION_REMOVED,
)
BATCH = 500


def record(
    action: AuditAction, agent: Agent, *, by: Viewer | None, facts: Mapping[str, object] | None = None
) -> AuditEvent:
    """Write the line in the open transaction; whoever may see the agent hears of it after the commit."""
    line = audit(action, target_of(agent), by=by, facts=facts)
    transaction.on_commit(partial(live.publish, [_event(line, agent)]))
    return line


def target_of(agent: Agent) -> str:
    """The agent as the audit log names it."""
    return f"{PREFIX}{agent.name}"


# --- for sockets, what other processes wrote ---------------------------------------------------------------


def newest_line_id() -> int:
    """Where a tail begins."""
    return AuditEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def lines_after(line_id: int) -> tuple[int, list[LiveEvent]]:
    """The events of agents after this line of the audit log, and the id of the last line that was read."""
    lines = list(AuditEvent.objects.filter(pk__gt=line_id).order_by("pk")[:BATCH])
    if not lines:
        return line_id, []
    told = [line for line in lines if line.action in TOLD and not line.refused and line.target.startswith(PREFIX)]
    names = {line.target.removeprefix(PREFIX) for line in told}
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=names)} if names else {}
    return lines[-1].pk, [
        _event(line, agents[name]) for line in told if (name := line.target.removeprefix(PREFIX)) in agents
    ]


def _event(line: AuditEvent, agent: Agent) -> LiveEvent:
    return {"agent_id": agent.pk, "body": _body(line.action, line.pk, agent, line.at)}


def _body(action: str, version: int, agent: Agent, at: dt.datetime) -> dict[str, Any]:
    return {
        "type": str(action),
        "agent_name": agent.name,
        "version": version,  # of the audit log: what was told at once is not told again by the tail
        "status": str(agent.status),
        "archived": agent.archived_at is not None,
        "timestamp": wire_time(at),
    }
