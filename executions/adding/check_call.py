"""One call that shows whether a new agent works: asked for here, carried out as any other, told in plain words.

What it says of a failure is the execution's own sentence; it judges nothing a second time.
"""

from dataclasses import dataclass
from enum import StrEnum

from accounts.viewers import Viewer
from agents.models import Agent
from agents.runtimes.base import ErrorKind
from executions.models import Execution
from executions.requests import CallParameters, call_agent_in
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus, Trigger, WaitReason
from executions.waiting import Wait, wait_of
from trinity.kernel import clock
from trinity.kernel.durations import milliseconds_text
from trinity.kernel.money import dollars_text
from trinity.kernel.text import first_line

PROMPT = "This is a check by Trinity whether you can be called. Use no tool. Reply with one word: ready"
SECONDS = 300  # Claude Code alone asks a model that is away for three minutes
SAID_CHARACTERS = 120


class CheckState(StrEnum):
    """How far a check call has come."""

    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of a check call now."""

    state: CheckState
    sentence: str
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    wait: Wait | None = None

    @property
    def ended(self) -> bool:
        return self.state in (CheckState.READY, CheckState.FAILED)

    @property
    def stands_still(self) -> bool:
        """Whether it may take long: its model is away, or its agent is stopped."""
        return self.wait is not None and self.wait.reason in (WaitReason.MODEL, WaitReason.AGENT_STOPPED)


def start_check(viewer: Viewer, agent: Agent) -> Execution:
    """Queue the check call. Refused when the agent is not running."""
    asked = CallParameters(prompt=PROMPT, timeout_seconds=min(SECONDS, agent.execution_timeout_seconds))
    with agent_step(agent.pk) as step:
        return call_agent_in(step, viewer, asked, trigger=Trigger.API)


def is_check(execution: Execution) -> bool:
    """Whether an execution is a check call."""
    return execution.prompt == PROMPT


def look_at(execution: Execution) -> Check:
    """How the check stands; the execution's agent must be loaded."""
    match execution.status:
        case ExecutionStatus.QUEUED:
            wait = wait_of(execution, clock.now())
            return Check(CheckState.WAITING, _sentence(wait.words if wait else "waiting"), wait=wait)
        case ExecutionStatus.RUNNING:
            return Check(CheckState.RUNNING, "The agent is called, and has not answered yet.")
        case ExecutionStatus.COMPLETED:
            took = milliseconds_text(execution.duration_ms)
            return Check(CheckState.READY, f"It answered in {took}.", _facts(execution), tuple(execution.notes))
        case _:
            return Check(CheckState.FAILED, _why(execution), _facts(execution), tuple(execution.notes))


def _why(execution: Execution) -> str:
    if execution.error_kind == ErrorKind.AUTH and (names := execution.agent.runtime_settings.get("env")):
        return f"{execution.error} It gets {', '.join(names)} from the server: is it set there?"
    return execution.error or f"It ended as {execution.status}."


def _facts(execution: Execution) -> tuple[tuple[str, str], ...]:
    facts = (
        ("it said", first_line(execution.response, SAID_CHARACTERS)),
        ("model", execution.used_model),
        ("a call costs", _cost(execution)),
        ("refused tools", ", ".join(execution.permission_denials)),
    )
    return tuple((name, value) for name, value in facts if value)


def _cost(execution: Execution) -> str:
    if execution.cost_nano is None:
        answered = execution.status == ExecutionStatus.COMPLETED
        return "unknown: it tells no cost, and its model has no known price" if answered else ""
    estimate = " (an estimate)" if execution.cost_estimated else ""
    return f"{dollars_text(execution.cost_nano)}{estimate}, when it does nothing else"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
