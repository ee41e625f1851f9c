"""Keeps the leases of all that a worker carries, in one statement; notes activity and ends abandoned runs."""

import contextlib
import threading
from typing import TYPE_CHECKING

import structlog
from django.db import close_old_connections
from django.db.models import Case, CharField, F, QuerySet, Value, When

from agents.runtimes.registry import runtime
from executions.lease import database_now, lease_end
from executions.models import Execution
from executions.runner import state
from executions.vocabulary import ExecutionStatus
from trinity.kernel.text import clean

if TYPE_CHECKING:
    from executions.worker.carrier import Carrier

log = structlog.get_logger(__name__)
TAIL_BYTES = 64 * 1024  # of the spool, to see what the agent does now
ACTIVITY_CHARACTERS = 400


class Renewer:
    """A thread that wakes three times per lease."""

    def __init__(self, carrier: "Carrier") -> None:
        self._carrier = carrier
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="renewer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._stop.wait(self._carrier.lease_seconds / 3):
            try:
                self.renew()
            except Exception as error:
                log.warning("leases not renewed; tried again soon", error=repr(error))
            finally:
                close_old_connections()

    def renew(self) -> None:
        """One UPDATE for all leases and activities; then look for runs that somebody abandoned."""
        carried = dict(self._carrier.carried)
        if not carried:
            return
        seen = {token: found for token, one in carried.items() if (found := self._activity(one)) is not None}
        columns = {"lease_until": lease_end(self._carrier.lease_seconds)}
        if seen:
            cases = [When(claim_token=token, then=Value(text)) for token, text in seen.items()]
            columns["activity"] = Case(*cases, default=F("activity"), output_field=CharField())
        _held(list(carried)).update(**columns)
        for execution in _held(list(carried)).filter(abandon_requested_at__isnull=False):
            carried[execution.claim_token].abandon_requested_at = execution.abandon_requested_at
            state.terminate(self._carrier.home.spool(execution))

    def release(self) -> None:
        """At the end of the worker: its runs may be taken over at once."""
        carried = list(self._carrier.carried)
        if carried:
            with contextlib.suppress(Exception):  # the database is away: the lease runs out by itself
                _held(carried).update(lease_until=database_now())

    def _activity(self, execution: Execution) -> str | None:
        kind = runtime(execution.agent.runtime)
        if kind.answers_in_worker:
            return None
        tail = state.last_printed(self._carrier.home.spool(execution), TAIL_BYTES)
        found = kind.activity(tail, execution.agent.runtime_settings) if tail else None
        return clean(found, ACTIVITY_CHARACTERS) if found else None


def _held(tokens: list[str]) -> QuerySet[Execution]:
    return Execution.objects.filter(claim_token__in=tokens, status=ExecutionStatus.RUNNING)
