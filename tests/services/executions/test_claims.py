"""An execution has one worker: claims, takeovers, and two workers that both believe it is theirs."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import Claimant, settle, take, take_over, withdraw
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus
from loops.invariants import check_loop
from loops.models import Loop
from loops.vocabulary import EventKind
from tests.conftest import StillClock
from tests.engine import OTHER_WORKER, WORKER, again, lost, start, success
from trinity.kernel.errors import Broken

ELSEWHERE = Claimant(worker="w3", host="h3", spool_id="s3", place="elsewhere", lease_seconds=30)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def claimed(agent: Any, viewer: Viewer) -> Execution:
    """The first run of a loop, in the hands of WORKER."""
    start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    return execution


def renew_lease(execution: Execution, seconds: float) -> None:
    row = again(execution)
    Execution.objects.filter(pk=row.pk).update(lease_until=row.lease_until + dt.timedelta(seconds=seconds))


def test_a_claim_names_its_worker_and_ends_by_itself(claimed: Execution) -> None:
    row = again(claimed)

    assert (row.status, row.worker, row.host, row.spool_id) == (ExecutionStatus.RUNNING, "w1", "h1", "s1")
    assert row.claim_token == claimed.claim_token != ""
    assert row.lease_until is not None


def test_a_second_message_finds_nothing_to_take(claimed: Execution, agent: Any) -> None:
    assert take(agent.pk, WORKER) is None
    assert take(agent.pk, OTHER_WORKER) is None


def test_a_worker_of_another_place_takes_nothing(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer)

    assert take(agent.pk, ELSEWHERE) is None


def test_a_worker_of_another_place_settles_and_takes_nothing_further(claimed: Execution, agent: Any) -> None:
    assert settle(claimed, success(), ELSEWHERE) is None

    assert again(claimed).ended


def test_of_two_workers_that_settle_the_same_claim_the_first_one_counts(claimed: Execution, agent: Any) -> None:
    twin = again(claimed)

    first = settle(claimed, success("first", 0.10), WORKER)
    second = settle(twin, success("second", 0.20), OTHER_WORKER)

    assert again(claimed).response == "first"
    assert first is not None
    assert first.run_number == 2
    assert second is None
    loop = Loop.objects.get(pk=claimed.loop_id)
    assert (loop.runs_completed, loop.events.filter(kind=EventKind.LOOP_RUN_COMPLETED).count()) == (1, 1)
    assert check_loop(loop) == []


def test_one_that_settles_in_vain_still_goes_on_with_other_work(claimed: Execution, agent: Any, viewer: Viewer) -> None:
    settle(claimed, success())
    other = start(agent, viewer)
    twin = take(agent.pk, WORKER)
    assert twin is not None

    following = settle(claimed, success(), WORKER)

    assert following is not None
    assert {following.loop_id, twin.loop_id} == {claimed.loop_id, other.pk}


def test_after_a_takeover_only_the_new_worker_settles(claimed: Execution, agent: Any) -> None:
    theirs = again(claimed)
    assert take_over(theirs, OTHER_WORKER)

    assert settle(claimed, success("the old worker's")) is None
    assert again(claimed).in_flight

    settle(theirs, success("the new worker's"))
    assert again(claimed).response == "the new worker's"


def test_a_takeover_leaves_the_spool_and_the_attempt_as_they_are(claimed: Execution) -> None:
    theirs = again(claimed)

    assert take_over(theirs, Claimant("w2", "h2", "another spool", "default", 30))

    assert (again(claimed).spool_id, again(claimed).attempt) == ("s1", 1)
    assert (again(claimed).worker, again(claimed).host) == ("w2", "h2")


def test_of_two_workers_that_take_over_only_one_succeeds(claimed: Execution) -> None:
    seen_by_one, seen_by_two = again(claimed), again(claimed)

    assert take_over(seen_by_one, OTHER_WORKER)
    assert not take_over(seen_by_two, WORKER)

    assert again(claimed).worker == OTHER_WORKER.worker


def test_an_ended_execution_cannot_be_taken_over(claimed: Execution) -> None:
    seen = again(claimed)
    settle(claimed, success())

    assert not take_over(seen, OTHER_WORKER)


def test_a_worker_that_renewed_its_lease_meanwhile_keeps_its_claim(claimed: Execution) -> None:
    seen = again(claimed)
    renew_lease(claimed, seconds=30)

    assert not take_over(seen, OTHER_WORKER)

    settle(claimed, success("still mine"))
    assert again(claimed).response == "still mine"


def test_a_lost_run_ends_the_loop_or_counts_as_a_failure_as_the_policy_says(agent: Any, viewer: Viewer) -> None:
    aborting = start(agent, viewer)
    tolerant = start(agent, viewer, on_failure="continue")
    for _ in range(2):
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, lost())

    assert (again(aborting).status, again(aborting).stop_reason) == ("failed", "error")
    assert (again(tolerant).status, again(tolerant).failed_runs) == ("running", 1)


def test_a_row_that_changed_outside_the_lock_is_an_error_and_nothing_is_written(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    execution = Execution.objects.get(loop_id=loop.pk)

    def withdraw_what_somebody_claimed() -> None:
        with agent_step(agent.pk) as step:
            Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.RUNNING, claim_token="x")
            withdraw(step, execution)

    with pytest.raises(Broken, match="outside its agent's lock"):
        withdraw_what_somebody_claimed()

    assert again(execution).status == ExecutionStatus.QUEUED


@pytest.mark.parametrize("seconds", [0, 5])
def test_time_in_flight_is_measured_when_no_runner_told(
    seconds: int, agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(seconds)

    settle(run, success())

    assert again(run).duration_ms == seconds * 1000


def test_a_clock_that_was_set_back_makes_no_negative_duration(
    make_agent: Callable[..., Any], agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    still_clock.pass_seconds(-3600)

    settle(run, success())

    assert again(run).duration_ms == 0
