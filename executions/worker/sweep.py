"""The periodic repair: makes every lost message, dead worker and due park harmless; safe to run many times at once."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.db import close_old_connections
from django.db.models import Q

from executions import receivers
from executions.lease import run_out
from executions.models import Execution
from executions.queries import agents_with_due_work
from executions.services import take_over
from executions.vocabulary import ExecutionStatus
from trinity.kernel import clock

if TYPE_CHECKING:
    from executions.worker.carrier import Carrier

log = structlog.get_logger(__name__)
BATCH = 200  # rows of one kind in one pass; the rest has its turn in the next


class Sweep:
    """A thread inside every worker, so that there is no scheduler process to forget."""

    def __init__(self, carrier: "Carrier") -> None:
        self._carrier = carrier
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweep", daemon=True)
        self.passes: list[Callable[[], None]] = [self.repair, self.take_over_orphans, self.take_due_work]

    def start(self) -> None:
        self._carrier.home.sweep_dead_locks()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():  # it may never have been started
            self._thread.join(timeout=2)

    def _run(self) -> None:
        while True:
            self.once()
            if self._stop.wait(settings.TRINITY_SWEEP_SECONDS):
                return

    def once(self) -> None:
        """One pass over everything; a part that fails is logged and does not stop the others."""
        for part in self.passes:
            if self._stop.is_set():
                return
            try:
                _attempt(part.__name__, part)
            finally:
                close_old_connections()

    def repair(self) -> None:
        """What the apps above found due: parks, deadlines, verdicts. None may keep the others from their turn."""
        for name, repair in receivers.repairs().items():
            _attempt(name, partial(_repair, name, repair))

    def take_over_orphans(self) -> None:
        """Go on with runs whose worker is gone: at once when its lock is free, else when its lease ran out."""
        for execution in self._orphans():
            if not self._carrier.has_room:
                return
            _attempt("take over", partial(self._take_over, execution))

    def _take_over(self, execution: Execution) -> None:
        if take_over(execution, self._carrier.claimant):
            log.info("run taken over", execution_id=execution.pk)
            self._carrier.go_on_with(execution)

    def _orphans(self) -> list[Execution]:
        carrier = self._carrier
        in_flight = Execution.objects.filter(status=ExecutionStatus.RUNNING, agent__place=carrier.place)
        here = Q(spool_id=carrier.home.spool_id)
        workers = in_flight.filter(here).exclude(worker=carrier.claimant.worker).values_list("worker", flat=True)
        dead = [worker for worker in set(workers) if not carrier.home.worker_lives(worker)]
        orphaned = (here & (Q(worker__in=dead) | run_out())) | (
            ~here & run_out(grace_seconds=settings.TRINITY_LOST_GRACE_SECONDS)
        )
        found = in_flight.filter(orphaned).exclude(claim_token__in=list(carrier.carried)).select_related("agent")
        return list(found.order_by("lease_until")[:BATCH])

    def take_due_work(self) -> None:
        """What was queued without anybody being told, or whose message was lost."""
        if self._carrier.has_room:
            for agent_id in agents_with_due_work(self._carrier.place, clock.now(), BATCH):
                self._carrier.nudge(agent_id)


def _repair(name: str, repair: receivers.Repair) -> None:
    moved = repair(clock.now(), BATCH)
    if moved:
        log.debug("sweep moved rows", repair=name, moved=moved)


def _attempt(what: str, job: Callable[[], object]) -> None:
    try:
        job()
    except Exception as error:
        log.warning("a part of the sweep failed; tried again soon", part=what, error=repr(error))
