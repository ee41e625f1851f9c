"""The environment of the peers: made once from requirements-peers.txt, in a cache folder; never Trinity's own."""

import shutil
import subprocess
import sys
from pathlib import Path

from packages import Unavailable

from bench_parts.programs import ROOT

PINS = ROOT / "requirements-peers.txt"
VENV = ROOT / "var" / "bench" / "peers"


def peers_python() -> str:
    """The Python of an environment that holds what is pinned. Raises Unavailable when it cannot be made."""
    python, stamp = VENV / "bin" / "python", VENV / ".installed"
    if not (stamp.is_file() and stamp.read_bytes() == PINS.read_bytes() and python.exists()):
        _make()
        shutil.copyfile(PINS, stamp)  # last: one that was cut off leaves none
    return str(python)


def _make() -> None:
    print(f"Making the peers' environment in {VENV} (once) …", file=sys.stderr, flush=True)
    VENV.parent.mkdir(parents=True, exist_ok=True)
    _do([sys.executable, "-I", "-m", "venv", "--clear", str(VENV)])
    install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input", "--no-deps", "--no-compile"]
    _do([str(VENV / "bin" / "python"), "-I", *install, "--require-hashes", "--requirement", str(PINS)])


def _do(words: list[str]) -> None:
    try:
        finished = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"the peers' environment cannot be made: {error}") from error
    if finished.returncode:
        said = "\n".join(finished.stderr.strip().splitlines()[-5:])
        raise Unavailable(f"the peers' environment cannot be made; {Path(words[0]).name} said:\n{said}")
