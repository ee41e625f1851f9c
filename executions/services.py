"""Writes of executions: queue, admit and claim, settle, put back, withdraw; starts no process.

Admission and claim are one guarded move (ADR 2): a worker that has room takes the agent's oldest due execution under
the agent's lock, so a row is either waiting or claimed, and no message has to arrive in between.
"""

import datetime as dt
import random
import secrets
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from agents.runtimes.base import Away, ErrorKind, Outcome
from executions import trajectory
from executions.columns import cost_columns, duration_column, outcome_columns, reply_columns
from executions.decisions import AwayFacts, wait_until
from executions.lease import lease_end, lease_end_sql
from executions.line import asking_for_next, next_in_line
from executions.models import Execution
from executions.receivers import receiver_of
from executions.step import AgentStep, agent_step
from executions.telling import ExecutionEvent, tell
from executions.vocabulary import ExecutionStatus, Trigger
from trinity.kernel import clock, rows
from trinity.kernel.statements import Statement, carry_out

ENDED, LINE = "ended", "line"  # what is asked together with the lock


CAME_LATE = "Its outcome came after it had been given up: the reply and the cost are from then."


@dataclass(frozen=True, slots=True)
class Claimant:
    """A worker as a claim names it."""

    worker: str
    host: str
    spool_id: str
    place: str
    lease_seconds: float


def queue_execution(step: AgentStep, *, trigger: Trigger, prompt: str, timeout_seconds: int, **more: Any) -> Execution:
    """Make an execution that waits for a slot of the step's agent. `more` are further columns."""
    execution = Execution(
        agent=step.agent,
        trigger=trigger,
        prompt=prompt,
        timeout_seconds=timeout_seconds,
        queued_at=step.now,
        **more,
    )
    step.new[execution.pk] = execution
    step.work_is_left = True
    tell(step, execution, ExecutionEvent.EXECUTION_QUEUED)
    return execution


def admit(step: AgentStep, claimant: Claimant) -> Execution | None:
    """Give the agent's oldest due execution a free slot and the claim to `claimant`; None when nothing may begin.

    First come first served over all triggers (section 2). One whose guardrails forbid it now is withdrawn by its
    receiver, and the next in line is asked.
    """
    agent = step.agent
    if not agent.running or agent.place != claimant.place:
        return None
    while (execution := _next_in_line(step, agent)) is not None:
        if receiver_of(execution).may_begin(step, execution):
            _claim(step, execution, claimant)
            receiver_of(execution).begun(step, execution)
            tell(step, execution, ExecutionEvent.EXECUTION_STARTED)
            return execution
        withdraw(step, execution)
    return None


def _next_in_line(step: AgentStep, agent: Agent) -> Execution | None:
    """The oldest due execution, when a slot is free; those of this very step come last."""
    line = step.ahead.pop(LINE, None) or carry_out(asking_for_next(agent.pk, step.now))[0]
    slots_taken, oldest = next_in_line(line)
    new = next((one for one in step.new.values() if one.waiting), None)
    execution = oldest or new
    if slots_taken >= agent.max_parallel_tasks or execution is None:
        step.work_is_left = False
        return None
    execution.agent = agent
    return execution


def _claim(step: AgentStep, execution: Execution, claimant: Claimant) -> None:
    columns: dict[str, Any] = {
        "status": ExecutionStatus.RUNNING,
        "started_at": step.now,
        "not_before": None,
        "waits_for_model": "",
        "claim_token": secrets.token_hex(16),
        "worker": claimant.worker,
        "host": claimant.host,
        "spool_id": claimant.spool_id,
    }
    columns["lease_until"] = lease_end_sql(claimant.lease_seconds)
    if execution.pk not in step.new:
        step.changes.append(_move_of_waiting(execution, columns))
    _remember(execution, columns)


def take(agent_id: int, claimant: Claimant) -> Execution | None:
    """Admit and claim the agent's next execution, if one may begin; safe to call at any time, from anywhere."""
    with agent_step(agent_id, {LINE: asking_for_next(agent_id, clock.now())}) as step:
        execution = admit(step, claimant)
        step.work_is_left = False  # the caller asks again until there is none
    return execution


def settle(execution: Execution, outcome: Outcome, claimant: Claimant | None = None) -> Execution | None:
    """Write the outcome of a claimed execution, let its parent go on, and claim the agent's next one.

    All in one transaction, guarded by the claim's token: whoever lost the claim writes only the text and cost of a
    lost execution. Returns the next execution, which the same worker goes on with, or None.
    """
    ending = _ending_columns(execution, outcome)
    ahead = dict(receiver_of(execution).reads(execution))
    if outcome.away is None:  # else it has to be weighed first
        ahead = {ENDED: _end(execution, ending), **ahead}
        if claimant is not None:
            ahead[LINE] = asking_for_next(execution.agent_id, ending["ended_at"])
    with agent_step(execution.agent_id, ahead) as step:
        if outcome.away and (until := _worth_waiting(step, execution, outcome.away)):
            moved = _put_back(step, execution, outcome, until)
        else:
            moved = _has_ended(step, execution, outcome, ending)
        if not moved:
            _keep_late_outcome(execution, outcome)
        following = admit(step, claimant) if claimant is not None else None
        if following is not None:
            step.work_is_left = False
    return following


def _ending_columns(execution: Execution, outcome: Outcome) -> dict[str, Any]:
    now = clock.now()
    seen = execution.running_for(now)
    return {
        **outcome_columns(outcome),
        **cost_columns(execution, outcome),
        "ended_at": now,
        "duration_ms": duration_column(outcome, otherwise_ms=round(seen.total_seconds() * 1000)),
        "lease_until": None,
        "activity": "",
    }


def _end(execution: Execution, ending: dict[str, Any]) -> Statement:
    return rows.change(Execution, _claim_of(execution), ending)


def _has_ended(step: AgentStep, execution: Execution, outcome: Outcome, ending: dict[str, Any]) -> bool:
    ended = step.ahead.pop(ENDED, None) or carry_out(_end(execution, ending))[0]
    if not ended.moved:
        return False
    _remember(execution, ending)
    if outcome.steps:
        step.changes.append(rows.insertion(trajectory.packed(execution, outcome.steps)))
    tell(step, execution, ExecutionEvent.EXECUTION_ENDED)
    receiver_of(execution).ended(step, execution, outcome)
    return True


def _worth_waiting(step: AgentStep, execution: Execution, away: Away) -> dt.datetime | None:
    agent = step.agent
    patience = agent.runtime_settings.get("unavailable_patience_seconds", 0)
    return wait_until(
        AwayFacts(
            now=step.now,
            away_since=execution.away_since or step.now,
            tries=execution.attempt,
            named_until=away.until,
            patience=dt.timedelta(seconds=patience),
            parent_ends=receiver_of(execution).patience_ends(step, execution),
            jitter=random.random(),  # noqa: S311 — spreads waiting agents, guards nothing
        )
    )


def _put_back(step: AgentStep, execution: Execution, outcome: Outcome, until: dt.datetime) -> bool:
    cost = cost_columns(execution, outcome)
    columns: dict[str, Any] = {
        "cost_nano": cost["cost_nano"] or None,  # a call in vain that was free says nothing of the run's cost
        "cost_estimated": cost["cost_estimated"],
        "status": ExecutionStatus.QUEUED,
        "not_before": until,
        "waits_for_model": outcome.away.kind if outcome.away else "",
        "away_since": execution.away_since or step.now,
        "attempt": execution.attempt + 1,  # each attempt has a spool folder of its own
        "started_at": None,  # waiting is not working: the next attempt's time counts from its own start
        "claim_token": "",
        "worker": "",
        "host": "",
        "spool_id": "",
        "lease_until": None,
        "activity": "",
    }
    if not Execution.objects.filter(**_claim_of(execution)).update(**columns):
        return False
    _remember(execution, columns)
    tell(step, execution, ExecutionEvent.EXECUTION_WAITING)
    receiver_of(execution).waits(step, execution, outcome)
    if step.agent.archived_at is not None and execution.waiting:  # it was archived meanwhile: nobody would take it
        withdraw(step, execution)
    return True


def withdraw(step: AgentStep, execution: Execution) -> None:
    """Cancel an execution that has not begun; its row stays."""
    columns = {
        "status": ExecutionStatus.CANCELLED,
        "ended_at": step.now,
        "not_before": None,
        "waits_for_model": "",
    }
    if execution.pk not in step.new:
        carry_out(_move_of_waiting(execution, columns))  # now: who is next is asked again within this step
        step.ahead.pop(LINE, None)
    _remember(execution, columns)
    tell(step, execution, ExecutionEvent.EXECUTION_ENDED)
    receiver_of(execution).withdrawn(step, execution)


def _move_of_waiting(execution: Execution, columns: dict[str, Any]) -> Statement:
    """Under the agent's lock nobody else can have moved it."""
    waiting = {"pk": execution.pk, "status": ExecutionStatus.QUEUED}
    return rows.change(Execution, waiting, columns, f"Execution {execution.pk} changed outside its agent's lock.")


def take_over(execution: Execution, claimant: Claimant) -> bool:
    """Take the claim of a worker that is gone, judged by `execution` as it was read from the database.

    False when somebody else was faster, it ended meanwhile, or its worker was only late and has renewed its lease:
    two workers would carry it out.
    """
    with agent_step(execution.agent_id) as step:
        columns = {
            "claim_token": secrets.token_hex(16),
            "worker": claimant.worker,
            "host": claimant.host,
            "spool_id": execution.spool_id or claimant.spool_id,
        }
        as_judged = Execution.objects.filter(**_claim_of(execution), lease_until=execution.lease_until)
        moved = as_judged.update(**columns, lease_until=lease_end(claimant.lease_seconds))
        if moved:
            _remember(execution, columns)
            execution.agent = step.agent
    return bool(moved)


def _claim_of(execution: Execution) -> dict[str, Any]:
    """The row as long as this claim holds: every write of an outcome goes through this guard."""
    return {"pk": execution.pk, "status": ExecutionStatus.RUNNING, "claim_token": execution.claim_token}


def _keep_late_outcome(execution: Execution, outcome: Outcome) -> None:
    """A lost execution whose outcome arrives after all keeps its status, and gets the text and the cost.

    The first one counts, and a note says so. A silent one does not wipe out what was saved of the lost run's output.
    """
    kept = reply_columns(outcome) | cost_columns(execution, outcome) | {"notes": [CAME_LATE]}
    if not kept["response"]:
        del kept["response"]
    if outcome.cost_nano is None and "response" not in kept:
        return
    lost = Execution.objects.filter(pk=execution.pk, attempt=execution.attempt, error_kind=ErrorKind.LOST)
    lost.filter(status=ExecutionStatus.FAILED, notes=[]).update(**kept)


def _remember(execution: Execution, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        setattr(execution, name, value)
