"""The engine reads no table from end to end, however many ended loops and executions there are (SQLite's plans,
which follow from the indexes alone; PostgreSQL has the same indexes and chooses by its statistics)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from accounts.viewers import Viewer
from executions.queries import agents_with_due_work
from executions.services import settle, take
from loops.invariants import check_loop
from loops.services import end_due_parks, end_overdue_waits, request_stop
from tests.conftest import StillClock
from tests.engine import WORKER, start, success
from workspace.parameters import read_room
from workspace.receivers import close_idle_rooms, move_waiting_turns
from workspace.rooms import open_room
from workspace.services import post_message

pytestmark = pytest.mark.skipif("connection.vendor != 'sqlite'")
# Partial indexes over what waits, works or is parked: as long as the present work, not as the past.
OF_THE_PRESENT = (
    "execution_waiting",
    "execution_in_flight",
    "execution_lease",
    "execution_claim",
    "loop_parked",
    "turn_unended",
)

NO_TABLES = ("SCAN CONSTANT ROW", "SCAN slots", "SCAN oldest LEFT-JOIN")  # of one row each


@contextmanager
def tables_read_whole() -> Iterator[list[str]]:
    """Gathers what each statement inside the block would read from end to end."""
    found: list[str] = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("SELECT", "UPDATE", "DELETE")):
            plan = connection.connection.execute("EXPLAIN QUERY PLAN " + sql.replace("%s", "?"), params)
            lines = [row[3] for row in plan]
            found.extend(
                f"{line}   ({sql})"
                for line in lines
                if line.startswith("SCAN")
                and line not in NO_TABLES
                and not any(name in line for name in OF_THE_PRESENT)
            )
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        yield found


@pytest.fixture
def one_step_of_each_kind(
    agent: Any, make_agent: Any, alice: Any, still_clock: StillClock
) -> dict[str, Callable[[], Any]]:
    """Calls by name; each finds something to do."""
    viewer = Viewer(user=alice)
    loops = [start(agent, viewer, delay_seconds=60, max_duration_seconds=900) for _ in range(3)]
    runs = [take(agent.pk, WORKER) for _ in range(3)]
    waiting = start(agent, viewer)
    asked = {"agents": ["writer"], "max_cost_usd": 1, "max_messages": 50}
    writer = make_agent("writer")
    room = open_room(viewer, read_room(asked))

    def answer() -> None:
        turn = take(writer.pk, WORKER)
        assert turn is not None
        settle(turn, success("loop_0123456789abcdef, @writer", 0.1))

    def after_an_hour(call: Callable[[], Any]) -> Any:
        still_clock.pass_seconds(3600)
        return call()

    return {
        "stop a waiting loop": lambda: request_stop(viewer, waiting),
        "settle": lambda: [settle(run, success()) for run in runs if run],
        "end parks": lambda: after_an_hour(lambda: end_due_parks(still_clock.now, 1)),
        "look for overdue waits": lambda: end_overdue_waits(still_clock.now, 10),
        "look for due work": lambda: agents_with_due_work("default", still_clock.now, 10),
        "take": lambda: take(agent.pk, WORKER),
        "check": lambda: check_loop(loops[0]),
        "post": lambda: post_message(viewer, room.pk, "Hello, @writer"),
        "answer": answer,
        "look for turns": lambda: move_waiting_turns(still_clock.now, 10),
        "look for idle rooms": lambda: close_idle_rooms(still_clock.now, 10),
    }


def test_no_step_of_the_engine_reads_a_whole_table(one_step_of_each_kind: dict[str, Callable[[], Any]]) -> None:
    with tables_read_whole() as found:
        for call in one_step_of_each_kind.values():
            call()

    assert found == []
