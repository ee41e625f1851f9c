"""Makes one small git commit in the practice agent's folder; touches no repository around it."""

import subprocess
from pathlib import Path

LOG = Path("practice-log.md")
_SETTINGS = ("user.name=Practice", "user.email=practice@localhost", "commit.gpgsign=false")


class NotRecorded(Exception):
    """No commit was made; says why in a sentence."""


def record(turn_name: str, drawn: int) -> str:
    """Two lines more in the log and a commit of that file alone; returns what git said.

    Raises NotRecorded where the folder is no git work tree of its own (it may lie inside somebody else's).
    """
    top = _git("rev-parse", "--show-toplevel")
    if top.returncode != 0 or Path(top.stdout.strip()).resolve() != Path.cwd().resolve():
        raise NotRecorded("this folder is no git work tree of its own; `git init` makes it one.")
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"- {turn_name}\n  drew {drawn}\n")
    _git("add", "--", str(LOG))
    made = _git("commit", "--no-verify", "-m", f"Practice: {turn_name.lower()}", "--", str(LOG))
    if made.returncode != 0:
        raise NotRecorded(f"git said: {(made.stderr or made.stdout).strip()[:200]}")
    return made.stdout.strip()


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.run(
            ["git", *settings, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(arguments, 1, "", str(error))
