"""Asks this host whether an agent's settings can be kept here, when they are set; changes no agent.

It may start programs, so it is never called within a transaction.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.isolation import probing
from agents.models import Agent
from agents.parameters import check_runtime
from agents.runtimes.base import AgentCall, NeedsMore
from agents.runtimes.isolation import isolation_of
from agents.runtimes.registry import runtime
from agents.runtimes.settings import Home
from trinity.kernel.errors import refused_field

_ASKED = ("runtime", "runtime_settings", "place", "workspace")
_FIELD = "runtime_settings.isolation"
# Any call will do: the program is asked for and not started.
_CALL = AgentCall(prompt="Who are you?", model="any")


def probe(columns: Mapping[str, Any]) -> None:
    """Refused with what is missing here, and its remedy.

    `columns` are those of the agent that is to be: `name`, `runtime`, its cleaned `runtime_settings`, `place`, and
    `workspace`. At another place it runs on hosts out of sight: nothing is asked then.
    """
    if columns["place"] != settings.TRINITY_PLACE:
        return
    kind = runtime(columns["runtime"])
    if isinstance(kind, NeedsMore):
        kind.probe(columns["runtime_settings"])
    _probe_isolation(columns)


def probe_changes(agent: Agent, columns: Mapping[str, Any]) -> None:
    """The same for an agent with other columns; nothing is asked when none of them decides how it runs."""
    if not columns.keys() & set(_ASKED):
        return
    wanted = {name: columns.get(name, getattr(agent, name)) for name in ("name", *_ASKED)}
    probe(wanted | check_runtime(wanted, runtime_now=agent.runtime, settings_now=agent.runtime_settings))


def _probe_isolation(columns: Mapping[str, Any]) -> None:
    chosen = columns["runtime_settings"]
    wanted = isolation_of(chosen)
    if not wanted.is_any:
        return
    kind = runtime(columns["runtime"])
    if kind.answers_in_worker:
        raise refused_field(_FIELD, "This runtime starts no process, so there is nothing to isolate.")
    if wanted.user and chosen["home"] == Home.OPERATOR:
        raise refused_field(
            "runtime_settings.home", "Another user has a home of its own; `operator` is that of Trinity's account."
        )
    folders = Path(settings.TRINITY_HOME) / "agents" / columns["name"]
    workspace = Path(columns.get("workspace") or folders / "workspace")
    if workspace.is_relative_to(folders):  # one of its own, which is made before its first run
        workspace.mkdir(parents=True, exist_ok=True)
    probing.probe(
        wanted,
        kind.command(_CALL, chosen),
        workspace=str(workspace),
        own_home=Path.home() if chosen["home"] == Home.OPERATOR else folders / "home",
    )
