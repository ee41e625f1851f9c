"""Slots: first come first served over all triggers, never more in flight than there are, guardrails asked once more."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.queries import agents_with_due_work
from executions.services import queue_execution, settle, take
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus, Trigger
from loops.invariants import check_loop
from loops.models import Loop
from loops.services import end_due_parks, end_overdue_waits
from loops.vocabulary import EventKind, LoopStatus, StopReason
from tests.conftest import StillClock
from tests.engine import WORKER, again, queue_chat, start, success


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def narrow(make_agent: Callable[..., Any]) -> Agent:
    """An agent with one slot."""
    agent: Agent = make_agent("narrow", max_parallel_tasks=1)
    return agent


def queue_of_trigger(agent: Agent, trigger: Trigger) -> Execution:
    with agent_step(agent.pk) as step:
        return queue_execution(step, trigger=trigger, prompt="x", timeout_seconds=60)


def carry_out_all(agent: Agent) -> list[str]:
    """The ids of all that begins, in that order, one after the other."""
    began = []
    execution = take(agent.pk, WORKER)
    while execution is not None:
        began.append(execution.pk)
        execution = settle(execution, success(), WORKER)
    return began


def test_first_come_first_served_whatever_the_trigger(narrow: Agent, viewer: Viewer, still_clock: StillClock) -> None:
    came = []
    for trigger in [*Trigger, *reversed(Trigger)]:
        still_clock.pass_seconds(1)
        if trigger is Trigger.LOOP:
            came.append(Execution.objects.get(loop_id=start(narrow, viewer, max_runs=1).pk).pk)
        else:
            came.append(queue_of_trigger(narrow, trigger).pk)

    assert carry_out_all(narrow) == came


def test_the_next_run_of_a_loop_stands_behind_those_that_came_during_the_one_before(
    narrow: Agent, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(narrow, viewer, max_runs=2)
    run = take(narrow.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(1)
    chat = queue_chat(narrow)
    still_clock.pass_seconds(1)

    following = settle(run, success(), WORKER)

    assert following is not None
    assert following.pk == chat.pk
    last = settle(following, success(), WORKER)
    assert last is not None
    assert (last.loop_id, last.run_number) == (loop.pk, 2)


def test_a_clock_that_was_set_back_lets_no_run_overtake_what_came_before_it(
    narrow: Agent, viewer: Viewer, still_clock: StillClock
) -> None:
    start(narrow, viewer, max_runs=2)
    run = take(narrow.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(1)
    chat = queue_chat(narrow)
    still_clock.pass_seconds(-3_600)

    following = settle(run, success(), WORKER)

    assert following is not None
    assert following.pk == chat.pk


def test_no_more_is_taken_than_there_are_slots(make_agent: Callable[..., Any], viewer: Viewer) -> None:
    agent = make_agent(max_parallel_tasks=2)
    for _ in range(4):
        queue_chat(agent)

    taken = [take(agent.pk, WORKER) for _ in range(4)]

    assert [execution is not None for execution in taken] == [True, True, False, False]


def test_slots_of_one_agent_are_nothing_to_another(make_agent: Callable[..., Any], narrow: Agent) -> None:
    other = make_agent("other", max_parallel_tasks=1)
    for agent in (narrow, narrow, other):
        queue_chat(agent)

    assert take(narrow.pk, WORKER) is not None
    assert take(narrow.pk, WORKER) is None
    assert take(other.pk, WORKER) is not None


def test_a_lowered_limit_admits_nothing_until_enough_have_ended(make_agent: Callable[..., Any]) -> None:
    agent = make_agent(max_parallel_tasks=3)
    for _ in range(5):
        queue_chat(agent)
    first, second, third = [take(agent.pk, WORKER) for _ in range(3)]
    Agent.objects.filter(pk=agent.pk).update(max_parallel_tasks=1)

    assert first is not None
    assert settle(first, success(), WORKER) is None
    assert second is not None
    assert settle(second, success(), WORKER) is None
    assert third is not None
    assert settle(third, success(), WORKER) is not None


def test_a_raised_limit_admits_at_once(narrow: Agent) -> None:
    for _ in range(2):
        queue_chat(narrow)
    take(narrow.pk, WORKER)

    Agent.objects.filter(pk=narrow.pk).update(max_parallel_tasks=2)

    assert take(narrow.pk, WORKER) is not None


def test_run_one_begins_the_loop_and_sets_its_deadline(agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, max_duration_seconds=900)
    still_clock.pass_seconds(5_000)
    assert (again(loop).status, again(loop).started_at, again(loop).deadline_at) == (LoopStatus.QUEUED, None, None)

    take(agent.pk, WORKER)

    began = again(loop)
    assert (began.status, began.started_at) == (LoopStatus.RUNNING, still_clock.now)
    assert (began.deadline_at - began.started_at).total_seconds() == 900


def waiting_behind_a_chat(narrow: Agent, viewer: Viewer, still_clock: StillClock) -> tuple[Loop, Execution]:
    """A loop whose second run waits for the only slot, and the chat that has it."""
    loop = start(narrow, viewer, max_duration_seconds=900)
    run = take(narrow.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(1)
    queue_chat(narrow)
    still_clock.pass_seconds(1)
    chat = settle(run, success(), WORKER)
    assert chat is not None
    return loop, chat


def test_the_deadline_ends_a_loop_that_waits_for_a_slot_without_waiting_for_it(
    narrow: Agent, viewer: Viewer, still_clock: StillClock
) -> None:
    loop, chat = waiting_behind_a_chat(narrow, viewer, still_clock)
    still_clock.now = again(loop).deadline_at

    assert end_overdue_waits(still_clock.now, 10) == 1

    ended = again(loop)
    assert (ended.status, ended.stop_reason) == (LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)
    assert again(chat).in_flight
    assert check_loop(ended) == []


def test_a_run_that_waited_beyond_the_deadline_is_withdrawn_when_its_turn_comes_and_the_next_in_line_begins(
    narrow: Agent, viewer: Viewer, still_clock: StillClock
) -> None:
    loop, chat = waiting_behind_a_chat(narrow, viewer, still_clock)
    still_clock.now = again(loop).deadline_at
    behind = queue_chat(narrow)

    following = settle(chat, success(), WORKER)

    assert following is not None
    assert following.pk == behind.pk
    ended = again(loop)
    assert (ended.status, ended.stop_reason) == (LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)
    withdrawn = Execution.objects.get(loop_id=loop.pk, run_number=2)
    assert (withdrawn.status, withdrawn.ended_at) == (ExecutionStatus.CANCELLED, still_clock.now)
    assert [run.run_number for run in ended.runs.all()] == [1]
    assert ended.runs_completed == 1
    assert check_loop(ended) == []


def test_a_row_of_overdue_runs_is_withdrawn_in_one_go(narrow: Agent, viewer: Viewer, still_clock: StillClock) -> None:
    loops = []
    for _ in range(3):
        loop = start(narrow, viewer, max_duration_seconds=900, delay_seconds=60)
        run = take(narrow.pk, WORKER)
        assert run is not None
        settle(run, success())
        loops.append(loop)
        still_clock.pass_seconds(1)
    still_clock.pass_seconds(60)
    assert end_due_parks(still_clock.now, 10) == 3
    still_clock.pass_seconds(900)

    assert take(narrow.pk, WORKER) is None

    assert {again(loop).stop_reason for loop in loops} == {StopReason.DEADLINE_EXCEEDED}
    assert not Execution.objects.filter(status=ExecutionStatus.QUEUED).exists()


def test_a_run_in_flight_at_its_deadline_finishes(agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, max_duration_seconds=900)
    run = take(agent.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(2_000)

    assert end_overdue_waits(still_clock.now, 10) == 0
    settle(run, success("the last word"))

    assert (again(loop).stop_reason, again(loop).last_response) == (StopReason.DEADLINE_EXCEEDED, "the last word")


def test_runs_that_finish_beyond_their_deadline_do_not_crowd_out_loops_that_wait(
    make_agent: Callable[..., Any], narrow: Agent, viewer: Viewer, still_clock: StillClock
) -> None:
    start(make_agent("slow"), viewer, max_duration_seconds=900)
    assert take(Agent.objects.get(name="slow").pk, WORKER) is not None
    still_clock.pass_seconds(1)
    loop, _ = waiting_behind_a_chat(narrow, viewer, still_clock)
    still_clock.now = again(loop).deadline_at

    assert end_overdue_waits(still_clock.now, limit=1) == 1

    assert again(loop).stop_reason == StopReason.DEADLINE_EXCEEDED


def test_workers_are_told_of_what_was_queued_and_not_of_what_they_took_themselves(
    narrow: Agent, viewer: Viewer, quiet_nudges: list[tuple[int, str]]
) -> None:
    start(narrow, viewer)
    assert quiet_nudges == [(narrow.pk, "default")]
    quiet_nudges.clear()

    run = take(narrow.pk, WORKER)
    assert run is not None
    settle(run, success(), WORKER)

    assert quiet_nudges == []


def test_a_worker_that_ends_leaves_the_next_run_and_tells_others(
    narrow: Agent, viewer: Viewer, quiet_nudges: list[tuple[int, str]]
) -> None:
    start(narrow, viewer)
    run = take(narrow.pk, WORKER)
    assert run is not None
    quiet_nudges.clear()

    assert settle(run, success(), None) is None

    assert quiet_nudges == [(narrow.pk, "default")]


def test_the_sweep_finds_work_that_nobody_was_told_of_longest_waiting_first(
    make_agent: Callable[..., Any], still_clock: StillClock
) -> None:
    late, early, busy = (make_agent(name, max_parallel_tasks=1) for name in ("late", "early", "busy"))
    for agent in (busy, busy, early, late, early):
        still_clock.pass_seconds(1)
        queue_chat(agent)
    take(busy.pk, WORKER)
    make_agent("idle")
    queue_chat(make_agent("elsewhere", place="elsewhere"))

    assert agents_with_due_work("default", still_clock.now, 10) == [early.pk, late.pk]


def test_events_of_a_run_stand_in_its_order_and_each_is_one_version(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=2)
    carry_out_all(agent)

    kinds = list(again(loop).events.order_by("sequence").values_list("kind", flat=True))
    assert kinds == [
        EventKind.LOOP_STARTED,
        EventKind.LOOP_RUN_STARTED,
        EventKind.LOOP_RUN_COMPLETED,
        EventKind.LOOP_RUN_STARTED,
        EventKind.LOOP_RUN_COMPLETED,
        EventKind.LOOP_COMPLETED,
    ]
