"""A worker dies at each named point; the next one goes on, the loop ends rightly, and each run is carried out once."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from accounts.viewers import Viewer
from agents.models import Agent
from executions.worker.carrier import Carrier
from loops.invariants import check_loop
from loops.models import Loop
from loops.vocabulary import LoopStatus
from tests.engine import again, start
from tests.journeys.conftest import Witness
from tests.journeys.server import wait_for
from trinity.kernel import crashpoints
from trinity.kernel.crashpoints import CrashPoint

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
RUNS = 2
# Two runs with a pause: take, settle, wake, take, settle.
TIMES = {CrashPoint.BEFORE_COMMIT: 5, CrashPoint.AFTER_COMMIT: 5} | dict.fromkeys(
    [one for one in CrashPoint if "commit" not in one], RUNS
)
CASES = [(point, time) for point in CrashPoint for time in range(1, TIMES[point] + 1)]


@pytest.fixture(autouse=True)
def brisk(settings: Any) -> None:
    settings.TRINITY_SWEEP_SECONDS = 0.1


@pytest.fixture
def agent(make_agent: Callable[..., Agent], witness: Witness) -> Agent:
    return make_agent(runtime="command", runtime_settings={"argv": witness.argv(0.1), "output": "text"})


@pytest.fixture
def loop(agent: Agent, alice: Any) -> Loop:
    return start(agent, Viewer(user=alice), max_runs=RUNS, delay_seconds=1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def dies(work: Callable[[], object]) -> bool:
    """Do it in a process of its own; whether that died at the armed point."""
    _let_go_of_connections()
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)  # it came to its end, or to an exception: the point was not reached
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == crashpoints.EXIT_CODE


def _let_go_of_connections() -> None:
    """A forked process must not speak on its parent's sessions."""
    connections.close_all()
    if connection.vendor == "postgresql":
        connection.close_pool()


def work_until(home: Path, point: CrashPoint, times: int) -> bool:
    """A worker that dies when it reaches `point` for the n-th time; False when it never did."""

    def work() -> None:
        crashpoints.arm(point, times)
        Carrier(home).start()
        time.sleep(20)

    return dies(work)


@pytest.fixture
def next_worker(home: Path) -> Iterator[Callable[[], None]]:
    started: list[Carrier] = []

    def begin() -> None:
        started.append(Carrier(home))
        started[0].start()

    yield begin
    for carrier in started:
        carrier.stop()


def assert_ended_rightly(loop: Loop, witness: Witness) -> None:
    wait_for(lambda: again(loop).ended, what="the loop to end")
    ended = again(loop)
    assert (ended.status, ended.runs_completed, ended.failed_runs) == (LoopStatus.COMPLETED, RUNS, 0)
    assert witness.runs_of(loop.pk) == [1, 2]
    assert check_loop(ended) == []


@pytest.mark.parametrize(("point", "times"), CASES, ids=[f"{point} {times}" for point, times in CASES])
def test_the_next_worker_goes_on_wherever_the_first_one_died(
    loop: Loop, home: Path, witness: Witness, next_worker: Callable[[], None], point: CrashPoint, times: int
) -> None:
    assert work_until(home, point, times), "it did not come to this point"

    next_worker()

    assert_ended_rightly(loop, witness)


def test_a_worker_may_die_in_the_middle_of_a_takeover(
    loop: Loop, home: Path, witness: Witness, next_worker: Callable[[], None]
) -> None:
    assert work_until(home, CrashPoint.AFTER_START, 1)
    assert work_until(home, CrashPoint.BEFORE_COMMIT, 1)
    assert work_until(home, CrashPoint.AFTER_COMMIT, 1)
    assert work_until(home, CrashPoint.BEFORE_SETTLE, 1)

    next_worker()

    assert_ended_rightly(loop, witness)


@pytest.mark.parametrize(
    ("point", "started"), [(CrashPoint.BEFORE_COMMIT, 0), (CrashPoint.AFTER_COMMIT, 1)], ids=["before", "after"]
)
def test_a_request_that_dies_started_its_loop_wholly_or_not_at_all(
    agent: Agent, alice: Any, witness: Witness, next_worker: Callable[[], None], point: CrashPoint, started: int
) -> None:
    def request() -> None:
        crashpoints.arm(point)
        start(agent, Viewer(user=alice), max_runs=RUNS)

    assert dies(request)
    next_worker()

    loops = list(Loop.objects.all())
    assert len(loops) == started
    for loop in loops:
        assert_ended_rightly(loop, witness)


def test_every_point_is_tried() -> None:
    assert {point for point, _ in CASES} == set(CrashPoint)
