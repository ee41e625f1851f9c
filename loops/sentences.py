"""The sentences an operator reads of a loop: why it ended, what it does now; compares no limit, touches no row."""

import datetime as dt
from dataclasses import dataclass, replace

from executions.vocabulary import WaitReason
from executions.waiting import Wait
from loops.models import Loop
from loops.standing import Standing
from loops.vocabulary import StopReason
from trinity.kernel.durations import duration_text, limit_text
from trinity.kernel.money import dollars_text


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence with at most one moment or running duration in it, so that a page can show it local and ticking."""

    before: str
    since: dt.datetime | None = None
    at: dt.datetime | None = None
    after: str = ""
    to_the_second: bool = True  # how `at` is told

    def at_moment(self, now: dt.datetime) -> str:
        """The whole sentence as it reads at `now`, times in UTC."""
        middle = ""
        if self.since is not None:
            middle = duration_text((now - self.since).total_seconds())
        elif self.at is not None:
            middle = self.at.astimezone(dt.UTC).strftime("%H:%M:%S" if self.to_the_second else "%H:%M")
        return f"{self.before}{middle}{self.after}"


def why_ended(loop: Loop, stopped_by: str = "") -> str:
    """Why an ended loop ended, with the number that decided it."""
    return _WHY[StopReason(loop.stop_reason)](loop, stopped_by)


def doing_now(loop: Loop, standing: Standing) -> Line:
    """What an active loop does, or what it waits for."""
    execution = standing.execution
    if standing.wait is not None:
        return _waiting(standing.wait)
    if execution is not None and execution.started_at is not None:
        begin = f"Run {execution.run_number} for "
        if standing.stop_requested:
            begin = f"Stopping after run {execution.run_number}, which goes on for "
        doing = f": {execution.activity}" if execution.activity else ""
        return Line(begin, since=execution.started_at, after=f" of at most {execution.timeout_seconds} s{doing}")
    if standing.next_run_at is not None:
        pause = limit_text(loop.delay_seconds)
        return Line("Next run ", at=standing.next_run_at, after=f": it waits {pause} between runs")
    return Line(f"Run {loop.runs_completed + 1} is about to begin")


def note(standing: Standing) -> Line | None:
    """The few words beside an active loop's badge; None when the badge says it all."""
    if standing.wait is not None:
        line = _waiting(standing.wait)
        return replace(line, before=line.before[0].lower() + line.before[1:])
    if standing.run_number is not None:
        return Line(f"finishing run {standing.run_number}") if standing.stop_requested else None
    return Line("next run ", at=standing.next_run_at) if standing.next_run_at is not None else None


def _waiting(wait: Wait) -> Line:
    """The wait's own words, with its moment apart."""
    if wait.reason is WaitReason.MODEL and wait.until is not None:
        why = f" ({wait.why.replace('_', ' ')})" if wait.why else ""
        return Line("Waiting for the model until ", at=wait.until, after=why, to_the_second=False)
    return Line(wait.words[0].upper() + wait.words[1:])


def _max_runs(loop: Loop, _: str) -> str:
    tolerated = f"; {loop.failed_runs} failed and were tolerated" if loop.failed_runs else ""
    return f"Reached max runs: {loop.runs_completed} of {loop.max_runs}{tolerated}."


def _signal(loop: Loop, _: str) -> str:
    tolerated = f"; {loop.failed_runs} failed before" if loop.failed_runs else ""
    said = f"replied with the stop signal {loop.stop_signal}{tolerated}."
    return f"Run {loop.runs_completed} of at most {loop.max_runs} {said}"


def _user(loop: Loop, stopped_by: str) -> str:
    by = f" by {stopped_by}" if stopped_by else ""
    if not loop.runs_completed:
        return f"Stopped{by} before its first run began."
    return f"Stopped{by} after run {loop.runs_completed} of {loop.max_runs}."


def _budget(loop: Loop, _: str) -> str:
    return f"Spent {dollars_text(loop.spent_nano)} of {dollars_text(loop.max_cost_nano)}."


def _deadline(loop: Loop, _: str) -> str:
    limit = limit_text(loop.max_duration_seconds or 0)
    if loop.started_at is None or loop.completed_at is None:
        return f"The time limit of {limit} was reached."
    went_on = duration_text((loop.completed_at - loop.started_at).total_seconds())
    return f"Went on for {went_on} of at most {limit}, until after run {loop.runs_completed}."


def _no_progress(loop: Loop, _: str) -> str:
    return f"{loop.repeat_count} identical replies in a row; the limit was {loop.no_progress_threshold}."


def _error(loop: Loop, _: str) -> str:
    failed = loop.error or f"Run {loop.runs_completed} failed."
    return f"The first failure ends this loop. {failed}"


def _too_many(loop: Loop, _: str) -> str:
    counted = f"{loop.consecutive_failures} failures in a row; the limit was {loop.max_consecutive_failures}."
    return f"{counted} {loop.error}".strip()


def _interrupted(loop: Loop, _: str) -> str:
    return f"Interrupted by a restart of an older version, after run {loop.runs_completed} of {loop.max_runs}."


_WHY = {
    StopReason.MAX_RUNS_REACHED: _max_runs,
    StopReason.STOP_SIGNAL_MATCHED: _signal,
    StopReason.USER_STOPPED: _user,
    StopReason.BUDGET_EXHAUSTED: _budget,
    StopReason.DEADLINE_EXCEEDED: _deadline,
    StopReason.NO_PROGRESS: _no_progress,
    StopReason.ERROR: _error,
    StopReason.MAX_CONSECUTIVE_FAILURES: _too_many,
    StopReason.INTERRUPTED: _interrupted,
}
