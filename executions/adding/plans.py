"""What was asked for an agent on an existing folder, checked against this machine; makes nothing yet.

Everything that can be known beforehand is Refused here, each with its remedy, since an agent's name is gone for good.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.models import Agent
from agents.runtimes.claude_code import PermissionMode
from agents.runtimes.codex import Sandbox
from agents.runtimes.registry import RuntimeName
from agents.runtimes.settings import FIELD as SETTINGS
from agents.runtimes.settings import Home
from executions.adding.folders import Folder, look_at_folder, name_from, others_in
from executions.adding.machine import KNOWN, Found, find_program, look_for
from trinity.kernel.errors import Refused, refused_field

# The words of `script/agent` and of the page.
RUNTIME_OF = {"claude": RuntimeName.CLAUDE_CODE, "codex": RuntimeName.CODEX, "command": RuntimeName.COMMAND}
PERMISSION_MODE = PermissionMode.ACCEPT_EDITS  # the one that does something useful and still asks for the rest
SANDBOX = Sandbox.WORKSPACE_WRITE
_FREE = {
    PermissionMode.BYPASS: "may do everything without being asked",
    PermissionMode.ACCEPT_EDITS: "may edit files in its folder; any other tool is refused unless it is approved",
    PermissionMode.PLAN: "may only read and plan",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody typed; blank means: as usual."""

    kind: str
    folder: str
    name: str = ""
    title: str = ""
    model: str = ""
    program: str = ""
    permission_mode: str = ""
    approved_tools: tuple[str, ...] = ()
    sandbox: str = ""
    argv: tuple[str, ...] = ()
    output: str = ""
    prompt: str = ""
    env: tuple[str, ...] = ()
    mcp_servers: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: int | None = None
    without_login: bool = False  # made although nobody is logged in


@dataclass(frozen=True, slots=True)
class Plan:
    """An agent as it will be made, and what a person should know of it."""

    given: Mapping[str, Any]  # as `create_agent` takes it
    folder: Folder
    facts: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    found: Found | None = None  # None for a command: it is not known beforehand

    @property
    def existing(self) -> Agent | None:
        """The agent that is this one already: the same runtime on the same folder."""
        same = Agent.objects.filter(runtime=self.given["runtime"], workspace=self.given["workspace"], archived_at=None)
        argv = self.given["runtime_settings"].get("argv")
        listed = same.select_related("owner").order_by("pk")
        return next((one for one in listed if one.runtime_settings.get("argv") == argv), None)


def plan_for(asked: Asked, *, beside: Path | None = None, environ: Mapping[str, str] | None = None) -> Plan:
    """Look at everything that was named. Refused, field by field, for what is missing or not ours."""
    around = os.environ if environ is None else environ
    folder = look_at_folder(asked.folder, beside=beside)
    runtime = RUNTIME_OF[asked.kind]
    found = look_for(KNOWN[runtime], around, program=asked.program) if runtime in KNOWN else None
    if found is not None:
        _refuse_missing(found, asked)
        settings = _settings_of_known(found, asked)
    else:
        settings = _settings_of_command(asked, around, folder)
    _refuse_unset(asked.env, around)
    given = {
        "name": asked.name or name_from(folder.path),
        "title": asked.title,
        "runtime": str(runtime),
        "runtime_settings": settings | {"home": str(Home.OPERATOR), "env": settings["env"]},
        "workspace": str(folder.path),
        "max_parallel_tasks": 1,
        "model": asked.model,
    }
    if asked.timeout_seconds is not None:
        given["execution_timeout_seconds"] = asked.timeout_seconds
    return Plan(given, folder, tuple(_facts(given, folder, found)), tuple(_remarks(given, folder, found)), found)


def _refuse_missing(found: Found, asked: Asked) -> None:
    nobody_logged_in = found.login is not None and not found.login.usable
    if found.missing and not (nobody_logged_in and asked.without_login):
        raise refused_field("kind" if not asked.program else "program", found.missing)
    mode = asked.permission_mode or PERMISSION_MODE
    if found.known.runtime == RuntimeName.CLAUDE_CODE and mode == PermissionMode.BYPASS and _as_bare_root():
        raise refused_field(
            "permission_mode",
            "Claude Code refuses bypassPermissions to root. Run Trinity as an account without rights,"
            " or choose acceptEdits and approve the tools that it needs.",
        )


def _as_bare_root() -> bool:
    return os.geteuid() == 0


def _settings_of_known(found: Found, asked: Asked) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "program": found.path,
        "env": list(dict.fromkeys((*found.variables, *asked.env))),
        "mcp_servers": dict(asked.mcp_servers),
    }
    if found.known.runtime == RuntimeName.CODEX:
        return settings | {"sandbox": asked.sandbox or str(SANDBOX)}
    return settings | {
        "permission_mode": asked.permission_mode or str(PERMISSION_MODE),
        "approved_tools": list(asked.approved_tools),
    }


def _settings_of_command(asked: Asked, environ: Mapping[str, str], folder: Folder) -> dict[str, Any]:
    if not asked.argv:
        raise refused_field("argv", "Must name a program and its arguments.")
    program = asked.argv[0]
    # A name with a slash is meant from the agent's folder, since that is where it is started.
    found = find_program(str(folder.path / program) if "/" in program else program, environ)
    if found is None:
        raise refused_field("argv", f"There is no program {program}. Give its path, or install it.")
    chosen = {"output": asked.output, "prompt": asked.prompt}
    return {
        "argv": [found, *asked.argv[1:]],
        "env": list(asked.env),
        **{name: value for name, value in chosen.items() if value},
    }


def _refuse_unset(names: tuple[str, ...], environ: Mapping[str, str]) -> None:
    if unset := [name for name in names if name not in environ]:
        raise refused_field("env", f"{', '.join(unset)}: not set here. Set it first, for the server too.")


def as_typed(refusal: Refused) -> Refused:
    """A refusal of an agent's field in the words of who typed it: its settings are fields of their own here."""
    errors: dict[str, list[str]] = {}
    for path, sentences in refusal.errors.items():
        name = path.removeprefix(f"{SETTINGS}.").split(".")[0]
        errors.setdefault({"workspace": "folder"}.get(name, name), []).extend(sentences)
    return Refused(refusal.detail, code=refusal.code, errors=errors, facts=refusal.facts)


def _facts(given: Mapping[str, Any], folder: Folder, found: Found | None) -> list[tuple[str, str]]:
    settings = given["runtime_settings"]
    facts = [("folder", str(folder.path)), ("git", folder.git)]
    if found is not None:
        facts += [("program", f"{found.path}, {found.version}"), ("login", found.login.words if found.login else "")]
    else:
        facts += [("program", " ".join(settings["argv"]))]
    if "permission_mode" in settings:
        mode = settings["permission_mode"]
        free = _FREE.get(mode, "")
        facts.append(("may do", f"{mode}: it {free}" if free else mode))
        facts += [("approved", ", ".join(settings["approved_tools"]))] if settings["approved_tools"] else []
    if "sandbox" in settings:
        facts.append(("sandbox", settings["sandbox"]))
    facts.append(("home", "operator: it has the logins, the git identity and the SSH keys of this account"))
    if settings["env"]:
        facts.append(("variables", ", ".join(settings["env"])))
    return facts


def _remarks(given: Mapping[str, Any], folder: Folder, found: Found | None) -> list[str]:
    remarks = list(folder.remarks)
    if others := [name for name in others_in(folder.path) if name != given["name"]]:
        remarks.append(f"{', '.join(others)} work{'s' * (len(others) == 1)} in this folder too; runs may meet there.")
    if given["runtime_settings"]["env"]:
        remarks.append(
            "The server passes these variables on by name: they must be set where it is started, or in .env."
        )
    if found is not None and _older(found.version, found.known.tried_with):
        remarks.append(f"Trinity was tried with {found.known.title} {found.known.tried_with} and later.")
    return remarks


def _older(version: str, than: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split("-")[0].split(".")[:3] if part.isdigit()]

    return numbers(version) < numbers(than)
