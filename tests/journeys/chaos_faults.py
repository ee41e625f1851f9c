"""What dies in the chaos journey, and how it is brought back; judges nothing."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg

from executions.runner import state
from executions.runner.vocabulary import RunnerState
from tests.journeys.cluster import LEASE_SECONDS, Cluster, Worker

PAUSE_SECONDS = (1.0, 2.0)
WORKERS_THAT_STAY = 1  # so many that carry out runs, lest nothing happens while the next ones start
REDIS_HANGS_SECONDS = 3.0


class Faults:
    """Strikes once per call; pauses, kinds and choices come from `chance`."""

    def __init__(self, cluster: Cluster, chance: random.Random, counted: Counter[str]) -> None:
        self.cluster = cluster
        self.counted = counted
        self.killed_runs: set[str] = set()
        self._chance = chance
        self._timers: list[threading.Timer] = []
        self._kinds: dict[str, tuple[int, Callable[[float], bool]]] = {
            "worker killed": (5, self._kill_worker),
            "worker told to end": (4, self._terminate_worker),
            "worker frozen beyond its lease": (2, self._freeze_worker),
            "runner killed": (5, self._kill_runner),
            "Redis killed, back empty": (3, self._restart_redis),
            "Redis hangs": (2, self._hang_redis),
            "database sessions cut": (5, self._cut_sessions),
            "database restarted": (2, self._restart_postgres),
            "web process killed": (3, self._kill_web),
        }

    def strike(self) -> None:
        """Wait a moment, then end or cut something; where the planned one finds nothing to hit, the next kind."""
        pause, which = self._chance.uniform(*PAUSE_SECONDS), self._chance.random()
        names = self._chance.choices(list(self._kinds), [weight for weight, _ in self._kinds.values()], k=4)
        time.sleep(pause)
        for name in names:
            if self._kinds[name][1](which):
                self.counted[name] += 1
                return

    def make_good(self, workers: int) -> None:
        """Bring everything back that was struck."""
        for timer in self._timers:
            timer.join()
        missing = workers - len(self.cluster.living_workers())
        self.cluster.start_workers(max(0, missing))

    # --- workers ----------------------------------------------------------------------------------------

    def _worker(self, which: float) -> Worker | None:
        able = [one for one in self.cluster.living_workers() if one.works]
        return able[int(which * len(able))] if len(able) > WORKERS_THAT_STAY else None

    def _kill_worker(self, which: float) -> bool:
        return self._end_worker(which, Worker.kill)

    def _terminate_worker(self, which: float) -> bool:
        return self._end_worker(which, Worker.terminate)

    def _end_worker(self, which: float, end: Callable[[Worker], None]) -> bool:
        worker = self._worker(which)
        if worker is None:
            return False
        worker.works = False
        end(worker)
        self.cluster.start_worker()
        return True

    def _freeze_worker(self, which: float) -> bool:
        worker = self._worker(which)
        if worker is None:
            return False
        worker.works = False
        worker.freeze()

        def thaw() -> None:
            worker.thaw()
            worker.works = True

        self._later(LEASE_SECONDS + 1.5, thaw)
        return True

    # --- runners ----------------------------------------------------------------------------------------

    def _kill_runner(self, which: float) -> bool:
        spools = sorted(self.cluster.home.joinpath("spool").glob("*.*"), key=lambda folder: folder.name)
        running = [folder for folder in spools if self._runs(folder)]
        if not running:
            return False
        return self._kill_runner_in(running[int(which * len(running))])

    def _runs(self, folder: Path) -> bool:
        return folder.is_dir() and state.state(folder) is RunnerState.RUNNING

    def _kill_runner_in(self, folder: Path) -> bool:
        pidfd = state.open_pidfd(folder)
        if pidfd is None:
            return False
        self.killed_runs.add(folder.name.partition(".")[0])
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)
        return True

    # --- servers ----------------------------------------------------------------------------------------

    def _restart_redis(self, which: float) -> bool:
        if self._redis_hangs():
            return False
        self.cluster.redis.stop()
        self.cluster.redis.start()
        return True

    def _hang_redis(self, which: float) -> bool:
        if self._redis_hangs():
            return False
        pid = int((self.cluster.redis.folder / "redis.pid").read_text())
        os.kill(pid, signal.SIGSTOP)
        self._later(REDIS_HANGS_SECONDS, lambda: os.kill(pid, signal.SIGCONT))
        return True

    def _redis_hangs(self) -> bool:
        pid = int((self.cluster.redis.folder / "redis.pid").read_text())
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def _cut_sessions(self, which: float) -> bool:
        with suppress(psycopg.OperationalError):
            return self.cluster.cut_connections() > 0
        return False

    def _restart_postgres(self, which: float) -> bool:
        self.cluster.postgres.stop()
        time.sleep(which)
        self.cluster.postgres.start()
        return True

    def _kill_web(self, which: float) -> bool:
        self.cluster.kill()
        self.cluster.launch()
        return True

    def _later(self, seconds: float, then: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, then)
        timer.start()
        self._timers.append(timer)
