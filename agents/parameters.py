"""The fields of an agent as a caller gave them: types, bounds, who may set them; writes no row and makes no folder."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from agents import hooks
from agents.models import EXECUTION_TIMEOUT_SECONDS, MAX_PARALLEL_TASKS, NAME_PATTERN
from agents.runtimes.registry import RuntimeName, runtime
from trinity.kernel import fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode

NAME_CHARACTERS = 63
TITLE_CHARACTERS = 200
MODEL_CHARACTERS = 200
WORKSPACE_CHARACTERS = 4096
PLACE_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
DEFAULT_TIMEOUT_SECONDS = 900
DEFAULT_PARALLEL_TASKS = 3
PARALLEL_TASKS_IN_A_GIVEN_FOLDER = 1  # it existed before: two agents' runs at once may spoil each other's work
_NAME = re.compile(rf"{NAME_PATTERN}\Z")
_PLACE = re.compile(rf"{PLACE_PATTERN}\Z")


def _name(value: object) -> str:
    name = fields.text(value, 1, NAME_CHARACTERS)
    if not _NAME.match(name):
        raise fields.Wrong("Must have lower-case letters, digits and hyphens only, and no hyphen at its ends.")
    return name


def _place(value: object) -> str:
    name = fields.text(value, 1, 63)
    if not _PLACE.match(name):
        raise fields.Wrong("Must have letters, digits, dots, hyphens and underscores only.")
    return name


def _absolute_path(value: object) -> str:
    path = fields.text(value, 1, WORKSPACE_CHARACTERS)
    if not Path(path).is_absolute():
        raise fields.Wrong(f"Must be an absolute path; {fields.found(path)} was given.")
    return path


# What an owner may set, and what only an admin may: whoever sets the latter runs code on the server (section 1).
_BY_OWNER: dict[str, fields.Read] = {
    "title": lambda value: fields.text(value, 0, TITLE_CHARACTERS),
    "execution_timeout_seconds": lambda value: fields.integer(value, *EXECUTION_TIMEOUT_SECONDS),
    "max_parallel_tasks": lambda value: fields.integer(value, *MAX_PARALLEL_TASKS),
    "model": lambda value: fields.text(value, 0, MODEL_CHARACTERS),
    "graders": fields.listing,
}
_BY_ADMIN: dict[str, fields.Read] = {
    "runtime": lambda value: fields.word(value, RuntimeName),
    "runtime_settings": fields.mapping,
    "workspace": _absolute_path,
    "place": _place,
}


def read_new_agent(given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a new agent, without those it gets by itself. Refused with every wrong field at once."""
    known = {"name": _name, **_BY_OWNER, **_BY_ADMIN}
    values = fields.read(given, known, required=("name", "runtime"))
    values.setdefault("place", settings.TRINITY_PLACE)
    values["runtime_settings"] = clean_settings(values["runtime"], values.get("runtime_settings", {}))
    if "workspace" in values:
        _refuse_missing_folder(values["workspace"], values["place"])
        values.setdefault("max_parallel_tasks", PARALLEL_TASKS_IN_A_GIVEN_FOLDER)
    return values | _clean_graders(values)


def read_changes(given: Mapping[str, Any], *, by_admin: bool) -> dict[str, Any]:
    """The columns to change; null means the default again. Refused (403) when an owner sets what only admins may."""
    if isinstance(given, Mapping) and "name" in given:
        raise refused_field("name", "A name never changes, and is never used again.")
    if isinstance(given, Mapping) and not by_admin and (kept := [name for name in _BY_ADMIN if name in given]):
        errors = {name: ["Only an admin may set this: it decides what code runs on the server."] for name in kept}
        raise Refused(f"{kept[0]}: {errors[kept[0]][0]}", code=RefusalCode.FORBIDDEN, errors=errors)
    values = fields.read(given, _BY_OWNER | _BY_ADMIN)
    values |= {name: _default_of(name) for name, value in given.items() if value is None}
    return values | _clean_graders(values)


def read_user_to_share_with(given: Mapping[str, Any]) -> str:
    """The username of a new share."""
    username: str = fields.read(given, {"user": lambda value: fields.text(value, 1, 150)}, required=("user",))["user"]
    return username


def read_agent_to_call(given: Mapping[str, Any]) -> str:
    """The name of the agent of a new permission."""
    known = {"agent": lambda value: fields.text(value, 1, NAME_CHARACTERS)}
    name: str = fields.read(given, known, required=("agent",))["agent"]
    return name


def check_runtime(values: dict[str, Any], *, runtime_now: str, settings_now: Mapping[str, Any]) -> dict[str, Any]:
    """The settings cleaned by the runtime they are for, when either of the two changes."""
    if not values.keys() & {"runtime", "runtime_settings"}:
        return {}
    name = values.get("runtime", runtime_now)
    return {"runtime_settings": clean_settings(name, values.get("runtime_settings", settings_now))}


def check_workspace(values: dict[str, Any], *, place_now: str) -> None:
    """Refused when the folder is not there, as far as this host can tell."""
    if values.get("workspace"):
        _refuse_missing_folder(values["workspace"], values.get("place", place_now))


def clean_settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The runtime's settings with its defaults; Refused at `runtime_settings.<key>`."""
    return runtime(name).clean_settings(given)


def _refuse_missing_folder(path: str, place: str) -> None:
    """A folder at another place lies on a host that this one cannot see."""
    if place == settings.TRINITY_PLACE and not Path(path).is_dir():
        raise refused_field("workspace", f"Must be a folder that exists; there is none at {fields.clip(path)!r}.")


def _clean_graders(values: Mapping[str, Any]) -> dict[str, Any]:
    found = values.get("graders")
    if found is None:
        return {}
    for _, read in hooks.graders.entries():
        found = read(found)
    return {"graders": found}


def _default_of(name: str) -> Any:
    match name:
        case "execution_timeout_seconds":
            return DEFAULT_TIMEOUT_SECONDS
        case "max_parallel_tasks":
            return DEFAULT_PARALLEL_TASKS
        case "runtime_settings":
            return {}
        case "place":
            return settings.TRINITY_PLACE
        case "graders":
            return None
        case "runtime":
            raise refused_field("runtime", "This field has no default.")
        case _:  # texts, and the workspace, of which blank is the agent's own
            return ""
