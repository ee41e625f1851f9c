"""Words of loops: statuses with their legal moves, reasons, policies, kinds of event."""

from enum import StrEnum


class LoopStatus(StrEnum):
    """Where a loop is in its life (section 2)."""

    QUEUED = "queued"  # until run 1 gets its slot
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # known from old records, never written


_ENDINGS = frozenset({LoopStatus.COMPLETED, LoopStatus.COMPLETED_WITH_ERRORS, LoopStatus.STOPPED, LoopStatus.FAILED})
# A queued loop can only be stopped: no deadline runs and no money is spent before it began.
LEGAL_MOVES: dict[LoopStatus, frozenset[LoopStatus]] = {
    LoopStatus.QUEUED: frozenset({LoopStatus.RUNNING, LoopStatus.STOPPED}),
    LoopStatus.RUNNING: _ENDINGS,
    LoopStatus.COMPLETED: frozenset(),
    LoopStatus.COMPLETED_WITH_ERRORS: frozenset(),
    LoopStatus.STOPPED: frozenset(),
    LoopStatus.FAILED: frozenset(),
    LoopStatus.INTERRUPTED: frozenset(),
}
ENDED = frozenset(status for status, after in LEGAL_MOVES.items() if not after)
ACTIVE = frozenset(LEGAL_MOVES) - ENDED


class StopReason(StrEnum):
    """What ended a loop."""

    MAX_RUNS_REACHED = "max_runs_reached"
    STOP_SIGNAL_MATCHED = "stop_signal_matched"
    USER_STOPPED = "user_stopped"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    BUDGET_EXHAUSTED = "budget_exhausted"
    NO_PROGRESS = "no_progress"
    ERROR = "error"
    MAX_CONSECUTIVE_FAILURES = "max_consecutive_failures"
    INTERRUPTED = "interrupted"  # known from old records, never written


class OnFailure(StrEnum):
    """The failure policy."""

    ABORT = "abort"
    CONTINUE = "continue"


class EventKind(StrEnum):
    """What can happen to a loop: the kinds of its event rows and of its live events."""

    LOOP_STARTED = "loop_started"
    LOOP_RUN_STARTED = "loop_run_started"
    LOOP_RUN_WAITING = "loop_run_waiting"
    LOOP_RUN_COMPLETED = "loop_run_completed"
    LOOP_RUN_GRADED = "loop_run_graded"
    LOOP_PARKED = "loop_parked"
    LOOP_STOP_REQUESTED = "loop_stop_requested"
    LOOP_COMPLETED = "loop_completed"


class StopAnswer(StrEnum):
    """What a stop request is answered."""

    STOPPING = "stopping"
    ALREADY_DONE = "already_done"
