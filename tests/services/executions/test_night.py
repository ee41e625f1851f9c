"""A night with a usage limit from 01:00 to 03:00: every run is done in the morning, and none has failed."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.base import Away, Ending, ErrorKind, Outcome
from agents.runtimes.faults import fault
from executions.models import Execution
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from loops.services import end_due_parks, end_overdue_waits
from loops.standing import standing_of
from loops.vocabulary import LoopStatus, StopReason
from tests.conftest import StillClock
from tests.engine import WORKER, again, start, success

EVENING = dt.datetime(2026, 11, 30, 23, 0, tzinfo=dt.UTC)
LIMIT_BEGINS = dt.datetime(2026, 12, 1, 1, 0, tzinfo=dt.UTC)
LIMIT_ENDS = dt.datetime(2026, 12, 1, 3, 0, tzinfo=dt.UTC)
MORNING = dt.datetime(2026, 12, 1, 7, 0, tzinfo=dt.UTC)
SWEEP = dt.timedelta(seconds=30)
RUN = dt.timedelta(minutes=7)
SIX_HOURS = 6 * 3600

# What an agent says at the limit: with the time at which it ends, or without.
NAMED = "You've hit your session limit · resets 3am (UTC)"
UNNAMED = "rate limit exceeded"


class Night:
    """One worker that sweeps every half a minute, and a model with a usage limit in the middle of the night."""

    def __init__(self, agent: Any, clock: StillClock, at_the_limit: str) -> None:
        self.agent, self.clock, self.at_the_limit = agent, clock, at_the_limit
        self.in_flight: list[tuple[dt.datetime, Execution, Outcome]] = []
        self.calls_at_the_limit = 0

    def pass_until(self, end: dt.datetime) -> None:
        while self.clock.now < end:
            self.settle_what_is_done()
            end_due_parks(self.clock.now, 100)
            end_overdue_waits(self.clock.now, 100)
            while (execution := take(self.agent.pk, WORKER)) is not None:
                self.call_the_model(execution)
            self.clock.now += SWEEP

    def call_the_model(self, execution: Execution) -> None:
        if LIMIT_BEGINS <= self.clock.now < LIMIT_ENDS:
            self.calls_at_the_limit += 1
            found = fault(self.at_the_limit, now=self.clock.now)
            said = Outcome(Ending.FAILED, error_kind=found.kind, error=found.sentence)
            self.in_flight.append((self.clock.now, execution, replace(said, away=found.away(tool_used=False))))
        else:
            self.in_flight.append((self.clock.now + RUN, execution, success(f"run {execution.run_number}", 0.1)))

    def settle_what_is_done(self) -> None:
        for one in [one for one in self.in_flight if one[0] <= self.clock.now]:
            self.in_flight.remove(one)
            settle(one[1], one[2])


@pytest.fixture
def night(make_agent: Callable[..., Any], still_clock: StillClock, request: Any) -> Night:
    patient = {"replies": [{"response": "done"}], "unavailable_patience_seconds": SIX_HOURS}
    agent = make_agent("nightly", max_parallel_tasks=1, runtime_settings=patient)
    still_clock.now = EVENING
    return Night(agent, still_clock, request.param)


@pytest.mark.parametrize("night", [NAMED, UNNAMED], indirect=True, ids=["named", "unnamed"])
def test_a_night_with_a_usage_limit_ends_with_all_runs_done_and_none_failed(night: Night, alice: Any) -> None:
    viewer = Viewer(user=alice)
    back_to_back = start(night.agent, viewer, max_runs=20)
    every_half_hour = start(night.agent, viewer, max_runs=8, delay_seconds=1800)

    night.pass_until(MORNING)

    for loop in (again(back_to_back), again(every_half_hour)):
        assert (loop.status, loop.stop_reason) == (LoopStatus.COMPLETED, StopReason.MAX_RUNS_REACHED)
        assert (loop.runs_completed, loop.failed_runs) == (loop.max_runs, 0)
        assert check_loop(loop) == []
    ended = Execution.objects.values_list("status", "error_kind").distinct()
    assert list(ended) == [(ExecutionStatus.COMPLETED, "")]


@pytest.mark.parametrize("night", [NAMED], indirect=True)
def test_at_half_past_one_everybody_is_told_that_it_waits_until_three(night: Night, alice: Any) -> None:
    loop = start(night.agent, Viewer(user=alice), max_runs=50)

    night.pass_until(LIMIT_BEGINS + dt.timedelta(minutes=30))

    standing = standing_of(again(loop), night.clock.now)
    assert standing.words == "waiting for the model until 03:00 UTC"
    assert standing.run_number is None, "no slot is held"
    assert not Execution.objects.filter(status=ExecutionStatus.RUNNING).exists()


@pytest.mark.parametrize(
    ("night", "most_calls"), [(NAMED, 1), (UNNAMED, 13)], indirect=["night"], ids=["named", "unnamed"]
)
def test_a_model_at_its_limit_is_not_asked_again_and_again(night: Night, alice: Any, most_calls: int) -> None:
    start(night.agent, Viewer(user=alice), max_runs=50)

    night.pass_until(LIMIT_ENDS)

    assert 1 <= night.calls_at_the_limit <= most_calls


@pytest.mark.parametrize("night", [NAMED], indirect=True)
def test_without_patience_the_same_night_fails(night: Night, alice: Any) -> None:
    night.agent.runtime_settings["unavailable_patience_seconds"] = 0
    night.agent.save()
    loop = start(night.agent, Viewer(user=alice), max_runs=50)

    night.pass_until(MORNING)

    assert Loop.objects.get(pk=loop.pk).status == LoopStatus.FAILED
    assert Execution.objects.get(status=ExecutionStatus.FAILED).error_kind == ErrorKind.USAGE_LIMIT


def test_the_words_of_the_limit_name_its_end() -> None:
    found = fault(NAMED, now=LIMIT_BEGINS)

    assert found.away(tool_used=False) == Away(ErrorKind.USAGE_LIMIT, LIMIT_ENDS)
