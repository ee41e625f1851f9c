"""What a loop does when one of its executions begins, waits or ends; runs inside the step of `executions`."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from agents.runtimes.base import Outcome
from executions import receivers
from executions.columns import attempt_cost
from executions.models import Execution
from executions.step import AgentStep
from executions.vocabulary import Trigger
from loops import services
from loops.decisions import End, RunOutcome, after_call_in_vain, after_run, before_run
from loops.models import Loop
from loops.record import record_of
from loops.vocabulary import EventKind, LoopStatus
from trinity.kernel import rows
from trinity.kernel.statements import Statement
from trinity.kernel.text import clean


class LoopReceiver:
    """Carries a loop from one run to the next."""

    def reads(self, execution: Execution) -> Mapping[str, Statement]:
        return {execution.loop_id: rows.reading(Loop, execution.loop_id)}

    def may_begin(self, step: AgentStep, execution: Execution) -> bool:
        """Rules 5–7 once more: a run that waited may have been overtaken by a guardrail."""
        record = record_of(step, execution.loop_id)
        decision = before_run(record.loop.facts(step.now))
        if not isinstance(decision, End):
            return True
        services.take_back_run(execution)
        record.end(decision)
        return False

    def begun(self, step: AgentStep, execution: Execution) -> None:
        record = record_of(step, execution.loop_id)
        if record.loop.status == LoopStatus.QUEUED:
            record.begin()
        record.happened(EventKind.LOOP_RUN_STARTED, execution, attempt=execution.attempt)

    def waits(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        """A stop that came during the call ends the loop here; nothing else would, until the model is back."""
        record = record_of(step, execution.loop_id)
        record.set_counters(after_call_in_vain(record.loop.facts(step.now), attempt_cost(outcome)))
        if services.end_waiting(record, execution):
            return
        until = execution.not_before.isoformat() if execution.not_before else None
        record.happened(EventKind.LOOP_RUN_WAITING, execution, until=until, why=execution.waits_for_model)

    def patience_ends(self, step: AgentStep, execution: Execution) -> dt.datetime | None:
        return record_of(step, execution.loop_id).loop.deadline_at

    def ended(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        """Rules 1–9, in the transaction of the outcome. They read the whole reply; what is kept may be cut."""
        record = record_of(step, execution.loop_id)
        facts, decision = after_run(
            record.loop.facts(step.now),
            RunOutcome(
                outcome.succeeded,
                clean(outcome.response),
                attempt_cost(outcome),  # what earlier attempts cost is spent already
                execution.error or "no reason given",
            ),
        )
        record.set_counters(replace(facts, last_response=execution.response) if outcome.succeeded else facts)
        record.happened(EventKind.LOOP_RUN_COMPLETED, execution, status=execution.status)
        services.carry_on(record, decision)

    def withdrawn(self, step: AgentStep, execution: Execution) -> None:
        """Whoever withdraws a run has ended its loop, or is about to."""

    def graded(self, step: AgentStep, execution: Execution) -> None:
        """A verdict raises the version only; also of an ended loop."""
        record_of(step, execution.loop_id).happened(EventKind.LOOP_RUN_GRADED, execution)


def register() -> None:
    """Tell `executions` about loops; called once, at start."""
    receivers.register(Trigger.LOOP, LoopReceiver())
    receivers.register_repair("parks", services.end_due_parks)
    receivers.register_repair("deadlines", services.end_overdue_waits)
