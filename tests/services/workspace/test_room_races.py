"""Many threads in one room at once, each on a connection of its own and in real transactions."""

from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.services import archive_agent
from executions.models import Execution
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from tests.engine import WORKER, failure, success
from tests.services.test_races import at_once, raised, worker
from tests.services.workspace.checking import check_room
from tests.web.api.calling import Caller
from trinity.kernel.errors import Refused
from workspace.models import Message, Room, Turn
from workspace.parameters import read_room
from workspace.queries import seat_in, transcript
from workspace.rooms import close_room, open_room, remove_participant
from workspace.services import cancel_turn, post_message, retry
from workspace.vocabulary import MessageKind, TurnEnding

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def room(agent: Any, viewer: Viewer) -> str:
    return open_room(viewer, read_room({"agents": ["scribe"], "max_messages": 500})).pk


def test_messages_that_are_posted_at_once_are_numbered_without_gaps(room: str, viewer: Viewer) -> None:
    results = at_once(*[lambda n=n: post_message(viewer, room, f"Message {n}") for n in range(8)])

    assert raised(results) == []
    assert sorted(one.seq for one in results) == list(range(1, 9))
    assert Execution.objects.count() == 1, "the agent answers one after another"
    assert Turn.objects.count() == 8
    assert check_room(room) == []


def test_of_twins_with_one_key_that_come_at_once_one_message_is_made(room: str, agent: Any, alice: Any) -> None:
    from accounts.services import create_key

    caller = Caller(create_key(user=alice).secret)
    address = f"/api/rooms/{room}/messages"
    caller.get(f"/api/rooms/{room}")  # the schema that answers are checked against is made once

    answers = at_once(*[lambda: caller.post(address, {"text": "Hello"}, Idempotency_Key="k") for _ in range(4)])

    assert raised(answers) == []
    assert {one.json()["seq"] for one in answers} == {1}
    assert Message.objects.count() == 1


def test_of_twins_that_open_a_room_at_once_one_opens_it(agent: Any, alice: Any) -> None:
    from accounts.services import create_key

    caller = Caller(create_key(user=alice).secret)

    body = {"agents": ["scribe"], "text": "Hello"}
    answers = at_once(*[lambda: caller.post("/api/rooms", body, Idempotency_Key="k") for _ in range(4)])

    assert raised(answers) == []
    assert len({one["Location"] for one in answers}) == 1
    assert Room.objects.count() == 1


def test_of_two_that_close_a_room_at_once_one_closes_it(room: str, viewer: Viewer, admin_user: Any) -> None:
    results = at_once(lambda: close_room(viewer, room), lambda: close_room(Viewer(user=admin_user), room))

    assert sorted(results) == ["already_closed", "closed"]
    assert Message.objects.filter(kind=MessageKind.NOTICE).count() == 1
    assert check_room(room) == []


@pytest.mark.parametrize("attempt", range(3))
def test_a_message_that_races_with_the_end_of_its_room_is_in_it_or_is_refused(
    attempt: int, room: str, viewer: Viewer
) -> None:
    posted, _, other = at_once(
        lambda: post_message(viewer, room, "One"),
        lambda: close_room(viewer, room),
        lambda: post_message(viewer, room, "Two"),
    )

    assert all(isinstance(one, Message | Refused) for one in (posted, other))
    assert not Execution.objects.filter(status=ExecutionStatus.QUEUED).exists()
    assert not Turn.objects.filter(ended_at=None).exists()
    assert check_room(room) == []


def test_two_that_try_a_failed_turn_again_at_once_ask_once(room: str, agent: Any, viewer: Viewer) -> None:
    post_message(viewer, room, "Go")
    settle(take(agent.pk, WORKER), failure())  # type: ignore[arg-type]
    failed = transcript(seat_in(viewer, room)).lines[-1]

    results = at_once(*[lambda: retry(viewer, room, failed) for _ in range(4)])

    assert raised(results) == []
    assert len({turn.pk for turn in results}) == 1
    assert Execution.objects.filter(status=ExecutionStatus.QUEUED).count() == 1


@pytest.mark.parametrize("attempt", range(3))
def test_a_turn_that_is_cancelled_while_a_worker_takes_it_is_one_of_both(
    attempt: int, room: str, agent: Any, viewer: Viewer
) -> None:
    post_message(viewer, room, "Go")
    turn = Turn.objects.get()

    cancelled, taken = at_once(lambda: cancel_turn(viewer, room, turn.pk), lambda: take(agent.pk, WORKER))

    if isinstance(cancelled, Refused):
        assert taken is not None
    else:
        assert (cancelled, taken) == ("cancelled", None)
    assert check_room(room) == []


@pytest.mark.parametrize("attempt", range(3))
def test_replies_messages_removals_and_archiving_in_shared_rooms_never_wait_for_each_other_in_a_ring(
    attempt: int, agent: Any, make_agent: Any, viewer: Viewer
) -> None:
    editor = make_agent("editor")
    asked = {"agents": ["scribe", "editor"], "max_messages": 500}
    rooms = [open_room(viewer, read_room(asked)).pk for _ in range(3)]
    for one in rooms:
        post_message(viewer, one, "@scribe and @editor, go")
        post_message(viewer, one, "@editor and @scribe, go")

    def carry_out(of: Any, number: int) -> None:
        misses = 0
        while misses < 10:
            execution = take(of.pk, worker(number))
            misses += execution is None
            while execution is not None:
                execution = settle(execution, success("@scribe, @editor"), worker(number))

    results = at_once(
        lambda: carry_out(agent, 1),
        lambda: carry_out(editor, 2),
        lambda: [post_message(viewer, one, "@editor, and you?") for one in rooms],
        lambda: [post_message(viewer, one, "@scribe, and you?") for one in reversed(rooms)],
        lambda: archive_agent(viewer, editor),
        lambda: remove_participant(viewer, rooms[0], agent="scribe"),
    )

    assert [error for error in raised(results) if not isinstance(error, Refused)] == []
    assert [sentence for one in rooms for sentence in check_room(one)] == []
    assert (
        not Turn.objects.filter(ended_at=None, agent=editor)
        .exclude(execution=None)
        .exclude(execution__status=ExecutionStatus.RUNNING)
    )
    withdrawn = Turn.objects.filter(ending=TurnEnding.WITHDRAWN)
    assert all(turn.reply is None for turn in withdrawn)
