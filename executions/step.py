"""One short transaction under an agent's lock, and what follows its commit; decides nothing.

Beats of every service: lock, gather, decide, record, nudge (house style, section 6). The row of the agent is the
one lock: it is taken by the first statement, so that executions and loops of an agent never change side by side.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import transaction

from agents.locking import lock_agent
from agents.models import Agent
from executions import nudging
from executions.models import Execution
from trinity.kernel import clock, live, rows
from trinity.kernel.crashpoints import CrashPoint, reached

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class AgentStep:
    """What one transaction knows and has gathered."""

    agent: Agent
    now: dt.datetime
    live_events: list[live.Event] = field(default_factory=list)
    new: dict[str, Execution] = field(default_factory=dict)  # made in this step, inserted at its end
    records: dict[str, Any] = field(default_factory=dict)  # rows of other apps, each loaded once
    writers: list[Callable[[], None]] = field(default_factory=list)  # gathered changes, written once at the end
    work_is_left: bool = False  # a worker should be told
    afterwards: list[Callable[[], None]] = field(default_factory=list)  # steps of others that follow from this one

    def write_gathered(self) -> None:
        """What was gathered, each row once: a run that begins in the step that made it is inserted as begun."""
        for execution in self.new.values():
            rows.insert(execution)
        for write in self.writers:
            write()
        self.new, self.writers = {}, []

    def tell(self) -> None:
        """After the commit: live events and the nudge; their failure never fails the work."""
        if self.live_events:
            live.publish(self.live_events)
        if self.work_is_left:
            nudging.nudge(self.agent.pk, self.agent.place)
        follow_up(self.afterwards)


def follow_up(afterwards: Iterable[Callable[[], None]]) -> None:
    """Steps that follow from one that is committed: their failure never fails it, and the sweep tries again."""
    for follow in afterwards:
        try:
            follow()
        except Exception:
            log.exception("what follows from a step failed; the sweep tries again")


@contextmanager
def agent_step(agent_id: int) -> Iterator[AgentStep]:
    """Open the one transaction of a service. An exception undoes all of it, and then nobody is told anything."""
    with transaction.atomic(durable=True):
        step = AgentStep(lock_agent(agent_id), clock.now())
        yield step
        step.write_gathered()
        reached(CrashPoint.BEFORE_COMMIT)
    reached(CrashPoint.AFTER_COMMIT)
    step.tell()


@contextmanager
def step_within(agent: Agent) -> Iterator[AgentStep]:
    """A step inside the transaction of another service that holds the agent's lock; it tells after that commit."""
    step = AgentStep(agent, clock.now())
    yield step
    step.write_gathered()
    transaction.on_commit(step.tell)
