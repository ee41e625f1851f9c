"""What a client sees of a room: who is there, what was said and what goes on; of loops, costs and runs no trace."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.viewers import Viewer
from executions.services import settle, take
from loops.parameters import read_parameters
from loops.services import start_loop
from tests.engine import WORKER, success
from tests.web.pages.conftest import Stage, text_of
from workspace.models import Message
from workspace.services import post_message

OpenRoom = Callable[..., Any]
TRACES = re.compile(r"loop|guardrail|\bcost|\$\d|budget|exec_|rail|/executions/|/agents/|/ws/agents", re.IGNORECASE)
FRAGMENTS = ("", "head/", "foot/", "lines/", "tail/?after=0", "lines/1/", "lines/2/")


@pytest.fixture
def busy_room(carol: Any, alice: Any, agent: Any, open_a_room: OpenRoom, stage: Stage) -> Any:
    """Alice's room with Carol in it: an answer that cost something, a turn that works, and a loop with its card."""
    room = open_a_room(carol)
    agent.max_parallel_tasks = 3
    agent.save()
    post_message(Viewer(user=alice), room.pk, "How are things?")
    settle(first(agent), success("All is well.", 0.25))
    start_here(alice, agent, room)
    first(agent)
    post_message(Viewer(user=alice), room.pk, "And now?")
    room.refresh_from_db()
    return room


def start_here(alice: Any, agent: Any, room: Any) -> None:
    """A loop of this room, which has its card in the transcript."""
    asked = read_parameters({"message": "Again and again", "max_runs": 5})
    start_loop(Viewer(user=alice), agent, asked, room_id=room.pk)


def first(agent: Any) -> Any:
    execution = take(agent.pk, WORKER)
    assert execution is not None
    return execution


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_nothing_that_a_client_reads_shows_that_loops_exist(as_carol: Client, busy_room: Any, fragment: str) -> None:
    page = text_of(as_carol.get(f"/workspace/rooms/{busy_room.pk}/{fragment}"))
    own = page.replace("/static/", "").replace("trailing", "")

    assert TRACES.findall(own) == []
    assert "Again and again" not in page


@pytest.mark.parametrize("fragment", ["", "rail/", "lines/"])
def test_a_member_beside_them_sees_it_all(as_alice: Client, busy_room: Any, fragment: str) -> None:
    assert "Again and again" in text_of(as_alice.get(f"/workspace/rooms/{busy_room.pk}/{fragment}"))


def test_a_client_counts_without_gaps(as_carol: Client, as_alice: Client, busy_room: Any) -> None:
    path = f"/workspace/rooms/{busy_room.pk}/"
    hers = re.findall(r'id="m-(\d+)"', text_of(as_carol.get(path)))
    alices = re.findall(r'id="m-(\d+)"', text_of(as_alice.get(path)))

    assert [int(one) for one in hers] == list(range(1, len(hers) + 1))
    assert len(alices) == len(hers) + 1 == Message.objects.filter(room=busy_room).count()


def test_a_client_has_no_unread_mark_for_what_is_kept_from_them(
    as_carol: Client, busy_room: Any, alice: Any, agent: Any
) -> None:
    as_carol.get(f"/workspace/rooms/{busy_room.pk}/")
    start_here(alice, agent, busy_room)

    assert "unread" not in text_of(as_carol.get("/workspace/list/"))


def test_a_client_is_told_that_an_agent_works_and_not_what_it_does(
    as_carol: Client, alice: Any, agent: Any, open_a_room: OpenRoom, carol: Any
) -> None:
    from executions.models import Execution

    room = open_a_room(carol)
    post_message(Viewer(user=alice), room.pk, "Go")
    Execution.objects.filter(pk=first(agent).pk).update(activity="Bash cat /etc/secret")

    page = text_of(as_carol.get(f"/workspace/rooms/{room.pk}/"))

    assert "working" in page
    assert "secret" not in page


def test_a_client_finds_nothing_of_loops_by_searching(as_carol: Client, busy_room: Any) -> None:
    assert busy_room.pk not in text_of(as_carol.get("/workspace/list/", {"q": "Again and"}))


@pytest.mark.parametrize("more", ["rail/", "loops/", "loops/loop_0123456789abcdef/"])
def test_the_rails_doors_do_not_exist_for_a_client(as_carol: Client, busy_room: Any, more: str) -> None:
    response = as_carol.get(f"/workspace/rooms/{busy_room.pk}/{more}")

    assert response.status_code == 404
    assert TRACES.findall(text_of(response).replace("/static/", "")) == []


def test_a_client_writes_and_the_agent_answers(as_carol: Client, agent: Any, carol: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room(carol)

    as_carol.post(f"/workspace/rooms/{room.pk}/post/", {"text": "Hello from outside"})
    settle(first(agent), success("Welcome."))

    assert "Welcome." in text_of(as_carol.get(f"/workspace/rooms/{room.pk}/"))


def test_a_clients_pages_begin_in_the_workspace(as_carol: Client, carol: Any) -> None:
    page = text_of(as_carol.get("/workspace/"))

    assert '<a class="brand" href="/workspace/">' in page
    assert TRACES.findall(page.replace("/static/", "")) == []
    response = Client().post("/login/", {"username": "carol", "password": "correct horse"})
    assert response["Location"] == "/workspace/"
