"""Looks at a folder that an agent is to work in: is it there, is it ours, what will git say; changes nothing in it."""

import os
import pwd
import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.models import NAME_PATTERN, Agent
from agents.parameters import NAME_CHARACTERS
from executions.adding.machine import ask, environment_for
from trinity.kernel.errors import refused_field
from trinity.kernel.text import first_line

FIELD = "folder"
_DUBIOUS = "dubious ownership"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that an agent may work in; `remarks` are for a person."""

    path: Path
    git: str  # what its git says, in a few words
    remarks: tuple[str, ...] = ()


def look_at_folder(typed: str, *, beside: Path | None = None) -> Folder:
    """The folder as this account sees it; a relative one is meant from `beside`. Refused with the remedy."""
    path = _existing(typed, beside)
    _refuse_unless_ours(path)
    in_git, git = _git_of(path)
    remarks = [*_spacious(path)]
    if not in_git:
        remarks.append(f"What each run commits can be shown once it is a git work tree: git init {path}")
    return Folder(path, git, tuple(remarks))


def name_from(path: Path) -> str:
    """A name for the agent of this folder that has not been used yet."""
    words = re.sub(r"[^a-z0-9]+", "-", path.name.lower()).strip("-")[: NAME_CHARACTERS - 4].strip("-")
    name = words if re.fullmatch(NAME_PATTERN, words) else "agent"
    taken = set(Agent.objects.filter(name__startswith=name).values_list("name", flat=True))
    return next(one for one in (name, *(f"{name}-{number}" for number in range(2, 1_000))) if one not in taken)


def others_in(path: Path) -> list[str]:
    """The living agents that work in this very folder."""
    found = Agent.objects.filter(workspace=str(path), archived_at=None, place=settings.TRINITY_PLACE)
    return list(found.order_by("name").values_list("name", flat=True))


def _existing(typed: str, beside: Path | None) -> Path:
    if not typed.strip() or "\0" in typed:
        raise refused_field(FIELD, "Must name a folder that exists, such as ~/my-repo.")
    try:
        path = (beside or Path.cwd()) / Path(typed).expanduser()
        is_folder, there = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a home that nobody has
        raise refused_field(FIELD, f"Must be a folder that exists: {error}.") from error
    if not there:
        raise refused_field(FIELD, f"There is no folder at {path}. Correct the path, or make it: mkdir -p {path}")
    if not is_folder:
        raise refused_field(FIELD, f"{path} is a file; name the folder that it lies in.")
    return path.resolve()


def _refuse_unless_ours(path: Path) -> None:
    who = account_name(os.geteuid())
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise refused_field(
            FIELD,
            f"{path} belongs to {account_name(path.stat().st_uid)}, and the account {who}, which runs Trinity, may not"
            f" write there. Give it the right, or run Trinity as the folder's owner.",
        )
    home = Path(settings.TRINITY_HOME).resolve()
    if path == home or (path.is_relative_to(home) and not path.is_relative_to(home / "agents")):
        raise refused_field(FIELD, f"{path} is where Trinity keeps its own data; choose a folder outside of {home}.")


def _git_of(path: Path) -> tuple[bool, str]:
    """Whether git works here, and on which branch. Refused where git itself would refuse: commits would be lost."""
    said = ask(["git", "rev-parse", "--abbrev-ref", "HEAD", "--"], _git_environment(), folder=str(path))
    if said.code == 0:
        return True, f"a git work tree, on {first_line(said.text)}"
    if _DUBIOUS in said.text:
        raise refused_field(
            FIELD,
            f"{path} belongs to {account_name(path.stat().st_uid)}, so git refuses to work there for"
            f" {account_name(os.geteuid())}. Run: git config --global --add safe.directory {path}",
        )
    if said.code is None:
        return False, "unknown: git is not on this machine"
    inside = ask(["git", "rev-parse", "--is-inside-work-tree"], _git_environment(), folder=str(path))
    if inside.code == 0:
        return True, "a git work tree without a commit"
    return False, "no git work tree"


def _git_environment() -> dict[str, str]:
    return environment_for((), os.environ) | {"LC_ALL": "C"}


def _spacious(path: Path) -> list[str]:
    if path in (Path("/"), Path.home().resolve()):
        return [f"{path} holds far more than one task: whatever lies in it, the agent may change."]
    return []


def account_name(user: int) -> str:
    """An account's name, or its number where it has none here."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
