"""Agents as REST shows them: plain functions from rows to JSON; reads no row by itself."""

from typing import Any

from accounts.viewers import Viewer
from agents.models import Agent, AgentPermission, AgentShare
from agents.queries import owns
from trinity.kernel.clock import wire_time


def agent_body(agent: Agent, viewer: Viewer) -> dict[str, Any]:
    """An agent. How it is called, and where, stands in it for those only who may change it."""
    body = {
        "name": agent.name,
        "title": agent.title,
        "owner": agent.owner.username,
        "status": str(agent.status),
        "runtime": agent.runtime,
        "place": agent.place,
        "execution_timeout_seconds": agent.execution_timeout_seconds,
        "max_parallel_tasks": agent.max_parallel_tasks,
        "model": agent.model or None,
        "graders": agent.graders,
        "created_at": wire_time(agent.created_at),
        "archived_at": wire_time(agent.archived_at),
    }
    if owns(viewer, agent):
        body |= {"runtime_settings": agent.runtime_settings, "workspace": agent.workspace}
    return body


def share_body(share: AgentShare) -> dict[str, Any]:
    """Who may use an agent; the user must be loaded."""
    return {"user": share.user.username, "since": wire_time(share.created_at)}


def permission_body(permission: AgentPermission) -> dict[str, Any]:
    """Which agent may be called; the target must be loaded."""
    return {"agent": permission.target.name, "since": wire_time(permission.created_at)}
