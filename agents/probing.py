"""Asks this host whether an agent's settings can be kept here, when they are set; changes nothing.

It may start programs, so it is never called within a transaction.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from agents.models import Agent
from agents.parameters import check_runtime
from agents.runtimes.base import NeedsMore
from agents.runtimes.registry import runtime

_ASKED = ("runtime", "runtime_settings", "place", "workspace")


def probe(columns: Mapping[str, Any]) -> None:
    """Refused with what is missing here, and its remedy.

    `columns` are those of the agent that is to be: `runtime`, its cleaned `runtime_settings`, `place`, and the
    `workspace` when it is none of its own. At another place it runs on hosts out of sight: nothing is asked then.
    """
    if columns["place"] != settings.TRINITY_PLACE:
        return
    kind = runtime(columns["runtime"])
    if isinstance(kind, NeedsMore):
        kind.probe(columns["runtime_settings"])


def probe_changes(agent: Agent, columns: Mapping[str, Any]) -> None:
    """The same for an agent with other columns; nothing is asked when none of them decides how it runs."""
    if not columns.keys() & set(_ASKED):
        return
    wanted = {name: columns.get(name, getattr(agent, name)) for name in _ASKED}
    probe(wanted | check_runtime(wanted, runtime_now=agent.runtime, settings_now=agent.runtime_settings))
