"""What a person reads of turns and executions in a room: one function from facts and viewer to words; no query."""

from accounts.models import User
from accounts.viewers import Viewer
from agents.runtimes.base import ErrorKind
from executions.models import Execution
from executions.vocabulary import ExecutionStatus, Trigger, WaitReason
from executions.waiting import Wait
from trinity.kernel.errors import Broken
from workspace.models import Room, Turn
from workspace.vocabulary import CloseReason, TurnState, WorkKind, WorkOutcome

_OUTCOMES: dict[WorkOutcome, str] = {
    WorkOutcome.WAITING_FOR_SLOT: "Waiting for a slot",
    WorkOutcome.WAITING_FOR_MODEL: "Waiting for the model",
    WorkOutcome.WORKING: "Working",
    WorkOutcome.DONE: "Done",
    WorkOutcome.FAILED: "Failed",
    WorkOutcome.TIMED_OUT: "Timed out",
    WorkOutcome.STOPPED: "Stopped",
}
_KINDS: dict[WorkKind, str] = {
    WorkKind.YOU_ASKED: "You asked",
    WorkKind.HANDED_ON: "Handed on",
    WorkKind.LOOP_RUN: "Loop run",
    WorkKind.SCHEDULED: "Scheduled",
    WorkKind.REMINDER: "Reminder",
}
_KIND_OF: dict[Trigger, WorkKind] = {
    Trigger.LOOP: WorkKind.LOOP_RUN,
    Trigger.CHAT: WorkKind.YOU_ASKED,
    Trigger.API: WorkKind.YOU_ASKED,
    Trigger.MCP: WorkKind.YOU_ASKED,
    Trigger.SCHEDULE: WorkKind.SCHEDULED,
    Trigger.REMINDER: WorkKind.REMINDER,
}
_STATES: dict[TurnState, str] = {
    TurnState.BEHIND_OTHERS: "waiting for its turn",
    TurnState.SLOT: "waiting for a slot",
    TurnState.MODEL: "waiting for the model",
    TurnState.AGENT_STOPPED: "the agent is stopped",
    TurnState.WORKING: "working",
}


def kind_of(execution: Execution, turn: Turn | None) -> WorkKind:
    """How an execution of a room came to be."""
    if turn is not None and turn.asked_by_agent_id is not None:
        return WorkKind.HANDED_ON
    return _KIND_OF[Trigger(execution.trigger)]


def kind_text(kind: WorkKind, turn: Turn | None, viewer: Viewer) -> str:
    """The same for a person: what somebody else asked is not told as theirs."""
    if kind is WorkKind.YOU_ASKED and turn is not None and turn.asked_by is not None and turn.asked_by != viewer.user:
        return f"{_named(turn.asked_by)} asked"
    return _KINDS[kind]


def outcome_of(execution: Execution, wait: Wait | None) -> WorkOutcome:
    """The outcome word of an execution; one that has not begun says what it waits for."""
    match execution.status:
        case ExecutionStatus.QUEUED:
            waits_for_model = wait is not None and wait.reason is WaitReason.MODEL
            return WorkOutcome.WAITING_FOR_MODEL if waits_for_model else WorkOutcome.WAITING_FOR_SLOT
        case ExecutionStatus.RUNNING:
            return WorkOutcome.WORKING
        case ExecutionStatus.COMPLETED:
            return WorkOutcome.DONE
        case ExecutionStatus.TIMED_OUT:
            return WorkOutcome.TIMED_OUT
        case ExecutionStatus.CANCELLED:
            return WorkOutcome.STOPPED
        case ExecutionStatus.FAILED:
            return WorkOutcome.STOPPED if execution.error_kind == ErrorKind.ABANDONED else WorkOutcome.FAILED
    raise Broken(f"Execution {execution.pk} is {execution.status!r}, which has no word.")


def outcome_text(outcome: WorkOutcome, stopped_by: object, viewer: Viewer) -> str:
    """The same for a person; `stopped_by` is who stopped it, when it was a person and is known."""
    words = _OUTCOMES[outcome]
    if outcome is not WorkOutcome.STOPPED or not isinstance(stopped_by, User):
        return words
    return f"{words} by you" if stopped_by == viewer.user else f"{words} by {_named(stopped_by)}"


def state_of(turn: Turn, wait: Wait | None) -> TurnState:
    """What an unended turn waits for or does."""
    execution = turn.execution
    if execution is None:
        return TurnState.BEHIND_OTHERS
    if execution.in_flight:
        return TurnState.WORKING
    match wait.reason if wait is not None else None:
        case WaitReason.MODEL:
            return TurnState.MODEL
        case WaitReason.AGENT_STOPPED:
            return TurnState.AGENT_STOPPED
    return TurnState.SLOT


def state_text(state: TurnState, wait: Wait | None, activity: str) -> str:
    """The same for a member: until when, and what it does now. An outsider is told the state alone."""
    if state is TurnState.WORKING and activity:
        return f"{_STATES[state]}: {activity}"
    return wait.words if wait is not None and state is not TurnState.WORKING else _STATES[state]


def state_text_outside(state: TurnState) -> str:
    """What an outsider reads: what an agent does with its tools is not for them."""
    return _STATES[state]


def closed_text(room: Room, *, outside: bool) -> str:
    """Why the room takes no more messages; limits and costs are not an outsider's business."""
    match CloseReason(room.close_reason) if room.close_reason else None:
        case CloseReason.BY_SOMEBODY:
            return "This room is closed."
        case CloseReason.IDLE:
            return f"This room is closed: nobody wrote for {room.idle_hours} hours."
        case CloseReason.MAX_MESSAGES:
            return f"This room is closed: it has reached its {room.max_messages} messages."
        case CloseReason.COST_BUDGET:
            reached = "its limit" if outside else "its cost budget"
            return f"This room is closed: it has reached {reached}."
    return ""


def _named(user: object) -> str:
    return user.display_name if isinstance(user, User) else "somebody"
