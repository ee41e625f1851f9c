"""A worker that comes back after its run was given up: the status stays, the text and the cost are kept."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.base import ErrorKind
from executions.models import Execution
from executions.services import settle, take, take_over
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from tests.conftest import StillClock
from tests.engine import OTHER_WORKER, WORKER, again, failure, lost, model_away, start, success
from trinity.kernel.money import NANO


@pytest.fixture
def given_up(agent: Any, alice: Any) -> tuple[Loop, Execution]:
    """A loop that tolerates failures, and its first run as the worker remembers it that was taken for dead."""
    loop = start(agent, Viewer(user=alice), on_failure="continue")
    ours = take(agent.pk, WORKER)
    assert ours is not None
    theirs = again(ours)
    assert take_over(theirs, OTHER_WORKER)
    settle(theirs, lost("as far as it came"))
    return loop, ours


def test_a_late_outcome_leaves_the_status_and_brings_its_text_and_cost(given_up: tuple[Loop, Execution]) -> None:
    loop, ours = given_up

    settle(ours, success("the whole answer", 0.25))

    execution = again(ours)
    assert (execution.status, execution.error_kind) == (ExecutionStatus.FAILED, ErrorKind.LOST)
    assert (execution.response, execution.cost_nano) == ("the whole answer", NANO // 4)
    assert check_loop(again(loop)) == []


def test_a_late_cost_stays_with_its_execution_and_never_reaches_the_budget(given_up: tuple[Loop, Execution]) -> None:
    loop, ours = given_up

    settle(ours, success("the whole answer", 0.25))

    assert (again(loop).spent_nano, again(loop).last_response) == (0, None)


def test_a_late_outcome_moves_neither_the_loop_nor_its_version(given_up: tuple[Loop, Execution]) -> None:
    loop, ours = given_up
    before = again(loop)

    settle(ours, success("the whole answer", 0.25))

    assert (again(loop).version, again(loop).runs_completed) == (before.version, before.runs_completed)


def test_the_first_late_outcome_counts_and_a_doubled_one_changes_nothing(given_up: tuple[Loop, Execution]) -> None:
    _, ours = given_up

    settle(ours, success("first", 0))
    settle(ours, success("second", 0.50))

    assert (again(ours).response, again(ours).cost_nano) == ("first", 0)
    assert "came after it had been given up" in again(ours).notes[0]


def test_a_silent_late_outcome_does_not_keep_the_real_one_out(given_up: tuple[Loop, Execution]) -> None:
    _, ours = given_up

    settle(ours, lost())
    settle(ours, success("the whole answer", 0.25))

    assert (again(ours).response, again(ours).cost_nano) == ("the whole answer", NANO // 4)


def test_a_late_outcome_without_text_leaves_what_was_saved_of_the_lost_run(given_up: tuple[Loop, Execution]) -> None:
    _, ours = given_up

    settle(ours, failure("killed", 0.25))

    assert (again(ours).response, again(ours).cost_nano) == ("as far as it came", NANO // 4)


def test_a_late_outcome_with_an_absurd_cost_can_be_settled_too(given_up: tuple[Loop, Execution]) -> None:
    _, ours = given_up

    settle(ours, replace(success("the whole answer"), cost_nano=-5))

    assert (again(ours).response, again(ours).cost_nano) == ("the whole answer", None)


def test_a_late_outcome_says_nothing_of_a_run_that_was_settled_properly(agent: Any, alice: Any) -> None:
    start(agent, Viewer(user=alice))
    ours = take(agent.pk, WORKER)
    assert ours is not None
    theirs = again(ours)
    assert take_over(theirs, OTHER_WORKER)
    settle(theirs, success("theirs", 0.25))

    settle(ours, success("ours", 0.50))

    assert (again(ours).response, again(ours).cost_nano) == ("theirs", NANO // 4)


def test_a_late_outcome_of_an_earlier_attempt_says_nothing_of_the_lost_one(
    make_agent: Callable[..., Any], alice: Any, still_clock: StillClock
) -> None:
    patient = {"replies": [{"response": "x"}], "unavailable_patience_seconds": 3600}
    agent = make_agent("patient", runtime_settings=patient)
    start(agent, Viewer(user=alice))
    first = take(agent.pk, WORKER)
    assert first is not None
    settle(again(first), model_away())
    still_clock.pass_seconds(1800)
    second = take(agent.pk, WORKER)
    assert second is not None
    settle(second, lost("as far as it came"))

    settle(first, success("of the attempt that met no model", 0.25))

    assert (again(first).attempt, again(first).response, again(first).cost_nano) == (2, "as far as it came", None)
