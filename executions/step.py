"""One short transaction under an agent's lock, and what follows its commit; decides nothing.

Beats of every service: lock, gather, decide, record, nudge (house style, section 6). The row of the agent is the
one lock: it is taken by the first statement, so that executions and loops of an agent never change side by side.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import connection, transaction

from agents.locking import lock_agent
from agents.models import Agent
from executions import nudging
from executions.models import Execution
from trinity.kernel import clock, live, rows
from trinity.kernel.crashpoints import CrashPoint, reached
from trinity.kernel.statements import Answer, Statement, carry_out

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class AgentStep:
    """What one transaction knows and has gathered."""

    agent: Agent
    now: dt.datetime
    live_events: list[live.Event] = field(default_factory=list)
    new: dict[str, Execution] = field(default_factory=dict)  # made in this step, inserted at its end
    records: dict[str, Any] = field(default_factory=dict)  # rows of other apps, each loaded once
    ahead: dict[str, Answer] = field(default_factory=dict)  # what was asked together with the lock
    changes: list[Statement] = field(default_factory=list)  # written at the end, in their order
    writers: list[Callable[[], Iterable[Statement]]] = field(default_factory=list)  # what they tell then comes last
    work_is_left: bool = False  # a worker should be told
    afterwards: list[Callable[[], None]] = field(default_factory=list)  # steps of others that follow from this one

    def write_gathered(self, *, commit: bool = False) -> None:
        """What was gathered, in one trip: a run that begins in the step that made it is inserted as begun."""
        changes = [rows.insertion(execution) for execution in self.new.values()] + self.changes
        for writer in self.writers:
            changes += writer()
        self.new, self.changes, self.writers = {}, [], []
        carry_out(*changes, commit=commit)

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
def agent_step(agent_id: int, ahead: Mapping[str, Statement] | None = None) -> Iterator[AgentStep]:
    """Open the one transaction of a service. An exception undoes all of it, and then nobody is told anything.

    What is asked `ahead` travels with the lock, and what was gathered with the commit: a step needs two round trips.
    """
    asked = ahead or {}
    outermost = not connection.in_atomic_block  # tests may run inside a transaction of their own
    with transaction.atomic(durable=True):
        agent, answers = lock_agent(agent_id, *asked.values())
        step = AgentStep(agent, clock.now(), ahead=dict(zip(asked, answers, strict=True)))
        yield step
        reached(CrashPoint.BEFORE_COMMIT)
        step.write_gathered(commit=outermost)
    reached(CrashPoint.AFTER_COMMIT)
    step.tell()


@contextmanager
def step_within(agent: Agent) -> Iterator[AgentStep]:
    """A step inside the transaction of another service that holds the agent's lock; it tells after that commit."""
    step = AgentStep(agent, clock.now())
    yield step
    step.write_gathered()
    transaction.on_commit(step.tell)
