"""Settings that every runtime has."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class HomeKind(StrEnum):
    OWN = "own"
    OPERATOR = "operator"


@dataclass(frozen=True)
class AgentWide:
    home: HomeKind = HomeKind.OWN
    env: tuple[str, ...] = ()


def agent_wide(settings: Mapping[str, Any]) -> AgentWide:
    return AgentWide(HomeKind(settings.get("home", "own")), tuple(settings.get("env", ())))


def patience_seconds(runtime: str, settings: Mapping[str, Any]) -> int:
    return int(settings.get("unavailable_patience_seconds", 0))
