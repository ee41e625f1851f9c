"""A disk that is full under the spool, and clocks that jump: each ends as a clear outcome, and nothing is lost."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.viewers import Viewer
from executions.lease import run_out
from executions.models import Execution
from executions.runner import launch
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from executions.worker import processes
from executions.worker.home import Home
from loops.invariants import check_loop
from tests.conftest import StillClock
from tests.engine import WORKER, again, start, success

pytestmark = [pytest.mark.django_db(transaction=True)]
HOUR = 3600


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def test_a_full_disk_under_the_spool_is_named_and_the_policy_decides(
    make_agent: Callable[..., Any], viewer: Viewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make_agent(runtime="command", runtime_settings={"argv": ["true"], "output": "text"})
    loop = start(agent, viewer, max_runs=2, on_failure="continue")
    execution = take(agent.pk, WORKER)
    assert execution is not None
    home = Home.at(tmp_path / "home")
    execution.spool_id = home.spool_id

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(launch, "_place", full)
    outcome = processes.go_on(execution, home, lambda *_: None)
    assert outcome is not None
    settle(execution, outcome)

    row = again(execution)
    assert (row.status, row.error_kind) == (ExecutionStatus.FAILED, "disk_full")
    assert "No space left" in row.error
    assert again(loop).failed_runs == 1
    assert Execution.objects.filter(loop_id=loop.pk, status=ExecutionStatus.QUEUED).count() == 1
    assert check_loop(again(loop)) == []


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_a_clock_that_jumps_during_a_run_changes_neither_its_duration_nor_its_loop(
    agent: Any, viewer: Viewer, still_clock: StillClock, jump: int
) -> None:
    loop = start(agent, viewer, max_runs=2)
    first = take(agent.pk, WORKER)
    assert first is not None
    still_clock.pass_seconds(jump)

    second = settle(first, success("one"), WORKER)
    assert second is not None
    settle(second, success("two"), WORKER)

    assert (again(loop).status, again(loop).runs_completed) == ("completed", 2)
    assert again(first).duration_ms >= 0
    assert check_loop(again(loop)) == []


@pytest.mark.postgres
def test_a_workers_clock_decides_over_nobodys_lease(agent: Any, viewer: Viewer, still_clock: StillClock) -> None:
    assert connection.vendor == "postgresql"
    start(agent, viewer)
    execution = take(agent.pk, WORKER)
    assert execution is not None

    still_clock.pass_seconds(HOUR)

    assert not Execution.objects.filter(run_out(), pk=execution.pk).exists()


def test_a_park_does_not_last_longer_when_the_clock_jumps_forward(
    agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    from loops.services import end_due_parks

    loop = start(agent, viewer, max_runs=2, delay_seconds=10)
    first = take(agent.pk, WORKER)
    assert first is not None
    settle(first, success("one"), WORKER)
    still_clock.pass_seconds(HOUR)

    assert end_due_parks(still_clock.now, 10) == 1
    assert end_due_parks(still_clock.now, 10) == 0
    second = take(agent.pk, WORKER)
    assert second is not None
    settle(second, success("two"), WORKER)
    assert again(loop).runs_completed == 2
