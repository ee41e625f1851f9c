"""What the engine must do, told a second time and differently: plain lists, endings read from a loop's whole history.

It knows neither Django nor the code that it is a model of; the machine compares the two after every step.
"""

import datetime as dt
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

PATIENCE = dt.timedelta(hours=1)


@dataclass(frozen=True)
class Said:
    """What came of one call."""

    ok: bool
    reply: str = ""
    cost: int | None = None  # nano-dollars
    status: str = "completed"
    away: bool = False

    @property
    def lost(self) -> bool:
        return self.status == "lost"


@dataclass
class Agent:
    """Slots, and whether it admits."""

    name: str
    slots: int
    running: bool = True
    archived: bool = False
    calls: "list[Call]" = field(default_factory=list)

    @property
    def admits(self) -> bool:
        return self.running and not self.archived

    @property
    def in_flight(self) -> int:
        return sum(call.status == "running" for call in self.calls)


@dataclass
class Call:
    """An execution: of a run of a loop, or alone."""

    key: tuple[str, int]  # loop and number of the run, or its own id and 0
    agent: Agent
    queued_at: dt.datetime
    loop: "Loop | None" = None
    status: str = "queued"
    token: str = ""
    attempt: int = 1
    not_before: dt.datetime | None = None
    away_since: dt.datetime | None = None
    said: Said | None = None
    late_reply: str = ""
    late_cost: int | None = None
    came_late: bool = False
    in_vain: int = 0  # what its calls cost that met a model which was away


@dataclass
class Loop:
    """A loop: what was asked, and all that its runs said."""

    pk: str
    agent: Agent
    max_runs: int
    stop_signal: str
    delay: dt.timedelta
    limit: dt.timedelta | None
    threshold: int
    budget: int | None
    tolerant: bool
    most_failures: int
    history: list[Said] = field(default_factory=list)
    began: dt.datetime | None = None
    stop_requested: bool = False
    parked_until: dt.datetime | None = None
    reason: str = ""
    in_vain: int = 0

    @property
    def ended(self) -> bool:
        return bool(self.reason)

    @property
    def deadline(self) -> dt.datetime | None:
        return self.began + self.limit if self.began and self.limit else None

    @property
    def spent(self) -> int:
        return sum(said.cost or 0 for said in self.history) + self.in_vain

    @property
    def replies(self) -> list[str]:
        return [said.reply for said in self.history if said.ok]

    @property
    def failures(self) -> int:
        return sum(not said.ok for said in self.history)

    @property
    def tolerated(self) -> int:
        return self.failures - (self.reason in ("error", "max_consecutive_failures"))

    @property
    def status(self) -> str:
        if not self.ended:
            return "running" if self.began else "queued"
        if self.reason in ("max_runs_reached", "stop_signal_matched"):
            return "completed_with_errors" if self.failures else "completed"
        return "failed" if self.reason in ("error", "max_consecutive_failures") else "stopped"

    def guardrail(self, now: dt.datetime) -> str:
        """Why no run may begin at `now`, or nothing."""
        standing = {
            "user_stopped": self.stop_requested,
            "deadline_exceeded": self.deadline is not None and self.deadline <= now,
            "budget_exhausted": self.budget is not None and self.budget <= self.spent,
        }
        return next((reason for reason, holds in standing.items() if holds), "")

    def reason_after_run(self, now: dt.datetime) -> str:
        """Why the loop ends with the run that was said last, or nothing."""
        last = self.history[-1]
        in_a_row = len(list(takewhile(lambda said: not said.ok, reversed(self.history))))
        said = [" ".join(reply.split()) for reply in self.replies]
        alike = len(list(takewhile(lambda reply: reply == said[-1], reversed(said))))
        guardrail = self.guardrail(now)
        standing = {
            "stop_signal_matched": last.ok and self.stop_signal != "" and self.stop_signal in last.reply,
            "no_progress": last.ok and 1 < self.threshold <= alike and guardrail in ("", "budget_exhausted"),
            "error": not last.ok and not self.tolerant,
            "max_consecutive_failures": not last.ok and in_a_row >= self.most_failures,
            "max_runs_reached": len(self.history) >= self.max_runs,
            guardrail: guardrail != "",
        }
        return next((reason for reason, holds in standing.items() if holds), "")


def loop_as_asked(pk: str, agent: Agent, asked: dict[str, Any]) -> Loop:
    """A loop from the fields that a caller sends."""
    limit, budget = asked["max_duration_seconds"], asked["max_cost_usd"]
    return Loop(
        pk=pk,
        agent=agent,
        max_runs=asked["max_runs"],
        stop_signal=asked["stop_signal"],
        delay=dt.timedelta(seconds=asked["delay_seconds"]),
        limit=dt.timedelta(seconds=limit) if limit else None,
        threshold=asked["no_progress_threshold"],
        budget=budget * 10**9 if budget else None,
        tolerant=asked["on_failure"] == "continue",
        most_failures=asked["max_consecutive_failures"],
    )


@dataclass
class Engine:
    """All agents and loops, and what each message does to them."""

    now: dt.datetime
    agents: list[Agent] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    just_queued: Call | None = None

    @property
    def calls(self) -> list[Call]:
        return [call for agent in self.agents for call in agent.calls]

    @property
    def at_rest(self) -> bool:
        """Nothing will happen any more."""
        unended = [call for call in self.calls if call.status in ("queued", "running")]
        return not unended and all(loop.ended for loop in self.loops)

    def queue(self, agent: Agent, loop: Loop | None = None, alone: str = "") -> Call:
        key = (loop.pk, len(loop.history) + 1) if loop else (alone, 0)
        call = Call(key, agent, self.now, loop)
        agent.calls.append(call)
        return call

    def start(self, loop: Loop) -> None:
        self.loops.append(loop)
        self.queue(loop.agent, loop)

    def take(self, agent: Agent) -> Call | None:
        """What the next worker that asks gets."""
        self.just_queued = None
        return self.take_next(agent)

    def take_next(self, agent: Agent) -> Call | None:
        """The same after a settlement: what that has queued came last, whatever the clock says."""
        while agent.admits and agent.in_flight < agent.slots:
            due = [c for c in agent.calls if c.status == "queued" and (c.not_before or self.now) <= self.now]
            if not due:
                return None
            first = min(due, key=lambda call: (call is self.just_queued, call.queued_at))
            if first.loop is None or not first.loop.guardrail(self.now):
                return self._begin(first)
            self._end(first.loop, first.loop.guardrail(self.now))
        return None

    def _begin(self, call: Call) -> Call:
        call.status, call.not_before = "running", None
        if call.loop is not None:
            call.loop.began = call.loop.began or self.now
        return call

    def settle(self, call: Call, token: str, attempt: int, said: Said) -> bool:
        """Whether it went back to the queue."""
        self.just_queued = None
        if call.status == "running" and call.token == token:
            if said.away and self.waits(call):
                self._put_back(call, said)
                return call.status == "queued"
            self._close(call, said)
        elif call.said is not None and call.said.lost and call.attempt == attempt and not call.came_late:
            call.came_late = bool(said.reply) or said.cost is not None
            call.late_reply = said.reply or call.late_reply
            call.late_cost = said.cost
        return False

    def patience_ends(self, call: Call) -> dt.datetime:
        ends = (call.away_since or self.now) + PATIENCE
        deadline = call.loop.deadline if call.loop else None
        return min(ends, deadline) if deadline else ends

    def waits(self, call: Call) -> bool:
        return self.now < self.patience_ends(call)

    def _put_back(self, call: Call, said: Said) -> None:
        call.in_vain += said.cost or 0
        if call.loop is not None:
            call.loop.in_vain += said.cost or 0
        call.status, call.token, call.attempt = "queued", "", call.attempt + 1
        call.away_since = call.away_since or self.now
        call.not_before = self.patience_ends(call)  # at the latest; the machine reads the moment itself
        if call.loop is not None and call.loop.guardrail(self.now):
            self._end(call.loop, call.loop.guardrail(self.now))
        if call.agent.archived:
            call.status = "cancelled"

    def _close(self, call: Call, said: Said) -> None:
        call.said = said
        call.status = "failed" if said.lost or said.away else said.status
        loop = call.loop
        if loop is None:
            return
        loop.history.append(said)
        reason = loop.reason_after_run(self.now)
        if reason:
            self._end(loop, reason)
        elif loop.delay:
            until = self.now + loop.delay
            loop.parked_until = min(until, loop.deadline) if loop.deadline else until
        else:
            self.just_queued = self.queue(loop.agent, loop)

    def _end(self, loop: Loop, reason: str) -> None:
        loop.reason, loop.parked_until = reason, None
        for call in loop.agent.calls:
            if call.loop is loop and call.status == "queued":
                call.status = "cancelled"

    def stop(self, loop: Loop) -> None:
        if loop.ended:
            return
        loop.stop_requested = True
        self._end_unless_in_flight(loop)

    def _end_unless_in_flight(self, loop: Loop) -> bool:
        in_flight = any(call.loop is loop and call.status == "running" for call in loop.agent.calls)
        if in_flight or not loop.guardrail(self.now):
            return False
        self._end(loop, loop.guardrail(self.now))
        return True

    def next_due_park(self) -> Loop | None:
        """The park that the sweep ends first."""
        due = [
            loop
            for loop in self.loops
            if loop.parked_until is not None
            and loop.parked_until <= self.now
            and (loop.agent.admits or (loop.deadline is not None and loop.deadline <= self.now))
        ]
        return min(due, key=lambda loop: loop.parked_until or self.now, default=None)

    def end_park(self, loop: Loop) -> None:
        if not self._end_unless_in_flight(loop):
            loop.parked_until = None
            self.queue(loop.agent, loop)

    def end_overdue(self) -> int:
        """Loops whose next run waits, beyond their deadline; how many there were."""
        waiting = [loop for loop in self.loops if not loop.ended and loop.parked_until is None]
        overdue = [loop for loop in waiting if loop.deadline is not None and loop.deadline <= self.now]
        return sum([self._end_unless_in_flight(loop) for loop in overdue])

    def archive(self, agent: Agent) -> None:
        agent.archived = True
        for loop in self.loops:
            if loop.agent is agent:
                self.stop(loop)
        for call in agent.calls:
            if call.status == "queued" and call.loop is None:
                call.status = "cancelled"
