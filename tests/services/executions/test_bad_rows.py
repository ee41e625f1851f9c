"""One bad row, or one part of the sweep that fails, keeps nothing else from its turn."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from accounts.viewers import Viewer
from agents.runtimes.base import Ending, Outcome
from executions import receivers
from executions.grading import grade_waiting
from executions.models import Execution, Trajectory, Verdict
from executions.services import settle, take
from executions.worker import sweep as sweep_module
from executions.worker.carrier import Carrier
from executions.worker.sweep import Sweep
from loops import services as loops_services
from loops.models import Loop
from loops.services import end_due_parks
from tests.conftest import StillClock
from tests.engine import OTHER_WORKER, WORKER, again, start, success

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def sweep(tmp_path: Path) -> Iterator[Sweep]:
    """The sweep of a worker that does not run by itself; what it has begun ends before the tables are emptied."""
    carrier = Carrier(tmp_path)
    carrier.claimant = OTHER_WORKER
    yield Sweep(carrier)
    carrier._pool.shutdown(wait=True)


@pytest.fixture
def parked(agent: Any, viewer: Viewer, still_clock: StillClock) -> list[Loop]:
    """Two loops whose park is over."""
    loops = [start(agent, viewer, delay_seconds=60) for _ in range(2)]
    for _ in loops:
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, success())
        still_clock.pass_seconds(1)
    still_clock.pass_seconds(60)
    return loops


def of_the_first(loops: list[Loop], error: Exception, really: Callable[..., Any]) -> Callable[..., Any]:
    """The same call, but for the loop that is due first, where it fails."""
    first = min(loops, key=lambda loop: again(loop).next_run_at).pk

    def call(step: Any, loop_id: str) -> Any:
        if loop_id == first:
            raise error
        return really(step, loop_id)

    return call


def test_a_loop_that_cannot_be_moved_does_not_stop_the_next(
    parked: list[Loop], still_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = of_the_first(parked, ValueError("a bad row"), loops_services.record_of)
    monkeypatch.setattr(loops_services, "record_of", broken)

    assert end_due_parks(still_clock.now, 10) == 1


def test_when_the_database_is_away_the_other_loops_are_not_tried_one_by_one(
    parked: list[Loop], still_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = of_the_first(parked, OperationalError("gone"), loops_services.record_of)
    monkeypatch.setattr(loops_services, "record_of", away)

    with pytest.raises(OperationalError):
        end_due_parks(still_clock.now, 10)


def test_a_repair_that_fails_does_not_keep_parks_from_ending(
    parked: list[Loop], sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(now: dt.datetime, limit: int) -> int:
        raise ValueError("one corrupt row")

    monkeypatch.setattr(receivers, "_repairs", {"corrupt": fail, **receivers.repairs()})

    sweep.once()

    assert [again(loop).next_run_at for loop in parked] == [None, None]


def test_an_orphan_that_cannot_be_taken_over_does_not_stop_the_next(
    agent: Any, viewer: Viewer, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphans = []
    for _ in range(2):
        start(agent, viewer)
        run = take(agent.pk, WORKER)
        assert run is not None
        Execution.objects.filter(pk=run.pk).update(spool_id=sweep._carrier.home.spool_id)
        orphans.append(again(run))
    first = min(orphans, key=lambda one: one.lease_until)
    really = sweep_module.take_over

    def call(execution: Execution, claimant: Any) -> bool:
        if execution.pk == first.pk:
            raise ValueError("a bad row")
        return really(execution, claimant)

    monkeypatch.setattr(sweep_module, "take_over", call)
    monkeypatch.setattr(sweep._carrier, "go_on_with", lambda execution: None)

    sweep.once()

    assert sorted(again(one).worker for one in orphans) == [WORKER.worker, OTHER_WORKER.worker]


def test_a_trajectory_that_cannot_be_read_is_an_error_verdict_and_the_next_is_graded(
    agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    call = {"tool": "bash", "args": {"command": "make"}, "result": "error 2"}
    outcome = Outcome(Ending.COMPLETED, response="done", steps=((call,), (call,)))
    executions = []
    for _ in range(2):
        start(agent, viewer, max_runs=1)
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, outcome)
        executions.append(run)
    Trajectory.objects.filter(execution=executions[0]).update(compressed=b"no zlib")

    assert grade_waiting(still_clock.now, 10) == 2

    bad, good = (Verdict.objects.get(execution=one) for one in executions)
    assert (bad.error, bad.passed) == (True, None)
    assert "cannot be read" in bad.evidence
    assert (good.error, good.passed) == (False, True)
    assert grade_waiting(still_clock.now, 10) == 0
