"""Finds the real command-line agents and carries out one call of them; without them these tests are skipped.

They are looked for on PATH and in the folder named by TRINITY_TEST_AGENTS: `node_modules/.bin/claude` and
`node_modules/.bin/codex` (npm), `claude_agent_sdk/_bundled/claude` (pip install --target).
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.runtimes.base import AgentCall, Outcome, Printed, Runtime
from trinity.kernel import clock

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE")


def installed(program: str, *places: str) -> list[str]:
    """The paths of a program, each once."""
    folder = Path(os.environ.get("TRINITY_TEST_AGENTS", "/nonexistent"))
    found = [shutil.which(program), *(str(folder / place) for place in places if (folder / place).is_file())]
    return list(dict.fromkeys(os.path.realpath(path) for path in found if path))


CLAUDE = installed("claude", "node_modules/.bin/claude", "claude_agent_sdk/_bundled/claude")
CODEX = installed("codex", "node_modules/.bin/codex")
MISSING = "is not installed: put it on PATH, or name the folder where it lies in TRINITY_TEST_AGENTS"


def each(programs: list[str], name: str) -> list[Any]:
    """Every version found, or one skipped test that says what is missing."""
    if not programs:
        return [pytest.param("", marks=pytest.mark.skip(reason=f"The real {name} {MISSING}"))]
    return [pytest.param(path, id=f"{name}{number}") for number, path in enumerate(programs, start=1)]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "note.txt").write_text("hi note é\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def carry_out(tmp_path: Path, workspace: Path, home: Path) -> Callable[..., Outcome]:
    """Carries out one call as the runner does, but in the foreground."""

    def carry_out(runtime: Runtime, settings: dict, call: AgentCall, *, seconds: float = 60, **env: str) -> Outcome:
        settings = runtime.clean_settings(settings)
        spec = runtime.command(call, settings)
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        facts: dict[str, Any] = {}
        with (tmp_path / "stdout").open("wb") as stdout, (tmp_path / "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                spec.argv,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=workspace,
                env={**passed, "HOME": str(home), **env, **spec.env},
                start_new_session=True,
            )
            try:
                process.communicate(spec.stdin, timeout=seconds)
            except subprocess.TimeoutExpired:
                facts = {"timed_out": True, "timeout_seconds": int(seconds)}
                process.send_signal(signal.SIGINT)
                process.wait(20)
            finally:
                _end_group(process)
        printed = Printed(
            stdout=tmp_path / "stdout",
            stderr=tmp_path / "stderr",
            exit_code=process.returncode if process.returncode >= 0 else None,
            signal=-process.returncode if process.returncode < 0 else None,
            call=call,
            ended_at=clock.now(),
            **facts,
        )
        return runtime.read(printed, settings)

    return carry_out


def _end_group(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
