"""What apps above do when an agent changes: they register here, as agents knows none of them; calls nothing itself."""

from collections.abc import Callable
from typing import Any

from accounts.viewers import Viewer
from agents.models import Agent
from trinity.kernel.registry import Registry

# Called in the transaction that archives an agent, under its lock: what belongs to it is asked to end.
archived: Registry[Callable[[Agent, Viewer], object]] = Registry("what ends with an agent")
# Called after the commit, when an agent may admit more than before: its workers are told.
admits_more: Registry[Callable[[Agent], None]] = Registry("who is told of free slots")
# Reads a list of graders; Refused by path when one is wrong.
graders: Registry[Callable[[object], list[dict[str, Any]]]] = Registry("who reads graders")
