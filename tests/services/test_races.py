"""Many threads at once, each on a connection of its own and in real transactions: slots, claims, stops, parks."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.viewers import Viewer
from agents.models import Agent
from agents.services import archive_agent
from executions.models import Execution
from executions.services import Claimant, settle, take, take_over
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_agents, check_executions, check_loop
from loops.models import Loop
from loops.services import end_due_parks, end_overdue_waits, request_stop
from loops.vocabulary import EventKind, LoopStatus, StopReason
from tests.conftest import StillClock
from tests.engine import WORKER, again, queue_chat, start, success
from trinity.kernel.errors import Refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make the calls in threads that set out together; what each returned, or the error that it raised."""
    results: list[Any] = [None] * len(calls)
    ready = threading.Barrier(len(calls))

    def run(place: int) -> None:
        try:
            connection.ensure_connection()
            ready.wait(timeout=20)
            results[place] = calls[place]()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def worker(number: int) -> Claimant:
    return Claimant(worker=f"w{number}", host="h", spool_id="s", place="default", lease_seconds=30)


def raised(results: list[Any]) -> list[Any]:
    return [result for result in results if isinstance(result, Exception)]


def test_eight_workers_that_take_at_once_get_three_slots_and_no_execution_twice(
    make_agent: Callable[..., Any],
) -> None:
    agent = make_agent(max_parallel_tasks=3)
    for _ in range(12):
        queue_chat(agent)

    taken = at_once(*[lambda number=number: take(agent.pk, worker(number)) for number in range(8)])

    assert raised(taken) == []
    claimed = [execution for execution in taken if execution is not None]
    assert len({execution.pk for execution in claimed}) == len(claimed) == 3
    assert Execution.objects.filter(status=ExecutionStatus.RUNNING).count() == 3
    assert {again(execution).claim_token for execution in claimed} == {one.claim_token for one in claimed}


def test_while_workers_go_on_there_are_never_more_in_flight_than_slots(
    make_agent: Callable[..., Any], viewer: Viewer
) -> None:
    agent = make_agent(max_parallel_tasks=2)
    loops = [start(agent, viewer, max_runs=6) for _ in range(5)]
    seen: list[int] = []

    def carry_out(number: int) -> None:
        misses = 0
        while misses < 30:
            execution = take(agent.pk, worker(number))
            misses += execution is None
            while execution is not None:
                seen.append(Execution.objects.filter(status=ExecutionStatus.RUNNING).count())
                execution = settle(execution, success(f"{number}"), worker(number))

    assert raised(at_once(*[lambda number=number: carry_out(number) for number in range(4)])) == []

    assert len(seen) == 30, "each run was carried out once"
    assert max(seen) <= 2
    assert {again(loop).stop_reason for loop in loops} == {StopReason.MAX_RUNS_REACHED}
    assert [sentence for loop in loops for sentence in check_loop(loop)] == []
    assert check_agents() + check_executions() == []


def test_of_four_workers_that_settle_the_same_claim_at_once_one_counts(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    copies = [again(execution) for _ in range(4)]

    results = at_once(*[lambda one=one: settle(one, success("once", 0.10), WORKER) for one in copies])

    assert raised(results) == []
    assert sum(result is not None for result in results) == 1, "one of them goes on with run 2"
    loop = again(loop)
    assert loop.runs_completed == 1
    assert loop.spent_nano == 10**8
    assert loop.events.filter(kind=EventKind.LOOP_RUN_COMPLETED).count() == 1
    assert check_loop(loop) == []


def test_of_four_workers_that_take_over_at_once_one_succeeds(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    seen = [again(execution) for _ in range(4)]

    results = at_once(*[lambda n=n, one=one: take_over(one, worker(n)) for n, one in enumerate(seen)])

    assert sorted(results) == [False, False, False, True]
    assert again(execution).worker == f"w{results.index(True)}"


@pytest.mark.parametrize("attempt", range(5))
def test_a_stop_that_races_with_the_end_of_a_run_ends_the_loop_in_either_order(
    attempt: int, agent: Any, viewer: Viewer
) -> None:
    loop = start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None

    stopped, following = at_once(
        lambda: request_stop(viewer, loop), lambda: settle(execution, success(), WORKER if attempt % 2 else None)
    )

    assert raised([stopped, following]) == []
    if following is not None:  # the settlement was faster and claimed run 2, which the stop lets finish
        assert not again(loop).ended
        settle(following, success())
    assert (again(loop).status, again(loop).stop_reason) == (LoopStatus.STOPPED, StopReason.USER_STOPPED)
    assert check_loop(loop) == []


def test_stops_that_come_together_are_one_stop(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    results = at_once(*[lambda: request_stop(viewer, loop) for _ in range(4)])

    assert raised(results) == []
    assert sorted(results) == ["already_done"] * 3 + ["stopping"]
    assert again(loop).events.filter(kind=EventKind.LOOP_STOP_REQUESTED).count() == 1
    assert check_loop(loop) == []


def test_a_park_is_ended_once_however_many_sweeps_there_are(
    agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    loops = [start(agent, viewer, delay_seconds=60, no_progress_threshold=0) for _ in range(3)]
    for _ in loops:
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, success())
    still_clock.pass_seconds(60)

    moved = at_once(*[lambda: end_due_parks(still_clock.now, 10) for _ in range(4)])

    assert raised(moved) == []
    assert sum(moved) == 3
    assert Execution.objects.filter(status=ExecutionStatus.QUEUED).count() == 3
    assert [sentence for loop in loops for sentence in check_loop(loop)] == []


def test_a_deadline_that_races_with_a_slot_either_ends_the_loop_or_lets_the_run_begin(
    make_agent: Callable[..., Any], viewer: Viewer, still_clock: StillClock
) -> None:
    agent = make_agent("narrow", max_parallel_tasks=1)
    loop = start(agent, viewer, max_duration_seconds=900)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success())
    still_clock.pass_seconds(900)

    taken, _ = at_once(lambda: take(agent.pk, WORKER), lambda: end_overdue_waits(still_clock.now, 10))

    assert taken is None
    assert again(loop).stop_reason == StopReason.DEADLINE_EXCEEDED
    assert check_loop(loop) == []


@pytest.mark.parametrize("attempt", range(3))
def test_no_loop_of_an_archived_agent_goes_on_that_was_started_while_it_was_archived(
    attempt: int, agent: Any, viewer: Viewer
) -> None:
    results = at_once(lambda: start(agent, viewer), lambda: archive_agent(viewer, agent), lambda: start(agent, viewer))

    assert all(isinstance(error, Refused) for error in raised(results))
    assert Agent.objects.get(pk=agent.pk).archived_at is not None
    assert all(loop.ended for loop in Loop.objects.all())
    assert [sentence for loop in Loop.objects.all() for sentence in check_loop(loop)] == []


@pytest.mark.postgres
def test_a_server_that_isolates_more_by_default_does_not_count_slots_by_an_old_snapshot(agent: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_isolation TO 'repeatable read'")
    try:
        with agent_step(agent.pk), connection.cursor() as cursor:
            cursor.execute("SHOW transaction_isolation")
            (isolation,) = cursor.fetchone()
    finally:
        connection.close()

    assert isolation == "read committed"
