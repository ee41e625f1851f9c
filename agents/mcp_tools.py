"""MCP door of agents: which of them one may use; thin, as REST's is."""

from typing import Any

from accounts.viewers import Viewer
from agents.presenting import agent_body
from agents.queries import visible_agents
from trinity.kernel import fields
from trinity.mcp.tools import Given, ToolDoor, tools


def list_agents(viewer: Viewer, given: Given) -> dict[str, Any]:
    """The living agents that the viewer may use."""
    fields.read(given, {})
    found = visible_agents(viewer).select_related("owner").order_by("name")
    return {"agents": [agent_body(agent, viewer) for agent in found]}


def register() -> None:
    """Put the tools of agents on the list."""
    tools.add(
        "list_agents",
        ToolDoor("List agents", "The agents you may start loops on.", list_agents, read_only=True),
    )
