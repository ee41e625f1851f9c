"""Rooms as a whole: who opens and manages them, what closes them, what is unread, and what a client is kept from."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.viewers import Viewer
from agents.models import AgentPermission
from executions.models import Execution
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from tests.engine import WORKER, again, failure, success
from tests.services.workspace.conftest import Talk
from trinity.kernel.errors import Refused
from workspace.models import Message, Participant, Room, Turn
from workspace.parameters import read_participant, read_room, read_text, read_title
from workspace.queries import Seat, line_of, rooms_of, seat_in, transcript
from workspace.receivers import close_idle_rooms
from workspace.rooms import (
    add_participant,
    close_room,
    mark_seen,
    open_room,
    remove_participant,
    rename_room,
    star,
)
from workspace.services import post_message
from workspace.vocabulary import CloseReason, TurnEnding
from workspace.words import closed_text

OpenTalk = Callable[..., Talk]


def seat(user: Any, talk: Talk) -> Seat:
    return seat_in(Viewer(user=user), talk.id)


# --- opening and managing ---------------------------------------------------------------------------------


def test_a_room_is_named_by_its_first_message_or_by_who_is_there(
    open_talk: OpenTalk, make_agent: Any, alice: Any
) -> None:
    make_agent("editor")

    assert open_talk(text="\nPlan the week\nwith care").room.title == "Plan the week"
    assert open_talk("scribe", "editor").room.title == "scribe, editor"
    assert open_talk(title="  Planning ").room.title == "Planning"


def test_a_client_opens_no_room(open_talk: OpenTalk, agent: Any, carol: Any) -> None:
    with pytest.raises(Refused) as refused:
        open_room(Viewer(user=carol), read_room({"agents": ["scribe"]}))

    assert refused.value.code == "forbidden"


def test_a_room_with_an_agent_that_may_not_be_used_is_refused_as_an_unknown_one(agent: Any, mallory: Any) -> None:
    for name in ("scribe", "nobody"):
        with pytest.raises(Refused, match=f"There is no agent '{name}'"):
            open_room(Viewer(user=mallory), read_room({"agents": [name]}))
    assert not Room.objects.exists()


def test_an_agent_opens_a_room_with_agents_it_may_call_and_people_who_may_use_them(
    agent: Any, make_agent: Any, alice: Any, bob: Any
) -> None:
    editor, viewer = make_agent("editor"), Viewer(agent_id=agent.pk)
    with pytest.raises(Refused, match="There is no agent 'editor'"):
        open_room(viewer, read_room({"agents": ["editor"]}))
    AgentPermission.objects.create(caller=agent, target=editor)
    with pytest.raises(Refused, match="may not use"):
        open_room(viewer, read_room({"agents": ["editor"], "people": ["bob"]}))

    room = open_room(viewer, read_room({"agents": ["editor"], "people": ["alice"], "text": "@editor, hello"}))

    assert {one.name for one in room.participants.all()} == {"scribe", "editor", "alice"}
    assert Turn.objects.get().agent == editor


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "agents"),
        ({"agents": []}, "agents"),
        ({"agents": ["scribe"], "title": "  "}, "title"),
        ({"agents": ["scribe"], "title": "a\nb"}, "title"),
        ({"agents": ["scribe"], "title": "x" * 201}, "title"),
        ({"agents": ["scribe"], "text": " \n "}, "text"),
        ({"agents": ["scribe"], "max_messages": 0}, "max_messages"),
        ({"agents": ["scribe"], "max_cost_usd": 0}, "max_cost_usd"),
        ({"agents": ["scribe"], "max_cost_usd": float("nan")}, "max_cost_usd"),
        ({"agents": ["scribe"], "idle_hours": "1"}, "idle_hours"),
        ({"agent": ["scribe"]}, "agent"),
    ],
)
def test_a_wrong_field_of_a_room_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        read_room(given)
    assert field in refused.value.errors


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "x" * 100_001, "a\x00b", "\ud800", None, 7])
def test_a_text_that_is_no_message_is_refused(text: Any) -> None:
    with pytest.raises(Refused) as refused:
        read_text({"text": text})
    assert "text" in refused.value.errors


def test_the_longest_text_is_a_message(open_talk: OpenTalk, alice: Any) -> None:
    talk = open_talk()

    talk.says(alice, read_text({"text": "x" * 100_000}))

    assert len(Message.objects.get().text) == 100_000


def test_who_takes_part_is_one_agent_or_one_person() -> None:
    assert read_participant({"agent": "scribe"}) == ("scribe", "")
    for given in ({}, {"agent": "scribe", "user": "bob"}):
        with pytest.raises(Refused, match="one of the two"):
            read_participant(given)


def test_only_who_opened_it_or_an_admin_manages_a_room(
    open_talk: OpenTalk, bob: Any, mallory: Any, admin_user: Any, alice: Any
) -> None:
    talk = open_talk(people=["bob"])
    for user, code in ((bob, "forbidden"), (mallory, "not_found")):
        viewer = Viewer(user=user)
        for act in (
            lambda viewer=viewer: rename_room(viewer, talk.id, "Mine"),
            lambda viewer=viewer: close_room(viewer, talk.id),
            lambda viewer=viewer: add_participant(viewer, talk.id, user="mallory"),
            lambda viewer=viewer: remove_participant(viewer, talk.id, user="alice"),
            lambda viewer=viewer: remove_participant(viewer, talk.id, agent="scribe"),
        ):
            with pytest.raises(Refused) as refused:
                act()
            assert refused.value.code == code

    assert rename_room(Viewer(user=alice), talk.id, read_title({"title": "Ours"})).title == "Ours"
    assert rename_room(Viewer(user=admin_user), talk.id, "Theirs").title == "Theirs"
    assert close_room(Viewer(user=admin_user), talk.id) == "closed"
    assert talk.lines(alice, "notice") == [
        ": alice named this room “Ours”.",
        ": root named this room “Theirs”.",
        ": root closed this room.",
    ]


def test_even_an_admin_does_not_read_a_room_that_they_take_no_part_in(open_talk: OpenTalk, admin_user: Any) -> None:
    with pytest.raises(Refused) as refused:
        seat(admin_user, open_talk())
    assert refused.value.code == "not_found"


def test_adding_and_removing_is_told_once_and_ends_what_was_seen(open_talk: OpenTalk, alice: Any, bob: Any) -> None:
    talk, viewer = open_talk(), Viewer(user=alice)
    add_participant(viewer, talk.id, user="bob")
    add_participant(viewer, talk.id, user="bob")
    assert seat(bob, talk)

    remove_participant(viewer, talk.id, user="bob")

    with pytest.raises(Refused):
        seat(bob, talk)
    assert rooms_of(Viewer(user=bob)) == []
    with pytest.raises(Refused, match="take no part"):
        remove_participant(viewer, talk.id, user="bob")
    assert talk.lines(alice, "notice") == [": alice added bob.", ": alice removed bob."]
    add_participant(viewer, talk.id, user="bob")
    assert len(talk.lines(bob)) == 3


def test_a_person_leaves_by_themselves(open_talk: OpenTalk, alice: Any, bob: Any) -> None:
    talk = open_talk(people=["bob"])

    remove_participant(Viewer(user=bob), talk.id, user="bob")

    assert talk.lines(alice, "notice") == [": bob left."]


@pytest.mark.parametrize(
    ("who", "field"), [({"agent": "nobody"}, "agent"), ({"user": "nobody"}, "user"), ({"user": "%00"}, "user")]
)
def test_nobody_unknown_takes_part(open_talk: OpenTalk, alice: Any, who: dict[str, str], field: str) -> None:
    with pytest.raises(Refused) as refused:
        add_participant(Viewer(user=alice), open_talk().id, **who)
    assert field in refused.value.errors


# --- closing ----------------------------------------------------------------------------------------------


def test_a_closed_room_takes_nothing_stays_readable_and_says_why(
    open_talk: OpenTalk, agent: Any, alice: Any, bob: Any
) -> None:
    talk = open_talk(people=["bob"])
    talk.says(alice, "One")
    talk.says(alice, "Two")

    assert close_room(Viewer(user=alice), talk.id) == "closed"
    assert close_room(Viewer(user=alice), talk.id) == "already_closed"

    for act in (lambda: talk.says(bob, "Three"), lambda: post_message(Viewer(agent_id=agent.pk), talk.id, "Four")):
        with pytest.raises(Refused, match="closed") as refused:
            act()
        assert refused.value.code == "conflict"
    assert talk.lines(bob)[0] == "alice: One"
    assert (talk.room.close_reason, talk.room.closed_by) == (CloseReason.BY_SOMEBODY, alice)
    assert {turn.ending for turn in Turn.objects.all()} == {TurnEnding.WITHDRAWN}
    assert Execution.objects.get().status == ExecutionStatus.CANCELLED


def test_a_turn_that_was_left_in_the_line_when_its_room_was_closed_does_not_begin(
    open_talk: OpenTalk, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = open_talk()
    talk.says(alice, "Go")
    monkeypatch.setattr("workspace.turns.move_turns_of", lambda room_id: None)  # the process ends here
    close_room(Viewer(user=alice), talk.id)
    assert Execution.objects.get().status == ExecutionStatus.QUEUED

    assert take(agent.pk, WORKER) is None

    assert Execution.objects.get().status == ExecutionStatus.CANCELLED
    assert Turn.objects.get().ending == TurnEnding.WITHDRAWN


def test_what_is_in_flight_when_a_room_is_closed_finishes_and_wakes_nobody(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any
) -> None:
    make_agent("editor")
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, go")
    execution = talk.begins(agent)
    close_room(Viewer(user=alice), talk.id)

    settle(execution, success("Done, @editor"))

    assert talk.lines(alice, "said")[-1] == "scribe: Done, @editor"
    assert talk.waiting() == []


def test_a_room_closes_at_its_number_of_messages(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk(max_messages=3)
    talk.says(alice, "One")
    talk.answers(agent, "Two")
    talk.says(alice, "Three")

    assert talk.room.close_reason == CloseReason.MAX_MESSAGES
    assert talk.waiting() == []
    assert talk.lines(alice)[-1] == ": This room is closed: it has reached its 3 messages."
    with pytest.raises(Refused, match="closed"):
        talk.says(alice, "Four")


def test_notices_and_failures_do_not_count_as_messages(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk(max_messages=2)
    rename_room(Viewer(user=alice), talk.id, "Another name")
    talk.says(alice, "One")
    talk.answers(agent, failure())

    assert not talk.room.closed


def test_a_room_closes_at_its_cost_budget_and_tells_a_client_nothing_of_costs(
    open_talk: OpenTalk, agent: Any, alice: Any, carol: Any
) -> None:
    talk = open_talk(max_cost_usd=0.5, people=["carol"])
    talk.says(alice, "One")
    talk.answers(agent, success("cheap", 0.25))
    assert not talk.room.closed
    talk.says(alice, "Two")
    talk.answers(agent, success("dear", 0.25))

    assert talk.room.close_reason == CloseReason.COST_BUDGET
    assert closed_text(talk.room, outside=False) == "This room is closed: it has reached its cost budget."
    assert closed_text(talk.room, outside=True) == "This room is closed: it has reached its limit."
    assert "cost" not in " ".join(talk.lines(carol))


def test_a_room_closes_after_a_week_without_a_message(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    talk.says(alice, "One")
    talk.clock.pass_seconds(168 * 3600 - 1)
    assert close_idle_rooms(talk.clock(), 10) == 0

    talk.clock.pass_seconds(1)

    assert close_idle_rooms(talk.clock(), 10) == 1
    assert close_idle_rooms(talk.clock(), 10) == 0
    assert talk.room.close_reason == CloseReason.IDLE
    assert talk.lines(alice)[-1] == ": This room is closed: nobody wrote for 168 hours."


# --- reading ----------------------------------------------------------------------------------------------


def test_what_is_unread_is_what_came_after_what_was_seen(open_talk: OpenTalk, agent: Any, alice: Any, bob: Any) -> None:
    talk = open_talk(people=["bob"])
    talk.says(alice, "One")
    talk.answers(agent, "Two")

    assert (seat(alice, talk).unread, seat(bob, talk).unread) == (1, 2)
    mark_seen(Viewer(user=bob), talk.id, 1)
    assert seat(bob, talk).unread == 1
    mark_seen(Viewer(user=bob), talk.id, 10_000)
    mark_seen(Viewer(user=bob), talk.id, 1)
    assert seat(bob, talk).unread == 0
    talk.says(alice, "Three")
    assert seat(bob, talk).unread == 1


def test_rooms_are_listed_by_last_activity_with_star_names_and_how_the_last_message_begins(
    open_talk: OpenTalk, alice: Any, bob: Any, make_agent: Any
) -> None:
    first, second = open_talk(title="First", people=["bob"]), open_talk(title="Second")
    second.says(alice, "In the second")
    first.says(alice, "In the first")
    star(Viewer(user=alice), first.id, starred=True)

    listed = rooms_of(Viewer(user=alice))

    assert [one.seat.room.title for one in listed] == ["First", "Second"]
    assert [one.preview for one in listed] == ["In the first", "In the second"]
    assert listed[0].names == ("scribe", "bob")
    assert [one.seat.mine.starred for one in listed] == [True, False]
    assert [one.seat.mine.starred for one in rooms_of(Viewer(user=bob))] == [False]


def test_search_finds_names_of_rooms_and_words_of_messages_in_ones_own_rooms_only(
    open_talk: OpenTalk, alice: Any, mallory: Any
) -> None:
    first, second = open_talk(title="Harbour cranes"), open_talk(title="Second")
    second.says(alice, "About the HARBOUR master")
    first.says(alice, "nothing of it")

    def found(search: str, user: Any = alice) -> set[str]:
        return {one.seat.room.title for one in rooms_of(Viewer(user=user), search=search)}

    assert found("harbour") == {"Harbour cranes", "Second"}
    assert found("master") == {"Second"}
    assert found("100%") == found("_____ cranes") == set()
    assert found("harbour", mallory) == set()


def test_the_transcript_is_read_by_pages_from_its_end_and_by_number_from_its_beginning(
    open_talk: OpenTalk, alice: Any
) -> None:
    talk = open_talk("scribe", max_messages=1000)
    talk.seat("scribe")
    remove_participant(Viewer(user=alice), talk.id, agent="scribe")
    for number in range(2, 12):
        talk.says(alice, f"Message {number}")
    mine = seat(alice, talk)

    newest = transcript(mine, limit=4)
    before = transcript(mine, before=newest.lines[0].number, limit=4)

    assert [one.number for one in newest.lines] == [8, 9, 10, 11]
    assert [one.number for one in before.lines] == [4, 5, 6, 7]
    assert (newest.older, transcript(mine, before=3, limit=4).older) == (True, False)
    assert [one.number for one in transcript(mine, since=9).lines] == [10, 11]
    assert line_of(mine, 5).message.text == "Message 5"
    with pytest.raises(Refused, match="no message 12"):
        line_of(mine, 12)


# --- a client beside them ---------------------------------------------------------------------------------


def test_a_client_counts_only_what_is_public_and_finds_no_gap(
    open_talk: OpenTalk, agent: Any, alice: Any, carol: Any
) -> None:
    talk = open_talk(people=["carol"])
    talk.says(carol, "Hello")
    talk.answers(agent, "I run loop_0123456789abcdef for alice")
    talk.says(alice, "Thanks")
    theirs, mine = transcript(seat(carol, talk)), transcript(seat(alice, talk))

    assert [one.message.text for one in theirs.lines][::2] == ["Hello", "Thanks"]
    assert [one.number for one in theirs.lines] == [1, 2, 3]
    assert [one.number for one in mine.lines] == [1, 2, 3, 4]
    assert theirs.lines[1].message.text == "@scribe has answered; its answer is for members only."
    assert (seat(carol, talk).last_seq, seat(carol, talk).unread) == (3, 2)
    assert seat(carol, talk).version < seat(alice, talk).version
    assert rooms_of(Viewer(user=carol), search="loop_") == []
    assert "loop" not in rooms_of(Viewer(user=carol))[0].preview


def test_a_client_wakes_who_is_there_and_may_try_again(open_talk: OpenTalk, agent: Any, carol: Any) -> None:
    talk = open_talk(people=["carol"])
    talk.says(carol, "@scribe, hello")
    talk.answers(agent, failure())

    assert transcript(seat(carol, talk)).lines[-1].may_retry


# --- what the database refuses ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (Room, {"closed_at": None, "close_reason": "idle"}),
        (Room, {"close_reason": "boredom"}),
        (Room, {"max_cost_nano": 0}),
        (Room, {"max_messages": 0}),
        (Message, {"kind": "loop"}),
        (Message, {"kind": "shout"}),
        (Message, {"public_seq": 99}),
        (Message, {"agent_id": 1}),
        (Participant, {"user": None}),
        (Turn, {"ending": "answered"}),
        (Turn, {"ending": "bored"}),
    ],
)
def test_what_must_never_be_true_is_refused_by_the_database(
    open_talk: OpenTalk, agent: Any, alice: Any, model: Any, columns: dict[str, Any]
) -> None:
    talk = open_talk()
    talk.says(alice, "Hello")
    rows = model.objects.filter(**({"user": alice} if model is Participant else {}))
    columns = {name: agent.pk if name == "agent_id" else value for name, value in columns.items()}

    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(**columns)
    assert again(rows[0])
