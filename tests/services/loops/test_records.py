"""The record of a loop: changed only with an event, only under the lock, and never after its end."""

from typing import Any

import pytest

from accounts.viewers import Viewer
from executions.receivers import receiver_of
from executions.services import settle, take
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from loops.parameters import read_parameters
from loops.record import record_of
from loops.services import end_waiting, start_loop_in
from loops.vocabulary import EventKind, LoopStatus
from tests.engine import WORKER, again, failure, start, success
from trinity.kernel.errors import Broken


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.mark.parametrize("succeeded", [True, False])
def test_an_ended_loop_refuses_every_further_change(succeeded: bool, agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=1)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    settle(execution, success("the end", 0.10))
    before = Loop.objects.filter(pk=loop.pk).values().get()

    def end_it_again() -> None:
        with agent_step(agent.pk) as step:
            outcome = success("more", 0.20) if succeeded else failure("more", 0.20)
            receiver_of(execution).ended(step, execution, outcome)

    with pytest.raises(Broken, match="cannot change any more"):
        end_it_again()

    assert Loop.objects.filter(pk=loop.pk).values().get() == before
    assert check_loop(again(loop)) == []


def test_a_verdict_that_comes_after_the_end_raises_the_version_only(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=1)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    settle(execution, success("the end", 0.10))
    before = Loop.objects.filter(pk=loop.pk).values().get()

    with agent_step(agent.pk) as step:
        receiver_of(execution).graded(step, execution)

    after = Loop.objects.filter(pk=loop.pk).values().get()
    assert after == before | {"version": before["version"] + 1}
    assert check_loop(again(loop)) == []


def test_a_change_without_an_event_is_an_error(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    def change_silently() -> None:
        with agent_step(agent.pk) as step:
            record_of(step, loop.pk).set(spent_nano=5)

    with pytest.raises(Broken, match="without an event"):
        change_silently()

    assert again(loop).spent_nano == 0


def test_a_loop_that_changed_outside_the_lock_is_not_written_over(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None

    def write_on_an_old_version() -> None:
        with agent_step(agent.pk) as step:
            record_of(step, loop.pk).happened(EventKind.LOOP_RUN_GRADED)
            Loop.objects.filter(pk=loop.pk).update(version=99)

    with pytest.raises(Broken, match="outside its agent's lock"):
        write_on_an_old_version()


def test_a_run_that_is_withdrawn_in_the_step_that_made_it_never_was_one(agent: Any, viewer: Viewer) -> None:
    with agent_step(agent.pk) as step:
        loop = start_loop_in(step, viewer, read_parameters({"message": "Go", "max_runs": 3}))
        (execution,) = step.new.values()
        record = record_of(step, loop.pk)
        record.set(stop_requested_at=step.now)
        assert end_waiting(record, execution)

    assert again(execution).status == ExecutionStatus.CANCELLED
    assert (again(loop).status, again(loop).runs.count()) == (LoopStatus.STOPPED, 0)
    assert check_loop(loop) == []
