"""A loop as the rules see it, what makes each rule hold, and how each ends a loop; for the tests of the decisions."""

import datetime as dt
from typing import Any

from loops.decisions import Decision, End, LoopFacts, RunOutcome, after_run, fingerprint
from loops.vocabulary import LoopStatus, OnFailure, StopReason
from tests.conftest import NOON

SECOND = dt.timedelta(seconds=1)
INSTANT = dt.timedelta(microseconds=1)
DOLLAR = 10**9


def loop(**facts: Any) -> LoopFacts:
    """A loop in its first hour, after four good runs of ten, that nothing would end."""
    return LoopFacts(
        **{
            "now": NOON,
            "started_at": NOON - 3600 * SECOND,
            "max_runs": 10,
            "runs_completed": 4,
            "last_response": "the one before",
            "last_fingerprint": fingerprint("the one before"),
            "repeat_count": 1,
            **facts,
        }
    )


def reply(response: str = "something new", cost_nano: int | None = None) -> RunOutcome:
    return RunOutcome(succeeded=True, response=response, cost_nano=cost_nano)


def failure(error: str = "no network", cost_nano: int | None = None) -> RunOutcome:
    return RunOutcome(succeeded=False, error=error, cost_nano=cost_nano)


def decision_after(facts: LoopFacts, outcome: RunOutcome) -> Decision:
    return after_run(facts, outcome)[1]


def facts_after(facts: LoopFacts, outcome: RunOutcome) -> LoopFacts:
    return after_run(facts, outcome)[0]


STOPPED = {
    reason: End(LoopStatus.STOPPED, reason)
    for reason in (
        StopReason.USER_STOPPED,
        StopReason.DEADLINE_EXCEEDED,
        StopReason.BUDGET_EXHAUSTED,
        StopReason.NO_PROGRESS,
    )
}
DONE = End(LoopStatus.COMPLETED, StopReason.MAX_RUNS_REACHED)
SIGNALLED = End(LoopStatus.COMPLETED, StopReason.STOP_SIGNAL_MATCHED)
ABORTED = End(LoopStatus.FAILED, StopReason.ERROR, "Run 5: no network")
GAVE_UP = End(LoopStatus.FAILED, StopReason.MAX_CONSECUTIVE_FAILURES, "Run 5: no network")

# What makes each rule hold after the next run, alone.
STOP_STANDS = {"stop_requested": True}
DEADLINE_PASSED = {"max_duration_seconds": 3600}
BUDGET_SPENT = {"max_cost_nano": DOLLAR, "spent_nano": DOLLAR}
LAST_RUN = {"max_runs": 5}
REPEATS = {"repeat_count": 2, "last_fingerprint": fingerprint("something new")}
TOLERANT = {"on_failure": OnFailure.CONTINUE}
THIRD_FAILURE = TOLERANT | {"consecutive_failures": 2}
