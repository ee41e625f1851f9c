"""Every invariant notices its breach: a sound loop is tampered with, and the sentence names what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.services import settle, take
from loops.invariants import STATUSES_OF, check_agents, check_executions, check_loop
from loops.models import Loop, LoopEvent, Run
from loops.services import request_stop
from loops.vocabulary import StopReason
from tests.conftest import NOON
from tests.engine import WORKER, again, failure, queue_chat, start, success

Tamper = Callable[[Loop], Any]


def of(loop: Loop) -> Any:
    return Loop.objects.filter(pk=loop.pk)


def executions(loop: Loop, run_number: int) -> Any:
    return Execution.objects.filter(loop_id=loop.pk, run_number=run_number)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def active(agent: Any, viewer: Viewer) -> Loop:
    """Two runs ended, one of them tolerated; the third is in flight."""
    loop = start(agent, viewer, on_failure="continue", max_duration_seconds=3600)
    run = take(agent.pk, WORKER)
    for outcome in (success("one", 0.10), failure("two", 0.20)):
        assert run is not None
        run = settle(run, outcome, WORKER)
    return again(loop)


@pytest.fixture
def ended(agent: Any, viewer: Viewer, active: Loop) -> Loop:
    """The same loop after its third run, and a stop request."""
    run = Execution.objects.get(loop_id=active.pk, run_number=3)
    request_stop(viewer, active)
    settle(run, success("three", 0.30))
    return again(active)


def test_a_sound_loop_has_nothing_broken(active: Loop) -> None:
    assert check_loop(active) == []


def test_a_sound_ended_loop_has_nothing_broken(ended: Loop) -> None:
    assert check_loop(ended) == []


BREACHES_OF_AN_ACTIVE_LOOP: dict[str, tuple[Tamper, str]] = {
    "a run is missing": (
        lambda loop: Run.objects.filter(loop=loop, run_number=2).delete(),
        "its runs are numbered [1, 3]",
    ),
    "a run was not counted": (lambda loop: of(loop).update(runs_completed=1), "3 runs, 1 completed and 1 not ended"),
    "an execution is of another run": (
        lambda loop: executions(loop, 1).update(run_number=7),
        "which says otherwise",
    ),
    "an execution without a run": (
        lambda loop: Execution.objects.create(
            agent=loop.agent, trigger="loop", loop_id=loop.pk, run_number=9, prompt="x", timeout_seconds=60,
            queued_at=NOON, ended_at=NOON, status="completed",
        ),
        "is completed but belongs to no run",
    ),
    "a failure was not counted": (lambda loop: of(loop).update(failed_runs=0), "1 of its runs failed"),
    "a failure was counted twice": (lambda loop: of(loop).update(failed_runs=2), "tolerated 2"),
    "it aborts and tolerated": (lambda loop: of(loop).update(on_failure="abort"), "aborts on failure and yet"),
    "a reply without a run": (lambda loop: of(loop).update(last_fingerprint=""), "its last reply does not fit"),
    "money is missing": (lambda loop: of(loop).update(spent_nano=0), "it spent 0, its runs 300000000"),
    "money came from nowhere": (lambda loop: of(loop).update(spent_nano=10**12), "it spent 1000000000000"),
    "nothing moves it": (
        lambda loop: executions(loop, 3).update(status="cancelled", ended_at=NOON),
        "nothing will ever move it",
    ),
    "parked beside a run": (lambda loop: of(loop).update(next_run_at=NOON), "it is parked, and a run waits"),
    "running and never began": (lambda loop: of(loop).update(started_at=None), "it is running, and never began"),
    "queued and began": (lambda loop: of(loop).update(status="queued"), "it is queued, and began"),
    "its run is in flight before it began": (
        lambda loop: of(loop).update(status="queued", started_at=None),
        "is past its beginning",
    ),
    "its deadline is gone": (lambda loop: of(loop).update(deadline_at=None), "its deadline does not fit"),
    "an event is missing": (lambda loop: loop.events.filter(sequence=2).delete(), "its version is"),
    "a version without an event": (lambda loop: of(loop).update(version=99), "its version is 99"),
    "it ended twice": (
        lambda loop: loop.events.filter(sequence=1).update(kind="loop_completed"),
        "it is running, and ended 1 times",
    ),
    "the end of a run was not told": (
        lambda loop: loop.events.filter(kind="loop_run_completed").update(kind="loop_run_graded"),
        "2 runs completed, and 0 events say so",
    ),
}  # fmt: skip
BREACHES_OF_AN_ENDED_LOOP: dict[str, tuple[Tamper, str]] = {
    "a run goes on": (
        lambda loop: executions(loop, 3).update(status="running", ended_at=None),
        "it ended, and execution",
    ),
    "a reason of another status": (
        lambda loop: of(loop).update(stop_reason="error"),
        "it is stopped because of error",
    ),
    "completed with failures": (
        lambda loop: of(loop).update(status="completed", stop_reason="max_runs_reached"),
        "it is completed, with 1 failed runs",
    ),
    "with errors and without any": (
        lambda loop: of(loop).update(
            status="completed_with_errors", stop_reason="max_runs_reached", failed_runs=0
        ),
        "it is completed_with_errors, with 0 failed runs",
    ),
    "nobody asked for the stop": (lambda loop: of(loop).update(stop_requested_at=None), "nobody asked for it"),
    "its end was not told": (
        lambda loop: LoopEvent.objects.filter(loop=loop, kind="loop_completed").update(kind="loop_parked"),
        "it is stopped, and ended 0 times",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("tamper", "sentence"), BREACHES_OF_AN_ACTIVE_LOOP.values(), ids=BREACHES_OF_AN_ACTIVE_LOOP.keys()
)
def test_a_breach_of_an_active_loop_is_noticed(tamper: Tamper, sentence: str, active: Loop) -> None:
    tamper(active)

    assert any(sentence in said for said in check_loop(active)), check_loop(active)


@pytest.mark.parametrize(
    ("tamper", "sentence"), BREACHES_OF_AN_ENDED_LOOP.values(), ids=BREACHES_OF_AN_ENDED_LOOP.keys()
)
def test_a_breach_of_an_ended_loop_is_noticed(tamper: Tamper, sentence: str, ended: Loop) -> None:
    tamper(ended)

    assert any(sentence in said for said in check_loop(ended)), check_loop(ended)


def test_a_loop_that_failed_has_one_failure_that_it_did_not_tolerate(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, failure())

    assert check_loop(loop) == []
    of(loop).update(status="stopped", stop_reason="deadline_exceeded")
    assert any("1 of its runs failed; it is stopped and tolerated 0" in said for said in check_loop(loop))


def test_every_reason_goes_with_a_status() -> None:
    assert set(STATUSES_OF) == set(StopReason)


def test_more_in_flight_than_slots_is_noticed(agent: Any, viewer: Viewer) -> None:
    for _ in range(2):
        queue_chat(agent)
        take(agent.pk, WORKER)
    assert check_agents() == []

    Agent.objects.filter(pk=agent.pk).update(max_parallel_tasks=1)

    assert check_agents() == ["agent scribe: 2 in flight, 1 slots"]


def test_a_run_in_flight_whose_lease_never_ends_is_noticed(agent: Any, active: Loop) -> None:
    assert check_executions() == []

    executions(active, 3).update(lease_until=None)

    assert len(check_executions()) == 1
    assert "no lease will ever end" in check_executions()[0]


def test_a_run_whose_loop_is_gone_is_noticed(agent: Any, active: Loop) -> None:
    executions(active, 3).update(loop_id="loop_gone")

    assert any("there is no loop loop_gone" in said for said in check_executions())
