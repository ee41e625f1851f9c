"""Brings the real command-line agents for the tests that call them; signs in nowhere and calls no model.

They are installed into a cache folder of the user's, never into the project or the system.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from packages import Product, Unavailable, install

NPM_PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex")
PIP_PACKAGE = "claude-agent-sdk"  # carries another, often newer Claude program
INSTALL_SECONDS = 600


def bring_agent_programs() -> dict[str, str]:
    """Install what is missing, and answer the variables by which tests find the programs.

    Raises Unavailable when npm is missing or an installation fails.
    """
    folder = cache_folder()
    programs = folder / "node_modules" / ".bin"
    if not all((programs / name).exists() for name in ("claude", "codex")):
        if shutil.which("npm") is None:
            install(Product.NPM)
        _run(["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), *NPM_PACKAGES])
    return {
        "TRINITY_TEST_AGENTS": "1",
        "TRINITY_TEST_CLAUDE": str(programs / "claude"),
        "TRINITY_TEST_CLAUDE_OF_SDK": str(_claude_of_sdk(folder / "venv")),
        "TRINITY_TEST_CODEX": str(programs / "codex"),
    }


def cache_folder() -> Path:
    """Where the programs stay between runs: TRINITY_TEST_AGENTS_FOLDER, else a folder of the user's cache."""
    named = os.environ.get("TRINITY_TEST_AGENTS_FOLDER")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else caches / "trinity" / "agents"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{folder}, where the agents' programs are kept, cannot be made: {error}") from error
    return folder


def _claude_of_sdk(venv: Path) -> Path:
    """The Claude program inside the Python package, which is installed when it is not there yet."""
    if not (found := _bundled(venv)):
        _run([sys.executable, "-m", "venv", "--clear", str(venv)])
        _run([str(venv / "bin" / "python"), "-m", "pip", "install", "-qq", PIP_PACKAGE])
        found = _bundled(venv)
    if not found:
        raise Unavailable(f"{PIP_PACKAGE} was installed and brought no program for this system")
    return found


def _bundled(venv: Path) -> Path | None:
    return next(venv.glob("lib/python*/site-packages/claude_agent_sdk/_bundled/claude"), None)


def _run(command: Sequence[str]) -> None:
    print(f"$ {' '.join(command)}", flush=True)
    try:
        finished = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]} did not bring the agents' programs: {error}") from error
    if finished.returncode != 0:
        raise Unavailable(f"{command[0]} did not bring the agents' programs (see above)")
