"""Words of executions: statuses with their legal moves, triggers and their categories, why one waits."""

from enum import StrEnum

from trinity.kernel.vocabulary import Tone


class ExecutionStatus(StrEnum):
    """Where an execution is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


# From each status, what may follow. `running → queued` is a model that was away (section 3).
LEGAL_MOVES: dict[ExecutionStatus, frozenset[ExecutionStatus]] = {
    ExecutionStatus.QUEUED: frozenset({ExecutionStatus.RUNNING, ExecutionStatus.CANCELLED}),
    ExecutionStatus.RUNNING: frozenset(
        {
            ExecutionStatus.COMPLETED,
            ExecutionStatus.FAILED,
            ExecutionStatus.TIMED_OUT,
            ExecutionStatus.QUEUED,
        }
    ),
    ExecutionStatus.COMPLETED: frozenset(),
    ExecutionStatus.FAILED: frozenset(),
    ExecutionStatus.TIMED_OUT: frozenset(),
    ExecutionStatus.CANCELLED: frozenset(),
}
ENDED = frozenset(status for status, after in LEGAL_MOVES.items() if not after)
UNENDED = frozenset(LEGAL_MOVES) - ENDED

TONES: dict[ExecutionStatus, Tone] = {
    ExecutionStatus.QUEUED: Tone.ACTIVE,
    ExecutionStatus.RUNNING: Tone.ACTIVE,
    ExecutionStatus.COMPLETED: Tone.OK,
    ExecutionStatus.FAILED: Tone.BAD,
    ExecutionStatus.TIMED_OUT: Tone.BAD,
    ExecutionStatus.CANCELLED: Tone.NEUTRAL,
}


class Trigger(StrEnum):
    """What made an execution."""

    LOOP = "loop"
    CHAT = "chat"
    API = "api"
    MCP = "mcp"
    SCHEDULE = "schedule"
    REMINDER = "reminder"


class Category(StrEnum):
    """How triggers are grouped wherever they are shown; each has a colour of its own in the style sheet."""

    LOOPS = "Loops"
    CHAT = "Chat"
    CALLS = "API and MCP"
    SCHEDULED = "Scheduled"
    REMINDERS = "Reminders"


CATEGORY_OF: dict[Trigger, Category] = {
    Trigger.LOOP: Category.LOOPS,
    Trigger.CHAT: Category.CHAT,
    Trigger.API: Category.CALLS,
    Trigger.MCP: Category.CALLS,
    Trigger.SCHEDULE: Category.SCHEDULED,
    Trigger.REMINDER: Category.REMINDERS,
}


class VerdictFilter(StrEnum):
    """What at least one grader says of an execution, for lists."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


class WaitReason(StrEnum):
    """Why a queued execution has not begun."""

    SLOT = "slot"
    MODEL = "model"
    AGENT_STOPPED = "agent_stopped"
    WORKER = "worker"


class AbandonAnswer(StrEnum):
    """What a request to abandon an execution is answered."""

    ABANDONING = "abandoning"
    CANCELLED = "cancelled"
