"""What one pass of a worker's sweep asks the database, however many loops are parked and however many have ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from executions.worker.carrier import Carrier
from executions.worker.sweep import Sweep
from tests.conftest import StillClock
from tests.engine import WORKER, start, success

pytestmark = pytest.mark.django_db(transaction=True)
MOST_STATEMENTS_OF_A_PASS = 8  # one per kind of thing that may be due


@pytest.fixture
def one_pass(tmp_path: Path) -> Callable[[], list[str]]:
    """A pass of the sweep of a worker that does not run by itself; the statements of it."""
    carrier = Carrier(tmp_path)
    carrier.claimant = WORKER
    sweep = Sweep(carrier)

    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            for part in sweep.passes:
                part()
        return [query["sql"] for query in captured.captured_queries]

    return statements


def park(agent: Any, viewer: Viewer, loops: int) -> None:
    for _ in range(loops):
        start(agent, viewer, delay_seconds=600, max_duration_seconds=9000)
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, success())


def test_a_pass_asks_no_more_however_many_loops_are_parked(
    agent: Any, alice: Any, still_clock: StillClock, one_pass: Callable[[], list[str]]
) -> None:
    asked_of_none = one_pass()
    park(agent, Viewer(user=alice), loops=2)
    asked_of_few = one_pass()
    park(agent, Viewer(user=alice), loops=20)
    asked_of_many = one_pass()

    assert len(asked_of_none) == len(asked_of_few) == len(asked_of_many) <= MOST_STATEMENTS_OF_A_PASS, asked_of_many
    assert Execution.objects.count() == 22


def test_a_pass_that_finds_nothing_writes_nothing(
    agent: Any, alice: Any, still_clock: StillClock, one_pass: Callable[[], list[str]]
) -> None:
    park(agent, Viewer(user=alice), loops=3)

    assert [sql for sql in one_pass() if not sql.startswith("SELECT")] == []
