"""How many queries each read costs: the same with 1 row and with 50, and none reads a table from end to end."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.services import create_key
from accounts.viewers import Viewer
from agents.models import AgentPermission, AgentShare
from executions.models import Execution
from executions.services import settle, take
from loops.models import Loop
from loops.parameters import read_parameters
from tests.conftest import StillClock
from tests.engine import WORKER, queue_chat, start, success
from tests.services.test_query_plans import tables_read_whole
from tests.web.api.calling import Caller
from workspace.looping import start_loop_here
from workspace.parameters import read_room
from workspace.rooms import add_participant, open_room
from workspace.services import post_message

# One query is always for the key.
# Two of them are the key and its user, each by its own index.
BUDGETS = {
    "/api/agents": 3,
    "/api/agents/scribe": 3,
    "/api/agents/scribe/shares": 4,
    "/api/agents/scribe/permissions": 4,
    "/api/agents/scribe/keys": 4,
    "/api/agents/scribe/loops": 6,  # agent, loops, runs in flight, places in line
    "/api/agents/scribe/loops?status=queued": 6,
    "/api/loops": 5,
    "/api/loops?agent=scribe": 6,
    "/api/loops/{loop}": 7,  # loop, runs, verdicts, run in flight, place in line; who started it needs no access
    "/api/executions": 4,
    "/api/executions?agent=scribe&trigger=loop&status=queued": 5,
    "/api/executions/{execution}": 6,  # execution, access, place in line, verdicts
    "/api/executions/{ended}/trajectory": 5,
    "/api/keys": 3,
    "/api/rooms": 4,  # rooms, names
    "/api/rooms?search=Say": 4,
    # place, messages, its loops with their runs in flight and places in line, who takes part, turns, places in line
    "/api/rooms/{room}": 10,
    "/api/rooms/{room}?since=1": 10,
    "/api/rooms/{room}/participants": 4,
    "/api/rooms/{room}/work": 9,  # place, under way, ended, how many of them, places in line, turns, loops
    "/api/rooms/{room}/work?all=true": 8,
    "/api/rooms/{room}/loops": 6,
}


@pytest.fixture
def grow(make_agent: Any, make_user: Any, alice: Any, still_clock: StillClock) -> Any:
    """Adds rows of every kind; returns what the paths are filled with: a waiting loop, its run, an ended one."""
    agent, viewer = make_agent(max_parallel_tasks=1), Viewer(user=alice)
    first = start(agent, viewer, max_runs=100)
    ended = take(agent.pk, WORKER)
    settle(ended, replace(success(), steps=(({"tool": "Read", "args": {}},),)))

    talk = open_room(viewer, read_room({"agents": ["scribe"], "max_messages": 1000}))

    def add(number: int) -> None:
        still_clock.pass_seconds(1)
        user = make_user(f"guest-{number}")
        open_room(viewer, read_room({"agents": ["scribe"], "text": "Say a word"}))
        if number < 40:  # as many as a room has room for
            add_participant(viewer, talk.pk, user=user.username)
        post_message(viewer, talk.pk, "Say a number")
        start_loop_here(viewer, talk.pk, "scribe", read_parameters({"message": "Go", "max_runs": 1}))
        waiting = start(agent, viewer)
        queue_chat(agent)
        other = make_agent(f"other-{number}")
        start(other, viewer)
        AgentPermission.objects.create(caller=agent, target=other)
        AgentShare.objects.create(agent=agent, user=make_user(f"member-{number}"))
        create_key(user=alice)
        create_key(agent_id=agent.pk)
        _carry_on(first, agent)
        places.update(room=talk.pk, loop=waiting.pk, execution=waiting.runs.get().execution_id, ended=ended.pk)

    places: dict[str, str] = {}
    return lambda rows, begin=0: [add(number) for number in range(begin, rows)] and places


def _carry_on(loop: Loop, agent: Any) -> None:
    """One more run of the loop; whatever came later goes on waiting behind it."""
    run = take(agent.pk, WORKER)
    assert run.loop_id == loop.pk
    settle(run, success())
    Execution.objects.filter(run__loop=loop, status="queued").update(queued_at=loop.created_at)


def counted(caller: Caller, places: dict[str, str]) -> dict[str, int]:
    """What each read costs now."""
    caller.get("/api/keys")  # the key's last use is written now, and not again within the minute
    found = {}
    for path in BUDGETS:
        with CaptureQueriesContext(connection) as queries:
            response = caller.get(path.format(**places))
        assert response.status_code == 200, (path, response.content)
        found[path] = len(queries)
    return found


def test_every_read_costs_as_many_queries_with_fifty_rows_as_with_one(grow: Any, as_alice: Caller) -> None:
    with_one = counted(as_alice, grow(1))
    with_fifty = counted(as_alice, grow(50, begin=1))

    assert with_fifty == with_one
    assert with_one == BUDGETS


def test_starting_and_stopping_cost_the_same_beside_many_loops(
    agent: Any, alice: Any, as_alice: Caller, still_clock: StillClock
) -> None:
    def cost() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as starting:
            path = as_alice.post("/api/agents/scribe/loops", {"message": "Go", "max_runs": 1})["Location"]
        with CaptureQueriesContext(connection) as stopping:
            as_alice.post(f"{path}/stop")
        return len(starting), len(stopping)

    cost()
    before = cost()
    for _ in range(50):
        start(agent, Viewer(user=alice))

    assert cost() == before


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_no_read_goes_through_a_whole_table(agent: Any, alice: Any, as_alice: Caller, still_clock: StillClock) -> None:
    loop = start(agent, Viewer(user=alice))
    run = take(agent.pk, WORKER)
    queue_chat(agent)
    room = open_room(Viewer(user=alice), read_room({"agents": ["scribe"], "text": "Say a number"}))
    start_loop_here(Viewer(user=alice), room.pk, "scribe", read_parameters({"message": "Go", "max_runs": 1}))
    paths = [path for path in BUDGETS if path not in ("/api/agents", "/api/keys") and "ended" not in path]

    with tables_read_whole() as found:
        for path in paths:
            as_alice.get(path.format(loop=loop.pk, execution=run.pk, room=room.pk))

    assert found == []


def test_lists_read_no_whole_text_of_an_execution(grow: Any, as_alice: Caller) -> None:
    """A list of 200 would carry 200 MB; the beginnings are cut by the database."""
    places = grow(1)

    for path in ("/api/executions", "/api/loops", f"/api/loops/{places['loop']}"):
        with CaptureQueriesContext(connection) as queries:
            as_alice.get(path)
        for query in queries.captured_queries:
            assert not re.search(r'(?<!\()"executions_execution"."(prompt|response)"', query["sql"]), path
