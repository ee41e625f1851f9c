"""Carries out one call of the model program, in this process or as the runner does; skipped without its packages.

`run` is quick: its packages take more than a second to load. What has to do with the process itself uses `start`.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.runtimes.base import AgentCall, Outcome, Printed
from agents.runtimes.model import packages_are_installed
from agents.runtimes.model_api import program
from agents.runtimes.model_api.orders import Orders
from agents.runtimes.model_api.printing import Printer
from agents.runtimes.registry import runtime
from trinity.kernel import clock

from .services import ModelService, serving

MODEL = runtime("model")
KEY = "SERVICE_KEY_OF_TESTS"
PRICED = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if packages_are_installed():
        return
    here = Path(__file__).parent
    for one in items:
        if here in one.path.parents:
            one.add_marker(pytest.mark.skip(reason="requirements-model.txt is not installed (script/test does it)"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "note.txt").write_text("hi note é\nsecond line\n")
    return folder


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def serve(protocol: str) -> Iterator[Callable[..., ModelService]]:
    """A service of the protocol with these turns."""
    with contextlib.ExitStack() as services:
        yield lambda *turns: services.enter_context(serving(protocol, *turns))


Run = Callable[..., Outcome]


class Started:
    """One call under way."""

    def __init__(self, folder: Path, workspace: Path, call: AgentCall, settings: dict[str, Any], env: dict) -> None:
        self.settings = MODEL.clean_settings(settings)
        self.call = call
        self._folder = folder
        spec = MODEL.command(call, self.settings)
        passed = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                spec.argv,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=workspace,
                env=passed | {"HOME": str(folder)} | env,
                start_new_session=True,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(spec.stdin)
        self.process.stdin.close()

    def outcome(self, **facts: Any) -> Outcome:
        try:
            code = self.process.wait(60)
        finally:
            self.end()
        printed = Printed(
            stdout=self._folder / "stdout",
            stderr=self._folder / "stderr",
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            call=self.call,
            ended_at=clock.now(),
            **facts,
        )
        return MODEL.read(printed, self.settings)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def start(tmp_path: Path, workspace: Path, protocol: str) -> Iterator[Callable[..., Started]]:
    """Start one call of a service: `settings` beside its address, and a key in the environment."""
    started: list[Started] = []

    def start(service: ModelService | str, *, allowed=None, model=None, key="sk-test", prompt="Do it.", **settings):
        given = _given(service, protocol, settings)
        call = AgentCall(prompt=prompt, model=model or PRICED[protocol], allowed_tools=allowed)
        started.append(Started(tmp_path, workspace, call, given, {KEY: key}))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def run(tmp_path: Path, workspace: Path, protocol: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The outcome of one call of a service; `settings` beside its address, and a key in the environment."""

    def run(service: ModelService | str, *, allowed=None, model=None, key="sk-test", prompt="Do it.", **settings):
        given = _given(service, protocol, settings)
        call = AgentCall(prompt=prompt, model=model or PRICED[protocol], allowed_tools=allowed)
        kept = MODEL.clean_settings(given)
        spec = MODEL.command(call, kept)
        with monkeypatch.context() as here, (tmp_path / "stdout").open("w") as stdout:
            here.chdir(workspace)
            here.setenv(KEY, key)
            here.setattr(program, "_hide_environment", lambda: None)  # it is the tests' own process
            code = asyncio.run(program.Call(Orders.read(spec.argv[-1]), Printer(stdout)).carry_out(prompt))
        printed = Printed(tmp_path / "stdout", tmp_path / "nothing", exit_code=code, call=call, ended_at=clock.now())
        return MODEL.read(printed, kept)

    return run


def _given(service: ModelService | str, protocol: str, settings: dict[str, Any]) -> dict[str, Any]:
    address = service if isinstance(service, str) else service.address
    return {"protocol": protocol, "base_url": address, "key_variable": KEY, "retry_seconds": 0, **settings}
