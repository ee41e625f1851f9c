"""How a command is put into a sandbox of bubblewrap's; starts nothing.

The whole system is there, read-only. Homes, /run and Trinity's own files are out of sight, temporary folders are its
own and empty. What it may write is its workspace, its home and what the setting names.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.runtimes.base import CommandSpec
from agents.runtimes.isolation import Bubblewrap
from trinity.kernel.errors import refused_field

PROGRAM = "bwrap"
HIDDEN = ("/home", "/root", "/run", "/tmp", "/var/tmp", "/mnt", "/media", "/srv")  # noqa: S108 - hidden, not used
# Without it names of hosts would not be found where systemd resolves them; it holds no secret.
NEEDED_OF_HIDDEN = ("/run/systemd/resolve",)
NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def wrapped(
    command: CommandSpec, wanted: Bubblewrap | None, *, workspace: str, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """The argv to start. Refused when bubblewrap is not installed."""
    if wanted is None:
        return command.argv
    workspace = os.path.realpath(workspace)
    argv = [bubblewrap(), "--die-with-parent", *NAMESPACES, "--cap-drop", "ALL"]
    argv += [] if wanted.network else ["--unshare-net"]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    mounts = [
        *_hidden(),
        *_shown("--ro-bind", *_program_folders(command, environment), *command.reads, *wanted.read),
        *_shown("--bind", *wanted.write, environment["HOME"], workspace),
        *_hidden_of_our_own(),
    ]
    # What lies within comes after what it lies in, so the nearest rule above a path is the one that holds for it.
    for mount in sorted(mounts, key=lambda mount: len(Path(mount.path).parts)):
        argv += mount.words
    return (*argv, "--chdir", workspace, "--", *command.argv)


@dataclass(frozen=True, slots=True)
class Mount:
    """What is to be seen at a path."""

    path: str
    how: str
    source: str | None = None

    @property
    def words(self) -> list[str]:
        return [self.how, *([] if self.source is None else [self.source]), self.path]


def bubblewrap() -> str:
    """The program's path. Refused when it is not installed."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise refused_field(
            "runtime_settings.isolation.bwrap",
            "bubblewrap is not installed on this host. Install it, such as: sudo apt-get install bubblewrap",
        )
    return found


def _hidden() -> list[Mount]:
    folders = [path for path in dict.fromkeys((*HIDDEN, str(Path.home()))) if path != "/"]
    shown = [Mount(path, "--ro-bind-try", path) for path in NEEDED_OF_HIDDEN]
    return [Mount(path, "--tmpfs") for path in folders if os.path.isdir(path) and not os.path.islink(path)] + shown


def _shown(how: str, *paths: str) -> list[Mount]:
    """Each path as what it leads to, since nothing can be mounted on a link; and under its own name, where the link
    itself is hidden."""
    mounts = []
    for path in dict.fromkeys(paths):
        real = os.path.realpath(path)
        mounts += [Mount(name, how, real) for name in dict.fromkeys((real, path)) if name == real or _is_hidden(path)]
    return mounts


def _hidden_of_our_own() -> list[Mount]:
    secrets = Path(settings.BASE_DIR) / ".env"
    files = [Mount(str(secrets), "--ro-bind", "/dev/null")] if secrets.is_file() else []
    return [Mount(str(settings.TRINITY_HOME), "--tmpfs"), *files]


def _program_folders(command: CommandSpec, environment: Mapping[str, str]) -> list[str]:
    """Where the program lies, and where a link to it leads, when that was hidden; never a whole home."""
    found = shutil.which(command.argv[0], path=environment.get("PATH"))
    if found is None:
        return []
    found = os.path.abspath(found)
    paths = [path for path in dict.fromkeys((found, os.path.realpath(found))) if _is_hidden(path)]
    return [os.path.dirname(path) if _is_deep(os.path.dirname(path)) else path for path in paths]


def _is_hidden(path: str) -> bool:
    return any(path.startswith(f"{hidden}/") for hidden in (*HIDDEN, str(Path.home()), str(settings.TRINITY_HOME)))


def _is_deep(folder: str) -> bool:
    """Neither something that is hidden as a whole nor somebody's home."""
    return len(Path(folder).parts) > 3 and folder != str(Path.home())
