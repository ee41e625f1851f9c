"""A stop request in every state a loop can be in, and raced with everything that moves a loop."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import AuditEvent
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from executions.models import Execution
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from loops.services import end_due_parks, request_stop, stop_loops_of
from loops.vocabulary import EventKind, LoopStatus, StopAnswer, StopReason
from tests.conftest import StillClock
from tests.engine import WORKER, again, failure, queue_chat, start, success


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def ending(loop: Loop) -> tuple[str, str]:
    """How it ended; and whatever ended it left a sound loop."""
    loop = again(loop)
    assert check_loop(loop) == []
    return loop.status, loop.stop_reason


STOPPED_BY_USER = (LoopStatus.STOPPED, StopReason.USER_STOPPED)


def test_a_loop_that_never_began_ends_at_once_and_its_run_is_withdrawn(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    assert request_stop(viewer, loop) == StopAnswer.STOPPING

    assert ending(loop) == STOPPED_BY_USER
    assert again(loop).runs_completed == 0
    assert again(loop).started_at is None
    assert not again(loop).runs.exists()
    assert Execution.objects.get(loop_id=loop.pk).status == ExecutionStatus.CANCELLED


def test_a_run_in_flight_finishes_and_then_the_loop_ends(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None

    assert request_stop(viewer, loop) == StopAnswer.STOPPING
    assert not again(loop).ended

    assert settle(execution, success("the last word", 0.10), WORKER) is None
    assert ending(loop) == STOPPED_BY_USER
    assert (again(loop).runs_completed, again(loop).last_response) == (1, "the last word")


def test_a_loop_that_waits_for_a_slot_ends_at_once(
    make_agent: Callable[..., Any], viewer: Viewer, still_clock: StillClock
) -> None:
    agent = make_agent(max_parallel_tasks=1)
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(1)
    queue_chat(agent)
    still_clock.pass_seconds(1)
    chat = settle(run, success(), WORKER)
    assert chat is not None
    assert chat.trigger == "chat", "the chat came first, so the loop's second run waits"

    request_stop(viewer, loop)

    assert ending(loop) == STOPPED_BY_USER
    assert again(loop).runs_completed == 1
    assert [run.run_number for run in again(loop).runs.all()] == [1]


def test_a_parked_loop_ends_at_once(agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    assert again(loop).next_run_at is not None

    request_stop(viewer, loop)

    assert ending(loop) == STOPPED_BY_USER
    still_clock.pass_seconds(60)
    assert end_due_parks(still_clock.now, 10) == 0


def test_an_ended_loop_is_already_done_and_does_not_change(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=1)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    before = again(loop)

    assert request_stop(viewer, before) == StopAnswer.ALREADY_DONE
    assert request_stop(viewer, loop) == StopAnswer.ALREADY_DONE, "also for one who read it while it went on"

    assert (again(loop).version, again(loop).stop_requested_at) == (before.version, None)


def test_a_repeated_stop_request_is_recorded_once_and_keeps_the_first_name(
    agent: Any, viewer: Viewer, bob: Any
) -> None:
    loop = start(agent, viewer)
    take(agent.pk, WORKER)

    request_stop(viewer, loop)
    assert request_stop(Viewer(user=bob), loop) == StopAnswer.STOPPING

    assert again(loop).stop_requested_by == viewer.user
    assert again(loop).events.filter(kind=EventKind.LOOP_STOP_REQUESTED).count() == 1
    assert AuditEvent.objects.filter(action=AuditAction.LOOP_STOP_REQUESTED).count() == 1


def test_an_agent_that_asks_is_named_as_the_one_who_stopped_it(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    request_stop(Viewer(agent_id=agent.pk), loop)

    assert again(loop).stop_requested_by_agent == agent
    assert again(loop).stop_requested_by is None


def test_a_stop_during_the_last_run_finds_a_loop_that_is_done(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=1)
    run = take(agent.pk, WORKER)
    assert run is not None
    request_stop(viewer, loop)

    settle(run, success())

    assert ending(loop) == (LoopStatus.COMPLETED, StopReason.MAX_RUNS_REACHED)


def test_a_stop_during_a_run_that_fails_leaves_the_failure_as_the_reason(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    request_stop(viewer, loop)

    settle(run, failure())

    assert ending(loop) == (LoopStatus.FAILED, StopReason.ERROR)


def test_archiving_asks_all_loops_of_the_agent_to_stop_and_no_others(
    make_agent: Callable[..., Any], agent: Any, viewer: Viewer
) -> None:
    other = make_agent("other")
    elsewhere = start(other, viewer)
    loops = [start(agent, viewer) for _ in range(3)]
    run = take(agent.pk, WORKER)
    assert run is not None
    in_flight = Loop.objects.get(pk=run.loop_id)

    assert stop_loops_of(agent, viewer) == 3

    assert not again(elsewhere).stop_requested
    assert again(in_flight).stop_requested
    assert not again(in_flight).ended
    ended = [loop for loop in loops if loop.pk != in_flight.pk]
    assert [ending(loop) for loop in ended] == [STOPPED_BY_USER] * 2
    settle(run, success())
    assert ending(in_flight) == STOPPED_BY_USER
    assert stop_loops_of(agent, viewer) == 0
