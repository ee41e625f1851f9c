"""How much of each guardrail is used, and where the runs lie in time."""

import datetime as dt
from itertools import pairwise
from typing import Any

import pytest

from agents.models import Agent
from executions.vocabulary import ExecutionStatus
from loops.bars import bars_of
from loops.models import Loop
from loops.strip import LEAST_WIDTH, WIDTHS, Stretch, strip_of
from loops.vocabulary import OnFailure
from tests.conftest import NOON
from trinity.kernel.vocabulary import Tone


def a_loop(**columns: Any) -> Loop:
    return Loop(agent=Agent(name="scribe"), **{"message": "Go", "max_runs": 20, "timeout_per_run": 600} | columns)


def after(seconds: float) -> dt.datetime:
    return NOON + dt.timedelta(seconds=seconds)


def stretch(number: int, begin: float, end: float | None, status: str = "completed") -> Stretch:
    return Stretch(number, ExecutionStatus(status), after(begin), None if end is None else after(end))


def test_a_guardrail_that_was_never_set_has_no_bar() -> None:
    assert [bar.name for bar in bars_of(a_loop(), NOON)] == ["Runs"]


def test_those_that_were_set_have_one_each() -> None:
    loop = a_loop(
        runs_completed=6,
        spent_nano=620_000_000,
        max_cost_nano=1_000_000_000,
        max_duration_seconds=3600,
        started_at=NOON,
        repeat_count=2,
        on_failure=OnFailure.CONTINUE,
        consecutive_failures=1,
    )

    bars = {bar.name: (bar.used, bar.limit, bar.percent) for bar in bars_of(loop, after(860))}

    assert bars == {
        "Runs": ("6", "20", 30),
        "Budget": ("$0.62", "$1.00", 62),
        "Time": ("14 m 20 s", "1 h", 24),
        "Identical replies": ("2", "3", 67),
        "Failures in a row": ("1", "3", 33),
    }


def test_identical_replies_show_from_two_on() -> None:
    assert [bar.name for bar in bars_of(a_loop(repeat_count=1), NOON)] == ["Runs"]


@pytest.mark.parametrize(("spent", "hot"), [(799_999_999, False), (800_000_000, True), (9_000_000_000, True)])
def test_a_bar_deserves_a_look_from_four_fifths_on_and_never_overflows(spent: int, hot: bool) -> None:
    budget = bars_of(a_loop(spent_nano=spent, max_cost_nano=1_000_000_000), NOON)[1]

    assert budget.hot is hot
    assert budget.share <= 1


def test_runs_lie_to_scale_of_time() -> None:
    strip = strip_of([stretch(1, 0, 100), stretch(2, 150, 200)], NOON)

    assert strip is not None
    assert [(one.x, one.width) for one in strip.segments] == [(0, 50), (75, 25)]


def test_a_run_in_flight_reaches_up_to_now() -> None:
    strip = strip_of([stretch(1, 0, 50), stretch(2, 50, None, "running")], after(100))

    assert strip is not None
    assert strip.segments[1].tone is Tone.ACTIVE
    assert strip.segments[1].x + strip.segments[1].width == pytest.approx(100, abs=1)
    assert "in flight: 2" in strip.told


def test_failed_runs_are_told_apart_without_colour() -> None:
    strip = strip_of([stretch(1, 0, 10), stretch(2, 10, 20, "failed"), stretch(3, 20, 30, "timed_out")], NOON)

    assert strip is not None
    assert [one.failed for one in strip.segments] == [False, True, True]
    assert "failed: 2, 3" in strip.told


def test_the_shortest_run_still_shows_and_none_lies_over_the_next() -> None:
    runs = [stretch(number, number * 3600.0, number * 3600.0 + 0.01) for number in range(100)]

    strip = strip_of(runs, NOON)

    assert strip is not None
    width = WIDTHS[strip.step]
    assert all(one.width / 100 * width >= LEAST_WIDTH * 0.9 for one in strip.segments)
    edges = [(one.x, one.x + one.width) for one in strip.segments]
    assert all(left[1] <= right[0] for left, right in pairwise(edges))
    assert edges[-1][1] <= 100.01


def test_without_a_run_that_began_there_is_no_strip() -> None:
    assert strip_of([], NOON) is None
