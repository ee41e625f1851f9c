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
from executions.line import next_in_line
from executions.models import Execution
from executions.receivers import receiver_of
from executions.step import AgentStep, agent_step
from executions.vocabulary import ExecutionStatus, Trigger
from trinity.kernel import rows
from trinity.kernel.errors import Broken


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
            return execution
        withdraw(step, execution)
    return None


def _next_in_line(step: AgentStep, agent: Agent) -> Execution | None:
    """The oldest due execution, when a slot is free; those of this very step come last."""
    slots_taken, oldest = next_in_line(agent.pk, step.now)
    new = next((one for one in step.new.values() if one.waiting), None)
    if slots_taken >= agent.max_parallel_tasks or (oldest is None and new is None):
        step.work_is_left = False
        return None
    execution = new if oldest is None else rows.read(Execution, oldest)
    if execution is None:
        raise Broken(f"Execution {oldest} is gone; executions are never deleted.")
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
    _move_waiting(step, execution, columns | {"lease_until": lease_end_sql(claimant.lease_seconds)})


def take(agent_id: int, claimant: Claimant) -> Execution | None:
    """Admit and claim the agent's next execution, if one may begin; safe to call at any time, from anywhere."""
    with agent_step(agent_id) as step:
        execution = admit(step, claimant)
        step.work_is_left = False  # the caller asks again until there is none
    return execution


def settle(execution: Execution, outcome: Outcome, claimant: Claimant | None = None) -> Execution | None:
    """Write the outcome of a claimed execution, let its parent go on, and claim the agent's next one.

    All in one transaction, guarded by the claim's token: whoever lost the claim writes only the text and cost of a
    lost execution. Returns the next execution, which the same worker goes on with, or None.
    """
    with agent_step(execution.agent_id) as step:
        if outcome.away and (until := _worth_waiting(step, execution, outcome.away)):
            moved = _put_back(step, execution, outcome, until)
        else:
            moved = _end(step, execution, outcome)
        if not moved:
            _keep_late_outcome(execution, outcome)
        following = admit(step, claimant) if claimant is not None else None
        if following is not None:
            step.work_is_left = False
    return following


def _end(step: AgentStep, execution: Execution, outcome: Outcome) -> bool:
    seen = execution.running_for(step.now)
    columns = (
        outcome_columns(outcome)
        | cost_columns(execution, outcome)
        | {
            "ended_at": step.now,
            "duration_ms": duration_column(outcome, otherwise_ms=round(seen.total_seconds() * 1000)),
            "lease_until": None,
            "activity": "",
        }
    )
    if not rows.update(Execution, _claim_of(execution), columns):
        return False
    _remember(execution, columns)
    trajectory.store(execution, outcome.steps)
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
    receiver_of(execution).waits(step, execution, outcome)
    return True


def withdraw(step: AgentStep, execution: Execution) -> None:
    """Cancel an execution that has not begun; its row stays."""
    columns = {
        "status": ExecutionStatus.CANCELLED,
        "ended_at": step.now,
        "not_before": None,
        "waits_for_model": "",
    }
    _move_waiting(step, execution, columns)


def _move_waiting(step: AgentStep, execution: Execution, columns: dict[str, Any]) -> None:
    """Under the agent's lock nobody else can have moved it. Were it so, `admit` would ask for it for ever."""
    waiting = {"pk": execution.pk, "status": ExecutionStatus.QUEUED}
    if execution.pk not in step.new and not rows.update(Execution, waiting, columns):
        raise Broken(f"Execution {execution.pk} changed outside its agent's lock.")
    _remember(execution, columns)


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

    A silent one does not wipe out what was saved of the lost run's output.
    """
    kept = reply_columns(outcome) | cost_columns(execution, outcome)
    if not kept["response"]:
        del kept["response"]
    lost = Execution.objects.filter(pk=execution.pk, attempt=execution.attempt, error_kind=ErrorKind.LOST)
    lost.filter(status=ExecutionStatus.FAILED, cost_nano=execution.cost_nano).update(**kept)


def _remember(execution: Execution, columns: dict[str, Any]) -> None:
    for name, value in columns.items():
        setattr(execution, name, value)
