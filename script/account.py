"""Whom throwaway servers run as, and how a command is run as them; knows nothing about any server."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packages import Unavailable

COMMAND_SECONDS = 60.0


@dataclass(frozen=True)
class Account:
    """The one who calls; or, for root, an account without rights, since PostgreSQL refuses to run as root."""

    name: str
    user: int
    group: int
    borrowed: bool

    @classmethod
    def for_servers(cls) -> "Account":
        """Raises Unavailable when root finds no account to lend."""
        if os.geteuid() != 0:
            return cls("you", os.geteuid(), os.getegid(), borrowed=False)
        for name in ("postgres", "nobody"):
            try:
                found = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(name, found.pw_uid, found.pw_gid, borrowed=True)
        raise Unavailable("PostgreSQL does not run as root, and no account `postgres` or `nobody` is here")

    def own(self, path: Path) -> None:
        """Hand a file or folder to this account."""
        if self.borrowed:
            os.chown(path, self.user, self.group)

    def run(self, command: Sequence[str | Path], folder: Path, written: str = "") -> None:
        """Run a command in a folder to its end, with `written` on its standard input.

        Raises Unavailable with the last lines of what it said when it fails.
        """
        program = Path(command[0]).name
        try:
            finished = subprocess.run(
                command,
                input=written,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                # The caller's language may not exist here, and its PG* variables name other servers.
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": str(folder)},
                check=False,
                encoding="utf-8",
                errors="replace",
                timeout=COMMAND_SECONDS,
                user=self.user if self.borrowed else None,
                group=self.group if self.borrowed else None,
                extra_groups=[] if self.borrowed else None,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{program} could not run in {folder} as {self.name}: {error}") from error
        if finished.returncode != 0:
            said = "\n".join(finished.stdout.strip().splitlines()[-15:])
            raise Unavailable(f"{program} ended with exit code {finished.returncode}:\n{said}")
