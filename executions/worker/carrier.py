"""Carries out executions in one worker process: claims, starts runners, settles; no thread waits for a process.

One watcher waits for all runners, one renewer keeps all leases, one sweep repairs; pool threads only start and settle.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from agents.runtimes.base import AnswersInWorker, ErrorKind, Outcome
from agents.runtimes.registry import runtime
from executions.grading import grade_execution
from executions.models import Execution
from executions.services import Claimant, settle, take
from executions.worker import outcomes, processes
from executions.worker.calls import call_of
from executions.worker.home import Home, WorkerLock
from executions.worker.renewer import Renewer
from executions.worker.sweep import Sweep
from executions.worker.watcher import Watcher
from trinity.kernel.crashpoints import CrashPoint, reached

log = structlog.get_logger(__name__)
STEPS_IN_A_ROW = 20  # then a scripted loop gives its thread back, so that others get their turn
SECONDS_IN_A_ROW = 1.0
TRY_AGAIN_SECONDS = 2.0


class Carrier:
    """What a worker process does. One per process; `start` once, `stop` once."""

    def __init__(self, root: Path, *, place: str = "", room: int = 0, lease_seconds: float = 0.0) -> None:
        self.home = Home.at(root)
        self.place = place or settings.TRINITY_PLACE
        self.room = room or settings.TRINITY_RUNS_PER_WORKER
        self.lease_seconds = lease_seconds or settings.TRINITY_LEASE_SECONDS
        self.carried: dict[str, Execution] = {}
        self.stopping = False
        self._lock = threading.Lock()
        self._reserved = 0
        self._worker_lock: WorkerLock | None = None
        self.watcher = Watcher()
        self._pool = ThreadPoolExecutor(settings.TRINITY_WORKER_THREADS, thread_name_prefix="carrier")
        self._renewer = Renewer(self)
        self._sweep = Sweep(self)

    # --- life -------------------------------------------------------------------------------------------

    def start(self, *, sweeping: bool = True) -> None:
        """Begin to work; the first sweep picks up what an earlier worker left. Without sweeps it does only what it is
        nudged to."""
        self._worker_lock = self.home.hold_worker_lock()
        host, _, _ = self._worker_lock.worker.partition(".")
        self.claimant = Claimant(self._worker_lock.worker, host, self.home.spool_id, self.place, self.lease_seconds)
        self.watcher.start()
        self._renewer.start()
        if sweeping:
            self._sweep.start()
        log.info("worker carries out runs", worker=self.claimant.worker, place=self.place, room=self.room)

    def stop(self) -> None:
        """No new claims, all waits end, claims are released; runs in flight go on under their runners."""
        if self.stopping:
            return
        self.stopping = True
        self._sweep.stop()
        self._renewer.stop()
        self.watcher.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._wait_for_steps(seconds=2.0)
        self._renewer.release()
        if self._worker_lock is not None:
            self._worker_lock.release()

    def _wait_for_steps(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while self._reserved and time.monotonic() < ends:
            time.sleep(0.01)

    # --- taking work ------------------------------------------------------------------------------------

    def nudge(self, agent_id: int) -> None:
        """An agent may have work; looked at soon, in a thread of the pool."""
        self.soon(self._take_work, agent_id)

    def soon(self, job: Any, *arguments: Any) -> None:
        """Run a job in the pool; nothing more is taken once the worker stops."""
        if not self.stopping:
            self._pool.submit(self._job, job, *arguments)

    def _job(self, job: Any, *arguments: Any) -> None:
        close_old_connections()
        try:
            job(*arguments)
        except Exception:
            log.exception("a step of the worker failed; the sweep tries again", job=job.__name__)
        finally:
            close_old_connections()  # gives a pooled connection back; SQLite's stays

    def _take_work(self, agent_id: int) -> None:
        while self._reserve():
            try:
                execution = take(agent_id, self.claimant)
                if execution is not None:
                    self._keep(execution)
            finally:
                self._unreserve()
            if execution is None:
                return
            self.carry(execution)

    def _reserve(self) -> bool:
        with self._lock:
            if self.stopping or len(self.carried) + self._reserved >= self.room:
                return False
            self._reserved += 1
            return True

    def _unreserve(self) -> None:
        with self._lock:
            self._reserved -= 1

    @property
    def has_room(self) -> bool:
        return not self.stopping and len(self.carried) + self._reserved < self.room

    def _keep(self, execution: Execution) -> None:
        with self._lock:
            self.carried[execution.claim_token] = execution

    def _drop(self, execution: Execution) -> None:
        with self._lock:
            self.carried.pop(execution.claim_token, None)

    def look_for_abandoned(self) -> None:
        """Renew now, which also ends runs that somebody abandoned."""
        self.soon(self._renewer.renew)

    # --- carrying out -----------------------------------------------------------------------------------

    def go_on_with(self, execution: Execution) -> None:
        """Carry a run on that was taken over; its lease is kept from now on, however long it waits for a thread."""
        self._keep(execution)
        self.soon(self.carry, execution)

    def carry(self, execution: Execution) -> None:
        """Go on with a claimed execution, wherever it is: not started, running, finished or lost."""
        self._keep(execution)
        began, steps = time.monotonic(), 0
        following: Execution | None = execution
        while following is not None and not self.stopping:
            if steps >= STEPS_IN_A_ROW or time.monotonic() - began > SECONDS_IN_A_ROW:
                self.soon(self.carry, following)
                return
            outcome = self._outcome_of(following)
            following = self._settle(following, outcome) if outcome is not None else None
            steps += 1

    def _outcome_of(self, execution: Execution) -> Outcome | None:
        """The outcome, when there is one now; whatever goes wrong here is one too, so that no run is stuck."""
        try:
            kind = runtime(execution.agent.runtime)
            if isinstance(kind, AnswersInWorker):
                return self._answer_of(execution, kind)
            return processes.go_on(execution, self.home, self._watch)
        except Exception as error:
            log.exception("a run could not be carried out", execution_id=execution.pk)
            processes.end(execution, self.home)
            return outcomes.broken(error)

    def _answer_of(self, execution: Execution, kind: AnswersInWorker) -> Outcome | None:
        outcome = kind.answer(call_of(execution), execution.agent.runtime_settings)
        if not outcome.duration_ms:
            return outcome
        self.watcher.after(outcome.duration_ms / 1000, lambda: self.soon(self._settle_and_go_on, execution, outcome))
        return None

    def _watch(self, execution: Execution, pidfd: int) -> None:
        self.watcher.when_ended(pidfd, lambda: self.soon(self.carry, execution))
        reached(CrashPoint.WATCHED)

    def _settle_and_go_on(self, execution: Execution, outcome: Outcome) -> None:
        following = self._settle(execution, outcome)
        if following is not None:
            self.carry(following)

    def _settle(self, execution: Execution, outcome: Outcome) -> Execution | None:
        """Settle; while the database is away the outcome stays in the spool, and it is tried again."""
        with self._lock:
            self._reserved += 1
        try:
            reached(CrashPoint.BEFORE_SETTLE)
            following = settle(execution, outcome, None if self.stopping else self.claimant)
            reached(CrashPoint.AFTER_SETTLE)
        except (OperationalError, InterfaceError) as error:  # not our mistake: the database is away
            log.warning("outcome not settled yet", execution_id=execution.pk, error=repr(error))
            close_old_connections()
            self.watcher.after(TRY_AGAIN_SECONDS, lambda: self.soon(self._settle_and_go_on, execution, outcome))
            return None
        except Exception as error:
            log.exception("an outcome could not be settled", execution_id=execution.pk)
            if outcome.error_kind is ErrorKind.BROKEN:
                self._drop(execution)  # its lease runs out, and the sweep tries once more
                return None
            return self._settle(execution, outcomes.broken(error))
        finally:
            self._unreserve()
        self._drop(execution)
        if execution.to_grade:
            self.soon(grade_execution, execution.pk)
        if following is not None:
            self._keep(following)
        return following
