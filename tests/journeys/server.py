"""Starts an installation as a newcomer would, and talks to it from outside; knows nothing of its inside."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
Found = TypeVar("Found")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(look: Callable[[], Found | None], *, seconds: float = 30, what: str = "") -> Found:
    """What `look` finds, as soon as it is true; fails after `seconds`."""
    ends = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > ends:
            raise AssertionError(f"waited {seconds} s in vain for {what or look}")
        time.sleep(0.05)


class Installation:
    """One installation in a folder of its own; the process that serves it may be ended and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEST_", "DJANGO_"))}
        for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
            kept.pop(name, None)
        self.environment = kept | {
            "TRINITY_HOME": str(home),
            "PORT": str(self.port),
            "HOST": "127.0.0.1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self) -> list[str]:
        """What serves its pages and API."""
        raise NotImplementedError

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        return (self.home / "admin-api-key").read_text(encoding="ascii").strip()

    def start(self) -> None:
        """Start, and return when requests are answered."""
        self.launch()
        self.wait_for_answers()

    def wait_for_answers(self) -> None:
        """Return when requests are answered."""
        wait_for(self._answers, seconds=60, what="the server")

    def launch(self) -> None:
        """Start, and do not wait."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.log = (self.home / "server.log").open("ab")
        self.process = subprocess.Popen(
            self.command(),
            cwd=ROOT,
            env=self.environment,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.said()
        try:
            return self.get("/healthz", key=None)[0] == 200
        except OSError:
            return False

    def said(self) -> str:
        """Everything that it printed so far."""
        return (self.home / "server.log").read_text(encoding="utf-8", errors="replace")

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send(signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = 10) -> int:
        assert self.process is not None
        return self.process.wait(timeout=seconds)

    def stop(self) -> None:
        """End it as an operator would, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGTERM)
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.kill()

    def manage(self, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a management command beside it."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def get(self, path: str, *, key: str | None = "") -> tuple[int, Any]:
        return self.call("GET", path, key=key)

    def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        return self.call("POST", path, body if body is not None else {})

    def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = "", **more_headers: str
    ) -> tuple[int, Any]:
        """Status and parsed body of one request; the admin's key unless told otherwise."""
        headers = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in more_headers.items()
        }
        if key is not None:
            headers["Authorization"] = f"Bearer {key or self.key}"
        sent = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, sent, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, _parsed(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _parsed(error.read())

    # --- what most journeys do --------------------------------------------------------------------------

    def add_agent(self, name: str, argv: list[str], **more: Any) -> None:
        settings = {"argv": argv, "output": more.pop("output", "text")}
        status, answer = self.post(
            "/api/agents", {"name": name, "runtime": "command", "runtime_settings": settings} | more
        )
        assert status == 201, answer

    def start_loop(self, agent: str, **parameters: Any) -> str:
        status, answer = self.post(f"/api/agents/{agent}/loops", parameters)
        assert status == 202, answer
        return str(answer["loop_id"])

    def loop(self, loop_id: str) -> dict[str, Any]:
        status, answer = self.get(f"/api/loops/{loop_id}")
        assert status == 200, answer
        return dict(answer)

    def ended_loop(self, loop_id: str, *, seconds: float = 60) -> dict[str, Any]:
        """The loop, once it has ended."""

        def look() -> dict[str, Any] | None:
            found = self.loop(loop_id)
            return None if found["status"] in ("queued", "running") else found

        return wait_for(look, seconds=seconds, what=f"{loop_id} to end")


class EmbeddedServer(Installation):
    """Pages, API and worker in one process, on SQLite."""

    def command(self) -> list[str]:
        return [sys.executable, "manage.py", "serve"]


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body
