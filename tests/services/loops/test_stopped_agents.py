"""A stopped or archived agent admits nothing: work in flight finishes, the rest waits, guardrails still end loops."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent
from agents.vocabulary import AgentStatus
from executions.queries import agents_with_due_work
from executions.services import settle, take
from loops.invariants import check_loop
from loops.services import end_due_parks, end_overdue_waits, request_stop
from loops.vocabulary import LoopStatus, StopReason
from tests.conftest import NOON, StillClock
from tests.engine import WORKER, again, queue_chat, start, success
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def stop_agent(agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(status=AgentStatus.STOPPED)


def archive(agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(archived_at=NOON)


CLOSED = pytest.mark.parametrize("close", [stop_agent, archive])
Close = Callable[[Agent], None]


@CLOSED
def test_it_admits_nothing_of_any_trigger(close: Close, agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    start(agent, viewer)
    queue_chat(agent)
    close(agent)

    assert take(agent.pk, WORKER) is None
    assert agents_with_due_work("default", still_clock.now, 10) == []


@CLOSED
def test_what_is_in_flight_finishes_and_the_next_run_waits(close: Close, agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    close(agent)

    assert settle(run, success(), WORKER) is None

    loop = again(loop)
    assert (loop.runs_completed, loop.status) == (1, LoopStatus.RUNNING)
    assert check_loop(loop) == []


@CLOSED
def test_a_new_loop_is_refused_and_leaves_nothing(close: Close, agent: Any, viewer: Viewer) -> None:
    close(agent)

    with pytest.raises(Refused) as refused:
        start(agent, viewer)

    assert refused.value.code == RefusalCode.CONFLICT
    assert not agent.loops.exists()
    assert not agent.executions.exists()


@CLOSED
def test_a_park_stays_when_its_time_has_come(close: Close, agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    close(agent)
    still_clock.pass_seconds(60)

    assert end_due_parks(still_clock.now, 10) == 0

    assert again(loop).next_run_at == still_clock.now
    assert check_loop(again(loop)) == []


@CLOSED
def test_a_sweep_that_was_slow_finds_the_agent_stopped_and_leaves_the_park(
    close: Close, agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer, delay_seconds=60, max_duration_seconds=900)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    close(agent)
    still_clock.pass_seconds(60)
    beyond_the_deadline = still_clock.now + dt.timedelta(hours=1)  # by the clock of the host that listed it

    assert end_due_parks(beyond_the_deadline, 10) == 0

    assert again(loop).next_run_at == still_clock.now
    assert check_loop(again(loop)) == []


def test_a_sweep_that_was_slow_does_not_cut_the_next_park_short(
    agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    listed_as_due = still_clock.now + dt.timedelta(seconds=60)

    assert end_due_parks(listed_as_due, 10) == 0, "the clock of this step says that it is not over"

    assert again(loop).next_run_at == listed_as_due


def test_a_park_goes_on_when_the_agent_is_started_again(agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    stop_agent(agent)
    still_clock.pass_seconds(600)
    end_due_parks(still_clock.now, 10)

    Agent.objects.filter(pk=agent.pk).update(status=AgentStatus.RUNNING)

    assert end_due_parks(still_clock.now, 10) == 1
    following = take(agent.pk, WORKER)
    assert following is not None
    assert (following.loop_id, following.run_number) == (loop.pk, 2)


def test_parks_that_stay_do_not_crowd_out_those_of_other_agents(
    make_agent: Callable[..., Any], viewer: Viewer, still_clock: StillClock
) -> None:
    stopped, running = make_agent("stopped"), make_agent("running")
    for agent in (stopped, stopped, running):
        start(agent, viewer, delay_seconds=60)
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, success())
        still_clock.pass_seconds(1)
    stop_agent(stopped)
    still_clock.pass_seconds(60)

    assert end_due_parks(still_clock.now, limit=1) == 1
    assert take(running.pk, WORKER) is not None


@CLOSED
def test_the_deadline_ends_a_parked_loop(close: Close, agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, delay_seconds=3600, max_duration_seconds=900)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    close(agent)
    still_clock.pass_seconds(900)

    assert end_due_parks(still_clock.now, 10) == 1

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)


@CLOSED
def test_the_deadline_ends_a_loop_whose_run_waits(
    close: Close, agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer, max_duration_seconds=900)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    close(agent)
    still_clock.pass_seconds(900)

    assert end_overdue_waits(still_clock.now, 10) == 1

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)
    assert check_loop(again(loop)) == []


@CLOSED
def test_a_stop_request_ends_a_loop_that_waits(close: Close, agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    close(agent)

    request_stop(viewer, loop)

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.USER_STOPPED)
