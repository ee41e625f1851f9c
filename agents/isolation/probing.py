"""Tries on this host whether an agent's isolation can be kept, when it is set; changes nothing.

Each refusal names what is missing and its remedy.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agents.isolation.accounts import (
    FIELD as USER_FIELD,
)
from agents.isolation.accounts import (
    HostAccount,
    account_of,
    refuse_unless_it_can_be_taken_on,
)
from agents.isolation.bubblewrap import wrapped
from agents.runtimes.base import CommandSpec
from agents.runtimes.isolation import Bubblewrap, Isolation
from trinity.kernel.errors import Refused, refused_field

BWRAP_FIELD = "runtime_settings.isolation.bwrap"
SECONDS = 15
SAID_CHARACTERS = 500
# Prints the first thing that does not hold; $1 is the workspace, $2 the home, $3 the program.
_LOOK = """
cd "$1" 2>/dev/null && test -r . -a -w . -a -x . || { echo workspace; exit 0; }
test -d "$2" -a -w "$2" -a -x "$2" || { echo home; exit 0; }
command -v "$3" >/dev/null 2>&1 || { echo program; exit 0; }
echo well
"""


def probe(wanted: Isolation, command: CommandSpec, *, workspace: str, own_home: Path) -> None:
    """Refused at the part of `isolation` that this host cannot keep."""
    account = None
    if wanted.user:
        account = account_of(wanted.user)
        refuse_unless_it_can_be_taken_on()
    home = account.home if account else str(own_home)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home}
    if account is not None:
        look = ("/bin/sh", "-c", _LOOK, "sh", workspace, home, command.argv[0])
        _refuse_for_user(_said(look, account, environment), account, workspace, command)
    if wanted.bwrap is not None:
        _try_sandbox(wanted.bwrap, command, account, workspace=workspace, environment=environment)


def _refuse_for_user(said: str, account: HostAccount, workspace: str, command: CommandSpec) -> None:
    match said.strip():
        case "well":
            return
        case "workspace":
            raise refused_field(
                "workspace",
                f"The user {account.name} may not enter, read and write {workspace}. Give the agent a folder of that"
                f" user's: sudo chown -R {account.name}: FOLDER, and let it enter the folders above (chmod o+x).",
            )
        case "home":
            raise refused_field(
                USER_FIELD,
                f"The user {account.name} has no home that it may write ({account.home}). Make one: sudo mkdir -p"
                f" {account.home} && sudo chown {account.name}: {account.home}",
            )
        case "program":
            raise refused_field(
                USER_FIELD,
                f"The user {account.name} may not run {command.argv[0]}. Install it where every user may, such as"
                " /usr/local/bin, or let the user enter the folders above it.",
            )
        case other:
            raise refused_field(USER_FIELD, f"Trying the user {account.name} failed: {other[-SAID_CHARACTERS:]}")


def _try_sandbox(
    wanted: Bubblewrap,
    command: CommandSpec,
    account: HostAccount | None,
    *,
    workspace: str,
    environment: dict[str, str],
) -> None:
    for name in ("read", "write"):
        for index, path in enumerate(getattr(wanted, name)):
            if not os.path.exists(path):
                raise refused_field(f"{BWRAP_FIELD}.{name}.{index}", f"There is no {path} on this host.")
    look = ("/bin/sh", "-c", _LOOK, "sh", workspace, environment["HOME"], command.argv[0])
    inside = CommandSpec(argv=look, reads=command.reads)
    Path(environment["HOME"]).mkdir(mode=0o700, parents=True, exist_ok=True)
    # The folders of the program itself, and not of the shell that looks for it.
    argv = wrapped(command, wanted, workspace=workspace, environment=environment)
    argv = (*argv[: len(argv) - len(command.argv)], *inside.argv)
    said = _said(argv, account, environment).strip()
    if said == "program":
        raise refused_field(
            f"{BWRAP_FIELD}.read",
            f"{command.argv[0]} is not to be seen in the sandbox, which hides homes and temporary folders. Name the"
            " folder that it is installed in here, or install it in /usr/local.",
        )
    if said != "well":
        raise _sandbox_refused(said)


def _sandbox_refused(said: str) -> Refused:
    hints = {
        "namespace": "This kernel denies user namespaces (in a container: its own sandbox does). Allow them: sysctl"
        " kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0.",
        "ermission denied": "This kernel or container denies what a sandbox needs.",
    }
    hint = next((text for word, text in hints.items() if word in said), "The sandbox could not be made.")
    return refused_field(BWRAP_FIELD, f"{hint} bubblewrap said: {said[-SAID_CHARACTERS:]}")


def _said(argv: Sequence[str], account: HostAccount | None, environment: dict[str, str]) -> str:
    """What a look prints, its errors included; a look that cannot be made is told as what it printed."""
    as_whom = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": account.groups}
    try:
        found = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd="/",
            timeout=SECONDS,
            check=False,
            **as_whom,  # type: ignore[call-overload]
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    text: str = found.stdout.decode("utf-8", "replace")
    return text or f"exit code {found.returncode}"
