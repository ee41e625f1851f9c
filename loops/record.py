"""Writes what happened to one loop inside one step: gathered, then written once; decides nothing."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from executions.models import Execution
from executions.step import AgentStep
from loops.decisions import End, LoopFacts, Park
from loops.models import COUNTERS, Loop, LoopEvent
from loops.vocabulary import EventKind, LoopStatus
from trinity.kernel import rows
from trinity.kernel.errors import Broken
from trinity.kernel.live import LiveEvent
from trinity.kernel.money import to_dollars
from trinity.kernel.statements import Statement, carry_out


@dataclass(slots=True)
class LoopRecord:
    """One loop under its agent's lock. Each event raises `version`, which is the newest event's sequence."""

    step: AgentStep
    loop: Loop
    columns: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)

    def set(self, **columns: Any) -> None:
        """Change columns of the loop; written at the end of the step. Broken when the loop is over already."""
        if self.loop.ended and columns.keys() != {"version"}:
            raise Broken(f"Loop {self.loop.pk} ended as {self.loop.status}; {sorted(columns)} cannot change any more.")
        for name, value in columns.items():
            setattr(self.loop, name, value)
        self.columns |= columns

    def set_counters(self, facts: LoopFacts) -> None:
        """Take over what the rules moved."""
        before = self.loop
        moved = {name: getattr(facts, name) for name in COUNTERS if getattr(facts, name) != getattr(before, name)}
        self.set(**moved)

    def happened(self, kind: EventKind, execution: Execution | None = None, *, by: str = "", **facts: Any) -> None:
        """Leave an event row, and the live event that mirrors it."""
        self.set(version=self.loop.version + 1)
        if execution is not None:
            facts = {"run_number": execution.run_number, "execution_id": execution.pk, **facts}
        self.events.append(
            {
                "loop_id": self.loop.pk,
                "sequence": self.loop.version,
                "kind": kind,
                "facts": facts,
                "by": by,
                "at": self.step.now,
            }
        )
        body = live_body(self.loop, self.step.agent.name, kind, execution, self.step.now)
        self.step.live_events.append(live_event(self.loop, body))

    def begin(self) -> None:
        """Run 1 got its slot: the loop runs, and its deadline is known."""
        now = self.step.now
        limit = self.loop.max_duration_seconds
        self.set(
            status=LoopStatus.RUNNING,
            started_at=now,
            deadline_at=now + dt.timedelta(seconds=limit) if limit else None,
        )

    def park(self, decision: Park) -> None:
        self.set(next_run_at=decision.until)
        self.happened(EventKind.LOOP_PARKED, until=decision.until.isoformat())

    def end(self, decision: End) -> None:
        """The loop is over; nothing of it changes afterwards but its version."""
        self.set(
            status=decision.status,
            stop_reason=decision.reason,
            error=decision.error,
            completed_at=self.step.now,
            next_run_at=None,
        )
        self.happened(EventKind.LOOP_COMPLETED, status=decision.status, reason=decision.reason)

    def changes(self) -> list[Statement]:
        """All changes in one guarded update, or the new loop in one insert; and all events in another."""
        if not self.events:
            if self.columns:
                raise Broken(f"Loop {self.loop.pk}: {sorted(self.columns)} changed without an event.")
            return []
        changes = [self._loop_itself(), rows.insertion_of(LoopEvent, self.events)]
        self.columns, self.events = {}, []
        return changes

    def _loop_itself(self) -> Statement:
        if self.loop._state.adding:
            return rows.insertion(self.loop)
        as_read = {"pk": self.loop.pk, "version": self.loop.version - len(self.events)}
        return rows.change(Loop, as_read, self.columns, f"Loop {self.loop.pk} changed outside its agent's lock.")


def record_of(step: AgentStep, loop_id: str) -> LoopRecord:
    """The step's one record of this loop; the row is read once, under the lock."""
    if loop_id not in step.records:
        answer = step.ahead.pop(loop_id, None) or carry_out(rows.reading(Loop, loop_id))[0]
        loop = rows.row_in(Loop, answer)
        if loop is None:
            raise Broken(f"Loop {loop_id} is gone; loops are never deleted.")
        record_in(step, loop)
    found: LoopRecord = step.records[loop_id]
    return found


def record_in(step: AgentStep, loop: Loop) -> LoopRecord:
    """The step's record of a loop at hand, be it new or read under the lock."""
    record = LoopRecord(step, loop)
    step.records[loop.pk] = record
    step.writers.append(record.changes)
    return record


def live_event(loop: Loop, body: dict[str, Any]) -> LiveEvent:
    """Who hears of it: whoever may see the agent, and the members in the room that the loop was started from."""
    event: LiveEvent = {"agent_id": loop.agent_id, "body": body}
    if loop.room_id:
        event["room_id"] = loop.room_id
    return event


def live_body(
    loop: Loop, agent_name: str, kind: EventKind, execution: Execution | None, at: dt.datetime
) -> dict[str, Any]:
    """What the sockets get (section 2, "Live events"): no prompt and no reply."""
    return {
        "type": str(kind),
        "loop_id": loop.pk,
        "agent_name": agent_name,
        "version": loop.version,
        "status": str(loop.status),
        "stop_reason": str(loop.stop_reason) or None,
        "runs_completed": loop.runs_completed,
        "failed_runs": loop.failed_runs,
        "run_number": execution.run_number if execution else None,
        "execution_id": execution.pk if execution else None,
        "run_status": str(execution.status) if execution else None,
        "cost_usd": to_dollars(execution.cost_nano) if execution else to_dollars(loop.spent_nano),
        "duration_ms": execution.duration_ms if execution else None,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
    }
