"""What a person reads of a loop: one function from status, reason and viewer to words and tone."""

from dataclasses import dataclass

from loops.vocabulary import LoopStatus, StopReason
from trinity.kernel.vocabulary import Tone


@dataclass(frozen=True, slots=True)
class Words:
    """`badge` and `reason` for operators, `workspace` for the rail."""

    badge: str
    reason: str
    workspace: str
    tone: Tone


_BADGES: dict[LoopStatus, tuple[str, Tone]] = {
    LoopStatus.QUEUED: ("queued", Tone.ACTIVE),
    LoopStatus.RUNNING: ("running", Tone.ACTIVE),
    LoopStatus.COMPLETED: ("completed", Tone.OK),
    LoopStatus.COMPLETED_WITH_ERRORS: ("completed with errors", Tone.WARN),
    LoopStatus.STOPPED: ("stopped", Tone.WARN),
    LoopStatus.FAILED: ("failed", Tone.BAD),
    LoopStatus.INTERRUPTED: ("interrupted", Tone.WARN),
}
_REASONS: dict[StopReason, str] = {
    StopReason.MAX_RUNS_REACHED: "reached max runs",
    StopReason.STOP_SIGNAL_MATCHED: "stop signal matched",
    StopReason.USER_STOPPED: "stopped by user",
    StopReason.BUDGET_EXHAUSTED: "budget exhausted",
    StopReason.DEADLINE_EXCEEDED: "deadline exceeded",
    StopReason.NO_PROGRESS: "no progress",
    StopReason.ERROR: "error",
    StopReason.MAX_CONSECUTIVE_FAILURES: "too many errors in a row",
    StopReason.INTERRUPTED: "interrupted",
}
_WORKSPACE: dict[LoopStatus, str] = {
    LoopStatus.QUEUED: "Queued",
    LoopStatus.RUNNING: "Running",
    LoopStatus.COMPLETED: "Done",
    LoopStatus.COMPLETED_WITH_ERRORS: "Done, with errors",
    LoopStatus.FAILED: "Failed",
    LoopStatus.INTERRUPTED: "Interrupted by a restart",
}
_WORKSPACE_BY_REASON: dict[StopReason, str] = {
    StopReason.BUDGET_EXHAUSTED: "Stopped — cost budget reached",
    StopReason.DEADLINE_EXCEEDED: "Stopped — time limit reached",
    StopReason.NO_PROGRESS: "Stopped — it stopped making progress",
    StopReason.MAX_CONSECUTIVE_FAILURES: "Failed — too many errors in a row",
}


def loop_words(status: str, reason: str | None, *, stopped_by_viewer: bool = True, stopped_by: str = "") -> Words:
    """The words of section 2's table. `stopped_by` names who stopped it when it was somebody else."""
    known, why = LoopStatus(status), StopReason(reason) if reason else None
    badge, tone = _BADGES[known]
    if why is StopReason.USER_STOPPED:
        rail = "Stopped by you" if stopped_by_viewer else f"Stopped by {stopped_by or 'someone else'}"
        return Words(badge, _REASONS[why], rail, Tone.NEUTRAL)
    rail = (_WORKSPACE_BY_REASON.get(why) if why else None) or _WORKSPACE[known]
    return Words(badge, _REASONS[why] if why else "", rail, tone)
