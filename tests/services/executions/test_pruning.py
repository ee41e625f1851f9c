"""Pruning: what is old of ended executions goes, rows and everything else stay."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.runtimes.base import Ending, Outcome
from executions import trajectory
from executions.models import Execution
from executions.pruning import NOTE, prune
from executions.services import settle, take
from tests.conftest import StillClock
from tests.engine import WORKER, again, queue_chat

LONG = "a" * 499 + "b" + "c" * 1000


@pytest.fixture
def ended(agent: Any, tmp_path: Path, still_clock: StillClock) -> Callable[[], Execution]:
    """An execution that ended just now, with a spool folder, a trajectory and a long reply."""

    def make() -> Execution:
        queue_chat(agent)
        execution = take(agent.pk, WORKER)
        settle(execution, Outcome(Ending.COMPLETED, response=LONG, steps=(({"tool": "bash"},),)))
        (tmp_path / f"{execution.pk}.1").mkdir()
        (tmp_path / f"{execution.pk}.1" / "stdout").write_text("x")
        return execution

    return make


def pruned(still_clock: StillClock, root: Path, after_days: int) -> Any:
    return prune(still_clock.now + dt.timedelta(days=after_days), root, spool_days=7, keep_days=90)


def test_nothing_young_is_touched(ended: Callable[[], Execution], still_clock: StillClock, tmp_path: Path) -> None:
    execution = ended()

    found = pruned(still_clock, tmp_path, 6)

    assert (found.spools, found.trajectories, found.replies) == (0, 0, 0)
    assert again(execution).response == LONG


def test_a_spool_goes_after_a_week_and_nothing_else(
    ended: Callable[[], Execution], still_clock: StillClock, tmp_path: Path
) -> None:
    execution = ended()

    found = pruned(still_clock, tmp_path, 8)

    assert (found.spools, found.trajectories, found.replies) == (1, 0, 0)
    assert list(tmp_path.iterdir()) == []
    assert trajectory.read(again(execution)) is not None


def test_trajectory_and_whole_reply_go_after_ninety_days_and_the_row_stays(
    ended: Callable[[], Execution], still_clock: StillClock, tmp_path: Path
) -> None:
    execution = ended()

    found = pruned(still_clock, tmp_path, 91)

    assert (found.trajectories, found.replies) == (1, 1)
    assert again(execution).response == LONG[:500] + NOTE
    assert trajectory.read(again(execution)) is None
    assert pruned(still_clock, tmp_path, 91).replies == 0, "safe to repeat"


def test_the_spool_of_a_run_in_flight_and_of_an_unknown_one_is_kept(
    agent: Any, still_clock: StillClock, tmp_path: Path
) -> None:
    queue_chat(agent)
    execution = take(agent.pk, WORKER)
    for name in (f"{execution.pk}.1", "exec_unknown.1"):
        (tmp_path / name).mkdir()

    assert pruned(still_clock, tmp_path, 400).spools == 0
