"""Verdicts on ended executions: a step of its own, once, by the agent's own graders."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.base import Ending, Outcome
from executions.grading import grade_execution, grade_waiting
from executions.models import Execution, Verdict
from executions.services import settle, take
from loops.invariants import check_loop
from loops.vocabulary import EventKind
from tests.conftest import StillClock
from tests.engine import WORKER, again, failure, start, success


def spinning(times: int) -> Outcome:
    """An agent that issued the same call so many times in a row."""
    call = {"tool": "bash", "args": {"command": "make"}, "result": "error 2"}
    return Outcome(Ending.COMPLETED, response="done", steps=tuple((call,) for _ in range(times)))


@pytest.fixture
def ended(alice: Any, still_clock: StillClock) -> Callable[..., Execution]:
    """The one execution of a loop on the agent, ended with the outcome."""

    def make(agent: Any, outcome: Outcome, **asked: Any) -> Execution:
        start(agent, Viewer(user=alice), **{"max_runs": 1, **asked})
        execution = take(agent.pk, WORKER)
        assert execution is not None
        settle(execution, outcome)
        return again(execution)

    return make


def test_five_identical_calls_are_four_retries_too_many_for_the_default(
    ended: Callable[..., Execution], agent: Any
) -> None:
    execution = ended(agent, spinning(5))

    assert grade_execution(execution.pk)

    verdict = Verdict.objects.get(execution=execution)
    assert (verdict.type, verdict.passed, verdict.error) == ("loop-outcome", False, False)
    assert verdict.summary == "bash ×5 in a row"
    assert "make" in verdict.evidence or "bash" in verdict.evidence


def test_an_agent_that_did_not_spin_passes(ended: Callable[..., Execution], agent: Any) -> None:
    execution = ended(agent, spinning(2))

    grade_execution(execution.pk)

    assert Verdict.objects.get(execution=execution).passed is True


def test_a_failed_execution_with_a_trajectory_is_graded_too(ended: Callable[..., Execution], agent: Any) -> None:
    outcome = Outcome(Ending.FAILED, error="boom", steps=spinning(5).steps)

    execution = ended(agent, outcome)

    assert grade_execution(execution.pk)
    assert Verdict.objects.get(execution=execution).passed is False


def test_an_execution_is_graded_once(ended: Callable[..., Execution], agent: Any) -> None:
    execution = ended(agent, spinning(5))

    assert grade_execution(execution.pk)
    assert not grade_execution(execution.pk)

    assert Verdict.objects.filter(execution=execution).count() == 1


@pytest.mark.parametrize("outcome", [success(), failure()])
def test_without_a_trajectory_there_is_no_verdict(
    ended: Callable[..., Execution], agent: Any, outcome: Outcome
) -> None:
    execution = ended(agent, outcome)

    assert not grade_execution(execution.pk)
    assert not Verdict.objects.exists()


def test_the_agents_own_graders_decide_what_spinning_is(
    ended: Callable[..., Execution], make_agent: Callable[..., Any]
) -> None:
    strict = make_agent("strict", graders=[{"type": "loop-outcome", "config": {"max_acceptable_retries": 0}}])

    execution = ended(strict, spinning(2))
    grade_execution(execution.pk)

    assert Verdict.objects.get(execution=execution).passed is False


def test_an_agent_with_an_empty_list_is_not_graded(
    ended: Callable[..., Execution], make_agent: Callable[..., Any]
) -> None:
    free = make_agent("free", graders=[])

    execution = ended(free, spinning(9))
    grade_execution(execution.pk)

    assert not Verdict.objects.exists()
    assert not again(execution).to_grade


def test_a_list_that_became_wrong_is_an_error_verdict_and_no_pass(
    ended: Callable[..., Execution], make_agent: Callable[..., Any]
) -> None:
    odd = make_agent("odd", graders=[{"type": "loop-outcome", "config": {"max_retries": 1}}])

    execution = ended(odd, spinning(2))
    grade_execution(execution.pk)

    verdict = Verdict.objects.get(execution=execution)
    assert (verdict.error, verdict.passed) == (True, None)
    assert "max_retries" in verdict.evidence


def test_a_verdict_that_comes_after_the_end_raises_the_version_only(
    ended: Callable[..., Execution], agent: Any
) -> None:
    from loops.models import Loop

    execution = ended(agent, spinning(5))
    before = Loop.objects.get(pk=execution.loop_id)
    assert before.ended

    grade_execution(execution.pk)

    loop = again(before)
    assert loop.version == before.version + 1
    assert (loop.status, loop.stop_reason, loop.runs_completed) == (before.status, before.stop_reason, 1)
    assert loop.events.last().kind == EventKind.LOOP_RUN_GRADED
    assert check_loop(loop) == []


def test_the_sweep_grades_what_a_dead_worker_left_ungraded(
    ended: Callable[..., Execution], agent: Any, still_clock: StillClock
) -> None:
    execution = ended(agent, spinning(5))

    assert grade_waiting(still_clock.now, 10) == 1

    assert Verdict.objects.filter(execution=execution).exists()
    assert grade_waiting(still_clock.now, 10) == 0
