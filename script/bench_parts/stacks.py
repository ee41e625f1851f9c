"""Installations of Trinity to be measured: a database and a home of their own, and the processes of the Procfile."""

import json
import secrets
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from servers import free_port

from bench_parts.bench import Bench
from bench_parts.programs import Program, environment, run, wait_until

TOOLS = Path(sys.executable).parent


class Installation:
    """One Trinity, set up and not yet running. All that is started ends with `until_the_end`."""

    def __init__(self, bench: Bench, until_the_end: ExitStack, *, embedded: bool = False) -> None:
        self.home = bench.new_folder("embedded" if embedded else "trinity")
        self.until_the_end = until_the_end
        self.embedded = embedded
        self.port = free_port()
        self.variables = environment(
            TRINITY_HOME=str(self.home),
            DJANGO_SETTINGS_MODULE="trinity.settings",
            SECRET_KEY=secrets.token_urlsafe(50),
            HOST="127.0.0.1",
            PORT=str(self.port),
        )
        self.database_url = ""
        if not embedded:
            self.database_url = bench.new_database("trinity")
            self.variables |= {"DATABASE_URL": self.database_url, "REDIS_URL": bench.new_redis()}
            self.manage("migrate", "--no-input", "-v", "0")
            self.manage("setup")

    def manage(self, *words: str) -> str:
        """Run a management command to its end."""
        return run([sys.executable, "manage.py", *words], self.variables)

    def start(self, name: str, *words: str, talks: bool = False, **variables: str) -> Program:
        """Start a program of this installation."""
        program = Program(words, self.variables | variables, self.home / f"{name}.log", talks=talks)
        return self.until_the_end.enter_context(program)

    def start_workers(self, count: int) -> list[Program]:
        """Celery workers; they take work from their first moment on."""
        words = (sys.executable, str(TOOLS / "celery"), "-A", "trinity", "worker", "-P", "threads", "-l", "WARNING")
        started = [self.start(f"worker-{number}", *words, "-n", f"{number}@bench") for number in range(count)]
        locks = self.home / "workers"
        wait_until(lambda: len(list(locks.glob("*.lock"))) >= count, f"the workers (see {self.home})")
        return started

    def start_web(self) -> Program:
        """Daphne, as the Procfile starts it."""
        words = (sys.executable, str(TOOLS / "daphne"), "--bind", "127.0.0.1", "--port", str(self.port))
        limits = ("--application-close-timeout", "2", "--websocket-max-message-size", "65536")
        return self._answering(self.start("web", *words, *limits, "-v", "0", "trinity.asgi:application"))

    def start_embedded(self) -> Program:
        """The embedded server; it sets itself up."""
        return self._answering(self.start("serve", sys.executable, "manage.py", "serve"))

    def talk_to(self, module: str, *words: str) -> Program:
        """A program of the benchmark that works within this installation; it has said that it is ready."""
        program = self.start(
            module, sys.executable, "-m", f"bench_parts.contenders.{module}", *words, talks=True, PYTHONPATH=_PATHS
        )
        program.says()
        return program

    def run_inside(self, module: str, *words: str) -> str:
        """Run a program of the benchmark within this installation; what it printed. Raises Failed."""
        command = [sys.executable, "-m", f"bench_parts.inside.{module}", *words]
        return run(command, self.variables | {"PYTHONPATH": _PATHS})

    @property
    def key(self) -> str:
        """The admin's API key."""
        return (self.home / "admin-api-key").read_text(encoding="ascii").strip()

    def get(self, path: str, body: Any = None) -> Any:
        """The parsed answer to a request of the admin's; a POST when there is a body."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", sent, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own server
            return json.loads(answer.read() or b"null")

    def _answering(self, program: Program) -> Program:
        def answers() -> bool:
            if not program.lives:
                raise RuntimeError(f"the server ended:\n{program.last_words()}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5).close()
            except urllib.error.HTTPError:
                return True
            except OSError:
                return False
            return True

        wait_until(answers, "the server")
        return program


_PATHS = f"{Path(__file__).resolve().parents[1]}:{Path(__file__).resolve().parents[2]}"
