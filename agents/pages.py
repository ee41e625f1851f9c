"""What an agent's page shows of the agent itself, as plain values; reads no execution and writes nothing."""

import json
from dataclasses import dataclass

from accounts.viewers import Viewer
from agents.isolation.telling import Hold, holds_of
from agents.models import Agent, AgentPermission, AgentShare
from agents.queries import owns
from agents.runtimes.isolation import isolation_of
from agents.runtimes.registry import runtime
from agents.runtimes.settings import Home
from trinity.kernel.durations import limit_text
from trinity.kernel.vocabulary import Tone


@dataclass(frozen=True, slots=True)
class AgentHead:
    """Who the agent is and whether it works."""

    name: str
    title: str
    runtime: str
    status: str
    tone: Tone
    running: bool
    archived: bool
    changeable: bool  # by the reader, now
    slots_used: int
    slots: int


def head_of(viewer: Viewer, agent: Agent, slots_used: int) -> AgentHead:
    """The head of an agent that the viewer may see."""
    return AgentHead(
        name=agent.name,
        title=agent.title,
        runtime=agent.runtime,
        status="archived" if agent.archived_at else str(agent.status),
        tone=Tone.OK if agent.running else Tone.NEUTRAL,
        running=agent.running,
        archived=agent.archived_at is not None,
        changeable=owns(viewer, agent) and agent.archived_at is None,
        slots_used=slots_used,
        slots=agent.max_parallel_tasks,
    )


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How it is called, and who may use it."""

    facts: list[tuple[str, str]]
    runtime_settings: str  # JSON; blank to who may not change it
    graders: str
    shares: list[str]
    permissions: list[str]
    holds: list[Hold]  # what isolates it, and what does not


def settings_of(viewer: Viewer, agent: Agent) -> AgentSettings:
    """The Settings tab. How an agent is called, and where, is for those who may change it."""
    owned = owns(viewer, agent)
    facts = [
        ("Runtime", agent.runtime),
        ("Default model", agent.model or "the runtime's own"),
        ("Execution timeout", limit_text(agent.execution_timeout_seconds)),
        ("Slots", str(agent.max_parallel_tasks)),
        ("Place", agent.place),
        ("Owner", agent.owner.display_name),
    ]
    if owned:
        facts.insert(1, ("Workspace", agent.workspace))
    graders = "" if agent.graders is None else json.dumps(agent.graders, indent=2, ensure_ascii=False)
    return AgentSettings(
        facts=facts,
        runtime_settings=json.dumps(agent.runtime_settings, indent=2, ensure_ascii=False) if owned else "",
        graders=graders,
        shares=list(
            AgentShare.objects.filter(agent=agent).order_by("user__username").values_list("user__username", flat=True)
        ),
        permissions=list(
            AgentPermission.objects.filter(caller=agent).order_by("target__name").values_list("target__name", flat=True)
        ),
        holds=holds_of(
            isolation_of(agent.runtime_settings),
            starts_a_process=not runtime(agent.runtime).answers_in_worker,
            names_folders=owned,
            operator_home=agent.runtime_settings.get("home") == Home.OPERATOR,
        ),
    )
