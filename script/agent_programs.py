"""Brings the real command-line agents for the tests that call them; signs in nowhere and calls no model.

They are installed into a cache folder of the user's, never into the project or the system, in versions that are pinned
here: what a test saw yesterday it sees tomorrow.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from packages import Product, Unavailable, install

NPM_PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0")
PIP_PACKAGES = ("claude-agent-sdk==0.2.189",)  # carries another, newer Claude program
# Where the two put their programs; the tests look for them there.
PROGRAMS = ("node_modules/.bin/claude", "node_modules/.bin/codex", "claude_agent_sdk/_bundled/claude")
INSTALL_SECONDS = 600
ANSWER_SECONDS = 60
VARIABLE = "TRINITY_TEST_AGENTS"


def bring_agent_programs() -> dict[str, str]:
    """Install what is missing or of another version, and answer the variable by which tests find the programs.

    The variable may name a folder with programs already, which is then taken as it is. Raises Unavailable when npm is
    missing, an installation fails, or a program does not run here.
    """
    named = os.environ.get(VARIABLE)
    folder = Path(named).absolute() if named else cache_folder()
    if not named and not _is_whole(folder):
        _install_into(folder)
    for program in PROGRAMS:
        _try(folder / program)
    return {VARIABLE: str(folder)}


def cache_folder() -> Path:
    """Where the programs stay between runs: TRINITY_TEST_AGENTS_FOLDER, else a folder of the user's cache."""
    named = os.environ.get("TRINITY_TEST_AGENTS_FOLDER")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named).absolute() if named else caches / "trinity" / "agents"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{folder}, where the agents' programs are kept, cannot be made: {error}") from error
    return folder


def _is_whole(folder: Path) -> bool:
    return _stamp(folder).is_file() and _stamp(folder).read_text() == _versions()


def _install_into(folder: Path) -> None:
    """The stamp is written last: an installation that was cut off leaves none."""
    if shutil.which("npm") is None:
        install(Product.NPM)
    for old in (folder / "node_modules", folder / "claude_agent_sdk", _stamp(folder)):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    _run(["npm", "install", "--no-fund", "--no-audit", "--no-package-lock", "--prefix", str(folder), *NPM_PACKAGES])
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--upgrade", "--target", str(folder)]
    _run([*pip, *PIP_PACKAGES])
    _stamp(folder).write_text(_versions())


def _stamp(folder: Path) -> Path:
    return folder / "installed.json"


def _versions() -> str:
    return json.dumps([*NPM_PACKAGES, *PIP_PACKAGES])


def _try(program: Path) -> None:
    """A package may be there, and its program not: npm can be told to run no package's set-up."""
    try:
        answer = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{program} does not run here: {error}") from error
    if answer.returncode != 0:
        said = (answer.stderr or answer.stdout).strip()[-500:]
        raise Unavailable(f"{program} does not run here: {said or f'exit code {answer.returncode}'}")


def _run(command: Sequence[str]) -> None:
    print(f"$ {' '.join(command)}", flush=True)
    try:
        finished = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]} did not bring the agents' programs: {error}") from error
    if finished.returncode != 0:
        raise Unavailable(f"{command[0]} did not bring the agents' programs (see above)")
