"""What an operator reads first of a loop: why it ended, with the number that decided it, or what it does now."""

import datetime as dt
from typing import Any

import pytest

from agents.models import Agent
from executions.models import Execution
from executions.vocabulary import ExecutionStatus, Trigger, WaitReason
from executions.waiting import Wait
from loops.models import Loop
from loops.sentences import doing_now, note, why_ended
from loops.standing import Standing
from loops.vocabulary import LoopStatus, StopReason
from tests.conftest import NOON

LATER = NOON + dt.timedelta(seconds=48)


def a_loop(**columns: Any) -> Loop:
    return Loop(agent=Agent(name="scribe"), **{"message": "Go", "max_runs": 20, "timeout_per_run": 600} | columns)


def ended(reason: StopReason, status: LoopStatus = LoopStatus.STOPPED, **columns: Any) -> Loop:
    return a_loop(status=status, stop_reason=reason, **columns)


def in_flight(**columns: Any) -> Execution:
    return Execution(
        agent=Agent(name="scribe"),
        trigger=Trigger.LOOP,
        status=ExecutionStatus.RUNNING,
        run_number=7,
        timeout_seconds=600,
        started_at=NOON,
        **columns,
    )


@pytest.mark.parametrize(
    ("loop", "sentence"),
    [
        (ended(StopReason.MAX_RUNS_REACHED, runs_completed=20), "Reached max runs: 20 of 20."),
        (
            ended(StopReason.MAX_RUNS_REACHED, LoopStatus.COMPLETED_WITH_ERRORS, runs_completed=20, failed_runs=2),
            "Reached max runs: 20 of 20; 2 failed and were tolerated.",
        ),
        (
            ended(StopReason.STOP_SIGNAL_MATCHED, runs_completed=3, stop_signal="[[DONE]]"),
            "Run 3 of at most 20 replied with the stop signal [[DONE]].",
        ),
        (
            ended(StopReason.BUDGET_EXHAUSTED, spent_nano=1_040_000_000, max_cost_nano=1_000_000_000),
            "Spent $1.04 of $1.00.",
        ),
        (
            ended(
                StopReason.DEADLINE_EXCEEDED,
                max_duration_seconds=3600,
                runs_completed=4,
                started_at=NOON,
                completed_at=NOON + dt.timedelta(seconds=3725),
            ),
            "Went on for 1 h 02 m of at most 1 h, until after run 4.",
        ),
        (
            ended(StopReason.NO_PROGRESS, repeat_count=3, no_progress_threshold=3),
            "3 identical replies in a row; the limit was 3.",
        ),
        (
            ended(StopReason.ERROR, LoopStatus.FAILED, error="Run 1: no network"),
            "The first failure ends this loop. Run 1: no network",
        ),
        (
            ended(
                StopReason.MAX_CONSECUTIVE_FAILURES,
                LoopStatus.FAILED,
                consecutive_failures=3,
                max_consecutive_failures=3,
                error="Run 9: no network",
            ),
            "3 failures in a row; the limit was 3. Run 9: no network",
        ),
    ],
)
def test_the_number_that_decided_the_end_is_said(loop: Loop, sentence: str) -> None:
    assert why_ended(loop) == sentence


def test_who_stopped_it_is_named() -> None:
    stopped = ended(StopReason.USER_STOPPED, runs_completed=7)

    assert why_ended(stopped, "bob") == "Stopped by bob after run 7 of 20."


def test_one_that_was_stopped_before_its_first_run_says_so() -> None:
    assert why_ended(ended(StopReason.USER_STOPPED), "bob") == "Stopped by bob before its first run began."


@pytest.mark.parametrize("reason", StopReason)
def test_every_reason_has_a_sentence(reason: StopReason) -> None:
    assert why_ended(ended(reason)).endswith((".", "failed."))


def test_a_run_in_flight_is_told_with_its_limit_and_what_it_does() -> None:
    standing = Standing(execution=in_flight(activity="Bash npm test"))

    assert doing_now(a_loop(), standing).at_moment(LATER) == "Run 7 for 48 s of at most 600 s: Bash npm test"
    assert note(standing) is None


def test_a_run_that_goes_on_after_a_stop_request_is_told_as_the_last() -> None:
    standing = Standing(execution=in_flight(), stop_requested=True)

    said = doing_now(a_loop(), standing).at_moment(LATER)

    assert said == "Stopping after run 7, which goes on for 48 s of at most 600 s"
    assert str(note(standing).before) == "finishing run 7"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (Wait(WaitReason.SLOT, place_in_line=2), "Waiting for a slot, 2nd in line"),
        (Wait(WaitReason.AGENT_STOPPED), "The agent is stopped"),
        (Wait(WaitReason.WORKER, place_in_line=1), "Waiting for a worker"),
        (
            Wait(WaitReason.MODEL, until=NOON + dt.timedelta(hours=15)),
            "Waiting for the model until 03:00",
        ),
    ],
)
def test_a_wait_says_what_it_waits_for(wait: Wait, said: str) -> None:
    waiting = Execution(agent=Agent(name="scribe"), status=ExecutionStatus.QUEUED, run_number=1)
    standing = Standing(execution=waiting, wait=wait)

    assert doing_now(a_loop(), standing).at_moment(NOON) == said
    assert note(standing).at_moment(NOON).lower() == said.lower()  # type: ignore[union-attr]


def test_a_park_says_when_it_ends_and_why_it_is() -> None:
    standing = Standing(next_run_at=NOON + dt.timedelta(seconds=200))

    said = doing_now(a_loop(delay_seconds=120), standing).at_moment(NOON)

    assert said == "Next run 12:03:20: it waits 2 m between runs"
