"""What callers ask of executions: one call of an agent, and the end of a hung one; carries out neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.services import audit, forbidden
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.calls import refuse_impossible_call
from agents.models import EXECUTION_TIMEOUT_SECONDS, Agent
from agents.queries import owns
from executions import nudging
from executions.models import Execution
from executions.services import queue_execution, withdraw
from executions.step import AgentStep, agent_step
from executions.vocabulary import AbandonAnswer, ExecutionStatus, Trigger
from trinity.kernel import fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode

PROMPT_CHARACTERS = (1, 100_000)
MODEL_CHARACTERS = 200
TOOL_NAME_CHARACTERS = 200
ALLOWED_TOOLS = 200


@dataclass(frozen=True, slots=True)
class CallParameters:
    """One call as asked for. None means: the agent's own timeout, no restriction of tools."""

    prompt: str
    model: str = ""
    allowed_tools: tuple[str, ...] | None = None
    timeout_seconds: int | None = None


_FIELDS: dict[str, fields.Read] = {
    "prompt": lambda value: fields.text(value, *PROMPT_CHARACTERS),
    "model": lambda value: fields.text(value, 0, MODEL_CHARACTERS),
    "allowed_tools": lambda value: fields.texts(value, ALLOWED_TOOLS, TOOL_NAME_CHARACTERS),
    "timeout_seconds": lambda value: fields.integer(value, *EXECUTION_TIMEOUT_SECONDS),
}


def read_call(given: Mapping[str, Any]) -> CallParameters:
    """The fields of one call. Refused with every wrong one, its bound and what was found."""
    return CallParameters(**fields.read(given, _FIELDS, required=("prompt",)))


def call_agent_in(step: AgentStep, viewer: Viewer, asked: CallParameters, *, trigger: Trigger) -> Execution:
    """Queue one call of the step's agent. Refused when a limit is above the agent's, or it is not running."""
    agent = step.agent
    timeout = _timeout_within(agent, asked)
    refuse_impossible_call(agent, model=asked.model, allowed_tools=asked.allowed_tools)
    if not agent.running:
        raise agent_not_running(agent)
    execution = queue_execution(
        step,
        trigger=trigger,
        prompt=asked.prompt,
        timeout_seconds=timeout,
        model=asked.model,
        allowed_tools=list(asked.allowed_tools) if asked.allowed_tools is not None else None,
        started_by=viewer.user,
        started_by_key_id=viewer.key_id,
        source_agent_id=viewer.agent_id,
    )
    audit(AuditAction.EXECUTION_STARTED, f"execution:{execution.pk}", by=viewer)
    return execution


def abandon(viewer: Viewer, execution: Execution) -> AbandonAnswer:
    """End a hung run now: its whole tree is killed, and it fails as abandoned; one that waits is cancelled.

    For the owner and admins. Refused (conflict) when it has ended, and for a waiting run of a loop, which would only
    be queued again: the loop is what to stop. Safe to repeat while it runs.
    """
    if not owns(viewer, execution.agent):
        raise forbidden("Only the agent's owner or an admin may abandon its executions.")
    with agent_step(execution.agent_id) as step:
        found = Execution.objects.get(pk=execution.pk)
        answer = _abandon_in(step, found)
        if found.abandon_requested_at is None:
            Execution.objects.filter(pk=found.pk).update(abandon_requested_at=step.now)
            audit(AuditAction.EXECUTION_ABANDONED, f"execution:{found.pk}", by=viewer)
    if answer is AbandonAnswer.ABANDONING:
        nudging.tell_of_abandoned(step.agent.place)
    return answer


def _abandon_in(step: AgentStep, execution: Execution) -> AbandonAnswer:
    match execution.status:
        case ExecutionStatus.RUNNING:
            return AbandonAnswer.ABANDONING
        case ExecutionStatus.QUEUED if execution.loop_id:
            sentence = "This run of a loop waits; stop the loop instead."
            raise Refused(sentence, code=RefusalCode.CONFLICT, facts={"loop_id": execution.loop_id})
        case ExecutionStatus.QUEUED:
            withdraw(step, execution)
            return AbandonAnswer.CANCELLED
        case _:
            raise Refused(f"The execution has ended: it is {execution.status}.", code=RefusalCode.CONFLICT)


def agent_not_running(agent: Agent) -> Refused:
    """A stopped or archived agent takes nothing new (section 2)."""
    sentence = "is archived and takes nothing new." if agent.archived_at else f"is {agent.status}; start it first."
    return Refused(f"The agent {agent.name} {sentence}", code=RefusalCode.CONFLICT)


def _timeout_within(agent: Agent, asked: CallParameters) -> int:
    cap = agent.execution_timeout_seconds
    timeout = asked.timeout_seconds if asked.timeout_seconds is not None else cap
    if timeout > cap:
        raise refused_field(
            "timeout_seconds",
            f"Must be at most the agent's execution timeout: {cap} s (asked: {timeout} s).",
            agent_cap_seconds=cap,
            requested_seconds=timeout,
        )
    return timeout
