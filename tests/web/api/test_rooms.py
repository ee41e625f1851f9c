"""Rooms over REST: opening, posting, reading on, and that a client's answers hold no trace of loops."""

import json
from typing import Any

import pytest

from accounts.viewers import Viewer
from executions.services import settle, take
from loops.parameters import read_parameters
from tests.engine import WORKER, failure, success
from tests.web.api.calling import Caller, errors_of
from workspace.looping import start_loop_here
from workspace.models import Message, Room, Turn

ROOM = {"agents": ["scribe"]}


@pytest.fixture
def room(agent: Any, as_alice: Caller, carol: Any) -> str:
    """The address of Alice's room with Carol and scribe."""
    return as_alice.post("/api/rooms", ROOM | {"people": ["carol"]})["Location"]


def answer(agent: Any, outcome: Any) -> None:
    execution = take(agent.pk, WORKER)
    assert execution is not None
    settle(execution, outcome)


def test_a_room_is_opened_written_in_and_read_on_from_where_one_was(agent: Any, as_alice: Caller) -> None:
    opened = as_alice.post("/api/rooms", ROOM | {"text": "Say a number", "title": "Numbers"})
    assert (opened.status_code, opened.json()["title"], opened.json()["unread"]) == (201, "Numbers", 0)
    room = opened["Location"]
    answer(agent, success("Seven"))
    posted = as_alice.post(f"{room}/messages", {"text": "Another"}).json()

    read = as_alice.get(room).json()
    assert [(one["seq"], one["author"]["name"], one["text"]) for one in read["messages"]] == [
        (1, "alice", "Say a number"),
        (2, "scribe", "Seven"),
        (3, "alice", "Another"),
    ]
    assert read["messages"][1]["execution_id"] == Turn.objects.earliest("pk").execution_id
    assert posted["seq"] == read["last_seq"] == 3
    assert [(one["agent_name"], one["state"], one["answers"]) for one in read["turns"]] == [("scribe", "slot", 3)]
    assert [one["text"] for one in as_alice.get(f"{room}?since=2").json()["messages"]] == ["Another"]
    assert [one["seq"] for one in as_alice.get(f"{room}?before=3&limit=1").json()["messages"]] == [2]
    assert as_alice.get(f"{room}?since=3").json()["messages"] == []


def test_a_message_that_a_flaky_network_sends_twice_is_one(agent: Any, as_alice: Caller, room: str) -> None:
    first = as_alice.post(f"{room}/messages", {"text": "Hello"}, Idempotency_Key="k1")
    second = as_alice.post(f"{room}/messages", {"text": "Hello"}, Idempotency_Key="k1")
    other = as_alice.post(f"{room}/messages", {"text": "Hello!"}, Idempotency_Key="k1")

    assert (first.json(), second["Idempotency-Replayed"]) == (second.json(), "true")
    assert other.status_code == 422
    assert (Message.objects.count(), Turn.objects.count()) == (1, 1)


def test_a_room_that_is_opened_twice_with_one_key_is_one(agent: Any, as_alice: Caller) -> None:
    first = as_alice.post("/api/rooms", ROOM | {"text": "Hello"}, Idempotency_Key="k1")
    second = as_alice.post("/api/rooms", ROOM | {"text": "Hello"}, Idempotency_Key="k1")

    assert first["Location"] == second["Location"]
    assert (Room.objects.count(), Message.objects.count()) == (1, 1)


@pytest.mark.parametrize("text", ["", " \n", "x" * 100_001, None, 7, "a\x00b"])
def test_a_text_that_is_no_message_is_refused_at_its_field(as_alice: Caller, room: str, text: Any) -> None:
    refused = as_alice.post(f"{room}/messages", {"text": text})

    assert (refused.status_code, list(errors_of(refused))) == (400, ["text"])
    assert not Message.objects.exists()


@pytest.mark.parametrize("query", ["since=-1", "since=x", "before=1.0", "limit=0", "since=1&since=2", "sinse=1"])
def test_a_wrong_query_is_refused(as_alice: Caller, room: str, query: str) -> None:
    assert as_alice.get(f"{room}?{query}").status_code == 400


@pytest.mark.parametrize(
    "path", ["room_%00", "room_x", "..", "room_0123456789abcdef", "room_0123456789abcdef%0a", "a" * 500]
)
def test_a_room_of_rubbish_is_not_found(agent: Any, as_alice: Caller, path: str) -> None:
    for call in (
        lambda: as_alice.get(f"/api/rooms/{path}"),
        lambda: as_alice.post(f"/api/rooms/{path}/messages", {"text": "Hello"}),
        lambda: as_alice.post(f"/api/rooms/{path}/close"),
        lambda: as_alice.patch(f"/api/rooms/{path}", {"title": "x"}),
        lambda: as_alice.delete(f"/api/rooms/{path}/participants/people/%00"),
        lambda: as_alice.get(f"/api/rooms/{path}/work"),
    ):
        assert call().status_code == 404


@pytest.mark.parametrize("number", ["0", "99", "x", "-1", "%00", "9999999999"])
def test_a_message_or_turn_of_rubbish_is_not_found(as_alice: Caller, room: str, number: str) -> None:
    assert as_alice.post(f"{room}/messages/{number}/retry").status_code == 404
    assert as_alice.post(f"{room}/turns/{number}/cancel").status_code == 404


def test_a_closed_room_says_so_and_is_closed_once(agent: Any, as_alice: Caller, room: str) -> None:
    assert as_alice.post(f"{room}/close").json()["status"] == "closed"
    assert as_alice.post(f"{room}/close").json()["status"] == "already_closed"

    assert as_alice.post(f"{room}/messages", {"text": "Hello"}).status_code == 409
    read = as_alice.get(room).json()
    assert (read["closed"], read["closed_because"]) == (True, "This room is closed.")


def test_a_failed_turn_is_tried_again(agent: Any, as_alice: Caller, room: str) -> None:
    as_alice.post(f"{room}/messages", {"text": "Hello"})
    answer(agent, failure("psql: connection refused"))
    failed = as_alice.get(room).json()["messages"][-1]
    assert (failed["kind"], failed["text"], failed["may_retry"]) == ("failed", "psql: connection refused", True)

    first = as_alice.post(f"{room}/messages/{failed['seq']}/retry")
    second = as_alice.post(f"{room}/messages/{failed['seq']}/retry")

    assert (first.status_code, first.json()) == (202, second.json())
    assert as_alice.post(f"{room}/messages/1/retry").status_code == 409
    turn = as_alice.get(room).json()["turns"][0]
    assert turn["turn_id"] == first.json()["turn_id"]
    assert as_alice.post(f"{room}/turns/{turn['turn_id']}/cancel").json()["status"] == "cancelled"
    assert as_alice.post(f"{room}/turns/{turn['turn_id']}/cancel").json()["status"] == "already_ended"


def test_a_running_agent_writes_in_its_room_with_its_own_key(
    agent: Any, alice: Any, as_alice: Caller, room: str
) -> None:
    from executions.tokens import token_of

    as_alice.post(f"{room}/messages", {"text": "Hello"})
    execution = take(agent.pk, WORKER)
    assert execution is not None
    own = Caller(token_of(execution))

    assert own.post(f"{room}/messages", {"text": "Half way through, @scribe"}).status_code == 201
    assert own.get("/api/rooms").json()[0]["room_id"] == execution.room_id
    assert Turn.objects.count() == 1, "nobody wakes themselves"
    assert as_alice.get(room).json()["messages"][-1]["author"] == {"kind": "agent", "name": "scribe"}


def test_the_card_of_a_loop_shows_its_state_as_it_is_now(agent: Any, alice: Any, as_alice: Caller, room: str) -> None:
    start_loop_here(
        Viewer(user=alice), room.rpartition("/")[2], "scribe", read_parameters({"message": "Go", "max_runs": 2})
    )

    def card() -> dict[str, Any]:
        found: dict[str, Any] = as_alice.get(room).json()["messages"][-1]
        assert (found["kind"], found["members_only"]) == ("loop", True)
        return dict(found["loop"])

    assert card()["words"]["workspace"] == "Queued"
    answer(agent, success("one"))
    assert (card()["words"]["workspace"], card()["run_number"]) == ("Running", 1)
    answer(agent, success("two"))
    assert (card()["words"]["workspace"], card()["max_runs"]) == ("Done", 2)
    assert as_alice.get(f"{room}/loops").json()[0]["loop_id"] == card()["loop_id"]
    work = as_alice.get(f"{room}/work?all=true").json()
    assert [(one["kind_words"], one["outcome_words"]) for one in work["earlier"]] == [("Loop run", "Done")] * 2


def test_nothing_that_a_client_reads_tells_of_loops_costs_or_runs(
    agent: Any, alice: Any, as_alice: Caller, as_carol: Caller, room: str
) -> None:
    start_loop_here(
        Viewer(user=alice), room.rpartition("/")[2], "scribe", read_parameters({"message": "Go", "max_runs": 1})
    )
    answer(agent, success("one", 0.5))
    as_alice.post(f"{room}/messages", {"text": "How is it?"})
    answer(agent, success("The loop has ended"))
    as_carol.post(f"{room}/messages", {"text": "Hello"})
    answer(agent, failure("no such file: /srv/agents/loop.db"))
    as_carol.post(f"{room}/messages", {"text": "Again"})

    read, listed = as_carol.get(room).json(), as_carol.get("/api/rooms").json()

    said = json.dumps([read, listed])
    for word in ("loop", "cost", "exec_", "execution", "members", "max_", "/srv"):
        assert word not in said, word
    assert [one["seq"] for one in read["messages"]] == [1, 2, 3, 4]
    assert read["messages"][2]["text"] == "@scribe could not answer."
    assert read["turns"][0]["words"] == "waiting for a slot"
    assert as_carol.get(f"{room}/work").status_code == as_carol.get(f"{room}/loops").status_code == 404


def test_a_client_is_told_that_rooms_are_opened_by_members_before_anything_is_read(as_carol: Caller) -> None:
    assert as_carol.post("/api/rooms", {"rubbish": 1}).status_code == 403
