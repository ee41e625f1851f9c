"""The setting `isolation` of every agent: what it may reach and use up; checks it, and asks no host."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.runtimes.values import WrongValue, a_list, a_text, a_whole_number, a_yes_or_no

MEMORY_MB = (16, 4 * 1024 * 1024)
PROCESSES = (1, 100_000)
MOST_PATHS = 50
MEBIBYTE = 1024 * 1024

_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}\$?")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A view of the file system of its own: everything read-only, homes and Trinity's files out of sight."""

    read: tuple[str, ...] = ()  # shown read-only though they lie in what is hidden
    write: tuple[str, ...] = ()  # may be written besides the workspace and the agent's home
    network: bool = True


@dataclass(frozen=True, slots=True)
class Isolation:
    """What holds an agent; by default nothing does."""

    user: str = ""
    bwrap: Bubblewrap | None = None
    memory_bytes: int = 0  # of all its processes together; 0: no limit
    processes: int = 0  # at once; 0: no limit

    @property
    def is_any(self) -> bool:
        return self != Isolation()


def isolation_of(settings: Mapping[str, Any]) -> Isolation:
    """The isolation that an agent's cleaned settings ask for."""
    chosen = settings.get("isolation") or {}
    wrapped = chosen.get("bwrap")
    return Isolation(
        user=chosen.get("user", ""),
        bwrap=None
        if wrapped is None
        else Bubblewrap(tuple(wrapped["read"]), tuple(wrapped["write"]), wrapped["network"]),
        memory_bytes=chosen.get("memory_mb", 0) * MEBIBYTE,
        processes=chosen.get("processes", 0),
    )


def isolation(value: Any) -> dict[str, Any] | None:
    """The setting as it is kept: only what is asked for stands in it; None for nothing."""
    kept = _mapping(value, _CHECKS)
    return {name: part for name, part in kept.items() if part is not None} or None


def _mapping(value: Any, checks: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValue(f"Must be an object with some of: {', '.join(checks)}.")
    kept = {}
    for name, part in value.items():
        if name not in checks:
            raise WrongValue(f"There is no {str(name)[:100]!r} here. Known: {', '.join(checks)}.")
        if part is None:
            continue
        try:
            kept[name] = checks[name](part)
        except WrongValue as wrong:
            raise WrongValue(str(wrong), f".{name}{wrong.path}") from None
    return kept


def _user(value: Any) -> str:
    if not isinstance(value, str) or not _USER.fullmatch(value):
        raise WrongValue("Must be the name of an account of the agent's host, such as trinity-agent.")
    if value == "root":
        raise WrongValue("root may do anything; name an account of less power.")
    return value


def _path(value: Any) -> str:
    path = a_text(value, most=4_096)
    if not os.path.isabs(path) or os.path.normpath(path) != path or path == "/":
        raise WrongValue("Must be an absolute path, not / itself, without a slash at its end and without ..")
    return path


def _paths(value: Any) -> list[str]:
    return a_list(value, _path, least=0, most=MOST_PATHS)


def _bwrap(value: Any) -> dict[str, Any] | None:
    if isinstance(value, bool):
        value = {} if value else None
    if value is None:
        return None
    return {"read": [], "write": [], "network": True} | _mapping(
        value, {"read": _paths, "write": _paths, "network": a_yes_or_no}
    )


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "user": _user,
    "bwrap": _bwrap,
    "memory_mb": a_whole_number(*MEMORY_MB),
    "processes": a_whole_number(*PROCESSES),
}
