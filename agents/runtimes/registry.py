"""Finds a runtime by its name."""

from enum import StrEnum

from agents.runtimes.base import Runtime
from agents.runtimes.scripted import Scripted


class RuntimeName(StrEnum):
    SCRIPTED = "scripted"


_KNOWN: dict[str, Runtime] = {RuntimeName.SCRIPTED: Scripted()}


def runtime(name: str) -> Runtime:
    return _KNOWN[name]
