"""An installation on PostgreSQL and Redis with any number of workers, each of which may be ended; knows no rule."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.journeys.server import ROOT, Installation, wait_for

sys.path.insert(0, str(ROOT / "script"))

from servers import Postgres, Redis
from throwaway import Servers, throwaway_servers

LEASE_SECONDS = 3.0
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")  # as in the Procfile


@contextmanager
def cluster_in(folder: Path, **variables: str) -> Iterator["Cluster"]:
    """A cluster with servers of its own, which a test may kill; nothing is left of it afterwards."""
    with throwaway_servers() as servers:
        cluster = Cluster(folder, servers, **variables)
        try:
            cluster.set_up()
            yield cluster
        finally:
            cluster.end()


class Worker:
    """One `celery worker` process."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log
        self._struck = False

    @property
    def works(self) -> bool:
        """Whether it has begun to carry out runs, and nothing was done to it since."""
        return not self._struck and "worker carries out runs" in self.said()

    @works.setter
    def works(self, works: bool) -> None:
        self._struck = not works

    @property
    def lives(self) -> bool:
        return self.process.poll() is None

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """As a network that is cut off: it lives, and nobody hears of it."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def terminate(self) -> None:
        """As an operator would; does not wait."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> float:
        """Seconds until it ended; raises TimeoutExpired."""
        began = time.monotonic()
        self.process.wait(seconds)
        return time.monotonic() - began


class Cluster(Installation):
    """Web and workers of one place, unless a worker is given another `TRINITY_HOME` or `TRINITY_PLACE`."""

    def __init__(self, folder: Path, servers: Servers, **variables: str) -> None:
        super().__init__(folder)
        self.servers = servers
        self.redis: Redis = servers.redis
        self.postgres: Postgres = servers.postgres
        self.workers: list[Worker] = []
        self.homes = [folder]
        self._started = 0
        self.environment |= servers.environment() | {
            "TRINITY_LEASE_SECONDS": str(LEASE_SECONDS),
            "TRINITY_LOST_GRACE_SECONDS": "2",
            "TRINITY_SWEEP_SECONDS": "0.5",
            "SECRET_KEY": "only-for-tests-" + "x" * 40,
            **variables,
        }

    def command(self) -> list[str]:
        port = str(self.port)
        options = ["--bind", "127.0.0.1", "--port", port, "--application-close-timeout", "2", "-v", "0"]
        return [str(Path(sys.executable).with_name("daphne")), *options, "trinity.asgi:application"]

    def set_up(self) -> None:
        """The database's tables, the admin and the key."""
        self.home.mkdir(parents=True, exist_ok=True)
        for command in (("migrate", "--no-input"), ("setup",)):
            done = self.manage(*command)
            assert done.returncode == 0, done.stderr

    def start_worker(self, **variables: str) -> Worker:
        """Start one more; returns at once (`ready` waits)."""
        self._started += 1
        name = f"worker{self._started}"
        log = self.home / f"{name}.log"
        process = subprocess.Popen(
            [
                str(Path(sys.executable).with_name("celery")),
                *("-A", "trinity", "worker", "-P", "threads", "-n", name, *QUIET),
            ],
            cwd=ROOT,
            env=self.environment | variables,
            stdout=log.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.homes += [Path(variables[name]) for name in variables.keys() & {"TRINITY_HOME"}]
        worker = Worker(name, process, log)
        self.workers.append(worker)
        return worker

    def start_workers(self, count: int) -> list[Worker]:
        """Start some more, and wait until all carry out runs."""
        workers = [self.start_worker() for _ in range(count)]
        for worker in workers:
            self.ready(worker)
        return workers

    def ready(self, worker: Worker, seconds: float = 40) -> None:
        """Wait until it carries out runs."""

        def look() -> bool:
            assert worker.lives, worker.said()
            return worker.works

        wait_for(look, seconds=seconds, what=f"{worker.name} to carry out runs")

    def living_workers(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.lives]

    def worker_named(self, claimed_by: str) -> Worker:
        """The process behind the `worker` column of an execution: host, process id and a random part."""
        pid = int(claimed_by.split(".")[-2])
        return next(worker for worker in self.workers if worker.process.pid == pid)

    def has_started(self, execution_id: str, attempt: int) -> bool:
        """Whether a runner has set its start mark, on whichever host."""
        return any((home / "spool" / f"{execution_id}.{attempt}" / "started").exists() for home in self.homes)

    def rows(self, sql: str, *arguments: object) -> list[tuple[object, ...]]:
        """What a query finds, on a connection of its own."""
        with psycopg.connect(self.postgres.url, autocommit=True) as connection:
            cursor = connection.execute(sql, arguments)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def cut_connections(self) -> int:
        """End all sessions of web and workers, as a database that fails over does; how many there were."""
        found = self.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return len(found)

    def marked_processes(self) -> list[int]:
        """Runners and agents of this installation that still live."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                mark = f"TRINITY_SPOOL={self.home}/".encode()
                named = Path(f"/proc/{process}/environ").read_bytes()
                command = Path(f"/proc/{process}/cmdline").read_bytes()
                if mark in named or f"{self.home}/spool/".encode() in command:
                    found.append(int(process))
        return found

    def end(self) -> None:
        """End everything that was started here, and what that started."""
        for worker in self.living_workers():
            worker.thaw()
            worker.terminate()
        self.stop()
        for worker in self.workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(10)
                continue
            worker.kill()
        for pid in self.marked_processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
