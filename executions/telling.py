"""Live events of executions that no loop tells of: single calls, chats, reminders. Writes nothing, decides nothing.

A loop's runs are told by the loop's own events (section 2). These carry no prompt and no reply either.
"""

from enum import StrEnum
from typing import Any

from executions.models import Execution
from executions.step import AgentStep
from trinity.kernel.clock import wire_time
from trinity.kernel.money import to_dollars


class ExecutionEvent(StrEnum):
    """What can happen to an execution."""

    EXECUTION_QUEUED = "execution_queued"
    EXECUTION_STARTED = "execution_started"
    EXECUTION_WAITING = "execution_waiting"  # its model is away
    EXECUTION_ENDED = "execution_ended"
    EXECUTION_GRADED = "execution_graded"


def tell(step: AgentStep, execution: Execution, kind: ExecutionEvent) -> None:
    """Let whoever may see the agent hear of it after the step's commit."""
    if execution.loop_id:
        return
    step.live_events.append({"agent_id": step.agent.pk, "body": _body(step, execution, kind)})


def _body(step: AgentStep, execution: Execution, kind: ExecutionEvent) -> dict[str, Any]:
    return {
        "type": str(kind),
        "execution_id": execution.pk,
        "agent_name": step.agent.name,
        "trigger": str(execution.trigger),
        "status": str(execution.status),
        "cost_usd": to_dollars(execution.cost_nano),
        "duration_ms": execution.duration_ms,
        "timestamp": wire_time(step.now),
    }
