"""The engine's brain: frozen facts in, a decision out; touches no row, no clock and no network.

No other file compares a deadline, a budget or a run count.
"""

import datetime as dt
import hashlib
from dataclasses import dataclass, replace

from loops.vocabulary import LoopStatus, OnFailure, StopReason
from trinity.kernel.money import MAX_NANO
from trinity.kernel.text import collapse


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """Everything that the rules may look at. Money in nano-dollars, durations in seconds."""

    now: dt.datetime
    max_runs: int
    stop_signal: str = ""  # blank: fixed mode
    delay_seconds: int = 0
    max_duration_seconds: int | None = None
    no_progress_threshold: int = 3  # 0: off
    max_cost_nano: int | None = None
    on_failure: OnFailure = OnFailure.ABORT
    max_consecutive_failures: int = 3

    started_at: dt.datetime | None = None  # None until run 1 got its slot
    stop_requested: bool = False
    runs_completed: int = 0
    failed_runs: int = 0
    consecutive_failures: int = 0
    repeat_count: int = 0
    last_fingerprint: str = ""
    spent_nano: int = 0
    last_response: str | None = None

    @property
    def deadline(self) -> dt.datetime | None:
        """When the time limit is reached; unknown before run 1 began."""
        if self.started_at is None or self.max_duration_seconds is None:
            return None
        return self.started_at + dt.timedelta(seconds=self.max_duration_seconds)

    @property
    def deadline_has_passed(self) -> bool:
        return self.deadline is not None and self.now >= self.deadline

    @property
    def budget_is_spent(self) -> bool:
        return self.max_cost_nano is not None and self.spent_nano >= self.max_cost_nano

    @property
    def repeats_itself(self) -> bool:
        return 0 < self.no_progress_threshold <= self.repeat_count


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What came of the run that just ended."""

    succeeded: bool
    response: str = ""
    cost_nano: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """Begin run `run_number` as soon as the agent has a slot."""

    run_number: int


@dataclass(frozen=True, slots=True)
class Park:
    """Wait; at `until` the guardrails are asked again."""

    until: dt.datetime


@dataclass(frozen=True, slots=True)
class End:
    """The loop is over, and why; `error` names the run that failed."""

    status: LoopStatus
    reason: StopReason
    error: str = ""


Decision = Start | Park | End


def fingerprint(response: str) -> str:
    """Equal for replies that differ in white space only."""
    return hashlib.blake2b(collapse(response).encode("utf-8", "replace"), digest_size=16).hexdigest()


def after_run(loop: LoopFacts, outcome: RunOutcome) -> tuple[LoopFacts, Decision]:
    """The facts and the decision after a run ended: rules 1–9 of section 2, in their order.

    The order is the contract: the agent's own word outranks every guardrail, a failure policy outranks a person's
    stop, a finished loop is done whatever else is true, and among the guardrails a person comes first.
    """
    loop = _close_run(loop, outcome)
    if outcome.succeeded:
        loop = _take_reply(loop, outcome.response)
        ended = _end_by_reply(loop, outcome.response)
    else:
        loop, ended = _after_failure(loop, outcome.error)
    if ended is None and loop.runs_completed >= loop.max_runs:
        ended = End(_done(loop), StopReason.MAX_RUNS_REACHED)
    if ended is not None:
        return loop, ended
    return loop, _after_delay(loop)


def after_call_in_vain(loop: LoopFacts, cost_nano: int | None) -> LoopFacts:
    """The facts after a call that met a model which was away: no outcome (section 3), but what it cost is spent."""
    return _spend(loop, cost_nano)


def before_run(loop: LoopFacts) -> Start | End:
    """Rules 5–7 and 9: asked when a park is over, when a waiting run gets its slot, and while it waits."""
    return _guardrail(loop) or Start(loop.runs_completed + 1)


def _close_run(loop: LoopFacts, outcome: RunOutcome) -> LoopFacts:
    return _spend(replace(loop, runs_completed=loop.runs_completed + 1), outcome.cost_nano)


def _spend(loop: LoopFacts, cost_nano: int | None) -> LoopFacts:
    return replace(loop, spent_nano=min(loop.spent_nano + max(0, cost_nano or 0), MAX_NANO))


def _take_reply(loop: LoopFacts, response: str) -> LoopFacts:
    mark = fingerprint(response)
    return replace(
        loop,
        last_response=response,
        consecutive_failures=0,
        repeat_count=loop.repeat_count + 1 if mark == loop.last_fingerprint else 1,
        last_fingerprint=mark,
    )


def _end_by_reply(loop: LoopFacts, response: str) -> End | None:
    if loop.stop_signal and loop.stop_signal in response:
        return End(_done(loop), StopReason.STOP_SIGNAL_MATCHED)
    if loop.repeats_itself and not loop.stop_requested and not loop.deadline_has_passed:
        return End(LoopStatus.STOPPED, StopReason.NO_PROGRESS)
    return None


def _after_failure(loop: LoopFacts, error: str) -> tuple[LoopFacts, End | None]:
    sentence = f"Run {loop.runs_completed}: {error}"
    if loop.on_failure is OnFailure.ABORT:
        return loop, End(LoopStatus.FAILED, StopReason.ERROR, sentence)
    loop = replace(loop, consecutive_failures=loop.consecutive_failures + 1)
    if loop.consecutive_failures >= loop.max_consecutive_failures:
        return loop, End(LoopStatus.FAILED, StopReason.MAX_CONSECUTIVE_FAILURES, sentence)
    return replace(loop, failed_runs=loop.failed_runs + 1), None


def _after_delay(loop: LoopFacts) -> Decision:
    decision = before_run(loop)
    if isinstance(decision, End) or not loop.delay_seconds:
        return decision
    until = loop.now + dt.timedelta(seconds=loop.delay_seconds)
    return Park(min(until, loop.deadline) if loop.deadline else until)


def _guardrail(loop: LoopFacts) -> End | None:
    if loop.stop_requested:
        return End(LoopStatus.STOPPED, StopReason.USER_STOPPED)
    if loop.deadline_has_passed:
        return End(LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)
    if loop.budget_is_spent:
        return End(LoopStatus.STOPPED, StopReason.BUDGET_EXHAUSTED)
    return None


def _done(loop: LoopFacts) -> LoopStatus:
    return LoopStatus.COMPLETED_WITH_ERRORS if loop.failed_runs else LoopStatus.COMPLETED
