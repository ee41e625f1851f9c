"""A model that is away is no outcome: the execution goes back to the queue, frees its slot and waits."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.services import archive_agent
from executions import services as executions
from executions.models import Execution
from executions.services import settle, take, take_over
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from loops.services import end_due_parks, end_overdue_waits, request_stop
from loops.vocabulary import EventKind, LoopStatus, StopReason
from tests.conftest import StillClock
from tests.engine import OTHER_WORKER, WORKER, again, lost, model_away, queue_chat, start, success
from trinity.kernel.money import to_nano

PATIENCE = 6 * 3600
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def patience(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents wait six hours for their model, and not one second more than the rule says."""
    agent.runtime_settings["unavailable_patience_seconds"] = PATIENCE
    agent.save()
    monkeypatch.setattr(executions.random, "random", lambda: 0.0)


@pytest.fixture
def away(agent: Any, alice: Any, still_clock: StillClock) -> Callable[..., tuple[Loop, Execution]]:
    """A loop whose first run met a model that is away."""

    def make(until: dt.datetime | None = None, **asked: Any) -> tuple[Loop, Execution]:
        loop = start(agent, Viewer(user=alice), **asked)
        execution = take(agent.pk, WORKER)
        assert execution is not None
        settle(execution, model_away(until))
        return again(loop), again(execution)

    return make


def test_the_execution_goes_back_to_the_queue_and_says_until_when(away: Callable[..., Any]) -> None:
    _, execution = away()

    assert execution.status == ExecutionStatus.QUEUED
    assert execution.waits_for_model == "rate_limited"
    assert (execution.claim_token, execution.worker, execution.lease_until) == ("", "", None)


def test_it_is_neither_a_run_that_ended_nor_a_failure(away: Callable[..., Any]) -> None:
    loop, _ = away()

    assert (loop.status, loop.runs_completed, loop.consecutive_failures) == (LoopStatus.RUNNING, 0, 0)
    assert check_loop(loop) == []


def test_the_loop_says_that_it_waits(away: Callable[..., Any]) -> None:
    loop, execution = away()

    event = loop.events.get(kind=EventKind.LOOP_RUN_WAITING)
    assert event.facts["until"] == execution.not_before.isoformat()
    assert event.facts["why"] == "rate_limited"


def test_its_slot_is_free_for_others(make_agent: Callable[..., Any], alice: Any, still_clock: StillClock) -> None:
    patient = {"replies": [{"response": "done"}], "unavailable_patience_seconds": PATIENCE}
    agent = make_agent("narrow", max_parallel_tasks=1, runtime_settings=patient)
    start(agent, Viewer(user=alice))
    execution = take(agent.pk, WORKER)
    assert execution is not None
    still_clock.pass_seconds(1)
    chat = queue_chat(agent)

    following = settle(execution, model_away(), WORKER)

    assert following is not None
    assert following.pk == chat.pk


def test_nobody_takes_it_before_its_time(away: Callable[..., Any], agent: Any, still_clock: StillClock) -> None:
    _, execution = away()

    still_clock.now = execution.not_before - dt.timedelta(microseconds=1)
    assert take(agent.pk, WORKER) is None

    still_clock.now = execution.not_before
    taken = take(agent.pk, WORKER)
    assert taken is not None
    assert taken.pk == execution.pk


def test_it_keeps_its_place_in_line(away: Callable[..., Any], agent: Any, still_clock: StillClock) -> None:
    _, execution = away()
    still_clock.pass_seconds(1)
    queue_chat(agent)
    still_clock.now = execution.not_before

    taken = take(agent.pk, WORKER)

    assert taken is not None
    assert taken.pk == execution.pk


def test_each_attempt_is_counted_and_waits_twice_as_long(
    away: Callable[..., Any], agent: Any, still_clock: StillClock
) -> None:
    _, execution = away()
    waits = []
    for _ in range(6):
        waits.append((execution.not_before - still_clock.now) / MINUTE)
        still_clock.now = execution.not_before
        taken = take(agent.pk, WORKER)
        assert taken is not None
        assert taken.attempt == execution.attempt
        settle(taken, model_away())
        execution = again(execution)

    assert waits == [1, 2, 4, 8, 15, 15]
    assert execution.attempt == 8


def test_a_time_that_was_named_is_kept_to(away: Callable[..., Any], still_clock: StillClock) -> None:
    named = still_clock.now + dt.timedelta(hours=3)

    _, execution = away(named)

    assert execution.not_before == named


def test_after_its_patience_it_fails_as_usual(away: Callable[..., Any], agent: Any, still_clock: StillClock) -> None:
    loop, execution = away()
    still_clock.pass_seconds(PATIENCE)
    taken = take(agent.pk, WORKER)
    assert taken is not None

    settle(taken, model_away())

    assert again(execution).status == ExecutionStatus.FAILED
    assert again(execution).error_kind == "rate_limited"
    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.FAILED, StopReason.ERROR)
    assert check_loop(again(loop)) == []


def test_patience_counts_from_the_first_time_the_model_was_away(
    away: Callable[..., Any], agent: Any, still_clock: StillClock
) -> None:
    began = still_clock.now
    _, execution = away()
    for _ in range(2):
        still_clock.now = again(execution).not_before
        taken = take(agent.pk, WORKER)
        assert taken is not None
        settle(taken, model_away(began + dt.timedelta(days=30)))

    assert again(execution).not_before is None, "the third call, the last one, was made at the end of its patience"
    assert again(execution).ended_at == began + dt.timedelta(seconds=PATIENCE)


def test_it_does_not_wait_beyond_its_patience(away: Callable[..., Any], still_clock: StillClock) -> None:
    _, execution = away(still_clock.now + dt.timedelta(days=30))

    assert execution.not_before == still_clock.now + dt.timedelta(seconds=PATIENCE)


def test_it_does_not_wait_beyond_the_deadline_of_its_loop(away: Callable[..., Any], still_clock: StillClock) -> None:
    loop, execution = away(still_clock.now + dt.timedelta(days=30), max_duration_seconds=1000)

    assert execution.not_before == loop.deadline_at


def test_the_deadline_ends_the_loop_while_it_waits_for_the_model(
    away: Callable[..., Any], still_clock: StillClock
) -> None:
    loop, execution = away(max_duration_seconds=1000)
    still_clock.pass_seconds(1000)

    assert end_overdue_waits(still_clock.now, 10) == 1

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.DEADLINE_EXCEEDED)
    assert again(execution).status == ExecutionStatus.CANCELLED
    assert not loop.runs.exists()
    assert check_loop(again(loop)) == []


def test_a_stop_ends_the_loop_at_once_while_it_waits_for_the_model(away: Callable[..., Any], alice: Any) -> None:
    loop, execution = away()

    request_stop(Viewer(user=alice), loop)

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.USER_STOPPED)
    assert again(execution).status == ExecutionStatus.CANCELLED
    assert check_loop(again(loop)) == []


def test_a_stop_that_came_during_the_call_ends_the_loop_instead_of_waiting(
    agent: Any, alice: Any, still_clock: StillClock
) -> None:
    loop = start(agent, Viewer(user=alice))
    execution = take(agent.pk, WORKER)
    assert execution is not None
    request_stop(Viewer(user=alice), loop)

    settle(execution, model_away())

    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.USER_STOPPED)
    assert again(execution).status == ExecutionStatus.CANCELLED
    assert check_loop(again(loop)) == []


def test_the_time_of_waiting_is_not_the_time_of_the_run(
    away: Callable[..., Any], agent: Any, still_clock: StillClock
) -> None:
    _, execution = away()
    assert execution.started_at is None
    still_clock.now = execution.not_before
    taken = take(agent.pk, WORKER)
    assert taken is not None
    still_clock.pass_seconds(5)

    settle(taken, success())

    assert again(execution).duration_ms == 5_000


def test_a_worker_that_lost_its_claim_puts_nothing_back(agent: Any, alice: Any, still_clock: StillClock) -> None:
    loop = start(agent, Viewer(user=alice))
    ours = take(agent.pk, WORKER)
    assert ours is not None
    assert take_over(again(ours), OTHER_WORKER)

    settle(ours, model_away())

    assert again(ours).status == ExecutionStatus.RUNNING
    assert again(ours).worker == OTHER_WORKER.worker
    assert not loop.events.filter(kind=EventKind.LOOP_RUN_WAITING).exists()


def test_a_doubled_settlement_of_an_earlier_attempt_does_not_touch_the_next_one(
    away: Callable[..., Any], agent: Any, still_clock: StillClock
) -> None:
    loop, execution = away()
    still_clock.now = execution.not_before
    first = Execution(pk=execution.pk, agent=agent, trigger="loop", loop_id=loop.pk, attempt=1, claim_token="gone")
    second = take(agent.pk, WORKER)
    assert second is not None

    settle(first, model_away())
    settle(first, success("too late"))

    assert again(second).in_flight
    assert again(second).attempt == 2


def test_what_a_call_in_vain_cost_is_spent_at_once(agent: Any, alice: Any, still_clock: StillClock) -> None:
    loop = start(agent, Viewer(user=alice))
    execution = take(agent.pk, WORKER)

    settle(execution, model_away(dollars=0.02))

    assert again(execution).cost_nano == to_nano(0.02)
    assert again(loop).spent_nano == to_nano(0.02)
    assert check_loop(again(loop)) == []


@pytest.mark.parametrize(("last", "estimated"), [(0.1, False), (None, True)])
def test_a_run_costs_what_all_its_attempts_cost(
    agent: Any, alice: Any, still_clock: StillClock, last: float | None, estimated: bool
) -> None:
    loop = start(agent, Viewer(user=alice), max_runs=1)
    for outcome in (model_away(dollars=0.02), model_away(), success(dollars=last)):
        still_clock.pass_seconds(3600)
        settle(take(agent.pk, WORKER), outcome)

    run = loop.runs.get().execution
    assert (run.cost_nano, run.cost_estimated) == (to_nano(0.02 + (last or 0)), estimated)
    assert again(loop).spent_nano == run.cost_nano
    assert check_loop(again(loop)) == []


def test_a_cost_that_was_never_known_stays_unknown(agent: Any, still_clock: StillClock) -> None:
    execution = queue_chat(agent)
    for outcome in (model_away(), success()):
        still_clock.pass_seconds(3600)
        settle(take(agent.pk, WORKER), outcome)

    assert (again(execution).cost_nano, again(execution).cost_estimated) == (None, False)


def test_calls_in_vain_may_use_up_the_budget(agent: Any, alice: Any, still_clock: StillClock) -> None:
    loop = start(agent, Viewer(user=alice), max_cost_usd=0.03)

    settle(take(agent.pk, WORKER), model_away(dollars=0.03))

    ended = again(loop)
    assert (ended.status, ended.stop_reason) == (LoopStatus.STOPPED, StopReason.BUDGET_EXHAUSTED)
    assert ended.spent_nano == to_nano(0.03)
    assert check_loop(ended) == []


def test_a_lost_run_keeps_what_its_calls_in_vain_cost_and_takes_its_late_outcome(
    agent: Any, alice: Any, still_clock: StillClock
) -> None:
    loop = start(agent, Viewer(user=alice))
    settle(take(agent.pk, WORKER), model_away(dollars=0.02))
    still_clock.pass_seconds(3600)
    seen = take(agent.pk, WORKER)
    taken_over = again(seen)
    assert take_over(taken_over, OTHER_WORKER)
    settle(taken_over, lost())

    for _ in range(2):
        settle(seen, success("after all", 0.1))

    assert (again(seen).cost_nano, again(seen).response) == (to_nano(0.12), "after all")
    assert again(loop).spent_nano == to_nano(0.02), "a late outcome's cost stays with its execution"
    assert check_loop(again(loop)) == []


def test_a_call_whose_agent_was_archived_meanwhile_does_not_wait_for_ever(
    agent: Any, alice: Any, still_clock: StillClock
) -> None:
    execution = queue_chat(agent)
    claimed = take(agent.pk, WORKER)
    archive_agent(Viewer(user=alice), agent)

    settle(claimed, model_away())

    assert again(execution).status == ExecutionStatus.CANCELLED


def test_a_loop_whose_model_is_away_is_not_parked(away: Callable[..., Any], still_clock: StillClock) -> None:
    away(delay_seconds=60)

    assert end_due_parks(still_clock.now + dt.timedelta(days=1), 10) == 0
