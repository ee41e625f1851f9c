"""A room's page: what is said, what goes on, what each person may do; all of it without a script."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from tests.engine import WORKER, again, failure, success
from tests.web.pages.conftest import Stage, text_of
from tests.web.pages.test_fragments import element
from workspace.models import Message, Room
from workspace.rooms import add_participant, close_room, remove_participant
from workspace.services import post_message

OpenRoom = Callable[..., Any]


def say(user: Any, room: Any, text: str) -> Message:
    return post_message(Viewer(user=user), room.pk, text)


def path(room: Any, more: str = "") -> str:
    return f"/workspace/rooms/{room.pk}/{more}"


def transcript_of(page: str) -> str:
    return element(page, "ol", "messages")


# --- the list, and opening ----------------------------------------------------------------------------------


def test_a_room_is_opened_from_the_form_with_its_first_message(as_alice: Client, agent: Any) -> None:
    response = as_alice.post("/workspace/", {"agents": ["scribe"], "text": "What is\r\nnew?", "title": ""})

    room = Room.objects.get()
    assert response["Location"] == path(room)
    assert room.title == "What is"
    assert Message.objects.get(kind="said").text == "What is\nnew?"


def test_the_form_sent_twice_opens_one_room(as_alice: Client, agent: Any) -> None:
    asked = {"agents": ["scribe"], "title": "Once", "key": "0123456789abcdef"}

    answers = {as_alice.post("/workspace/", asked)["Location"] for _ in range(2)}

    assert answers == {path(Room.objects.get())}


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [({"title": "Nobody"}, "agents"), ({"agents": ["unknown"]}, "There is no agent"), ({"title": "x" * 201}, "200")],
)
def test_a_room_that_cannot_be_opened_says_why(
    as_alice: Client, agent: Any, asked: dict[str, Any], refusal: str
) -> None:
    response = as_alice.post("/workspace/", {"agents": [], **asked} if "agents" in asked else asked)

    assert response.status_code == 400
    assert refusal in text_of(response)
    assert not Room.objects.exists()


def test_a_client_opens_no_room_and_finds_those_they_are_invited_to(
    as_carol: Client, carol: Any, open_a_room: OpenRoom
) -> None:
    assert "Nobody has invited you" in text_of(as_carol.get("/workspace/"))
    room = open_a_room(carol)

    assert as_carol.post("/workspace/", {"agents": ["scribe"]}).status_code == 404
    assert f'id="in-{room.pk}"' in text_of(as_carol.get("/workspace/"))
    assert Room.objects.count() == 1


def test_rooms_stand_by_last_activity_with_starred_ones_first(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, still_clock: Any
) -> None:
    rooms = []
    for title in ("oldest", "middle", "newest"):
        still_clock.pass_seconds(60)
        rooms.append(open_a_room(title=title))
    still_clock.pass_seconds(60)
    say(alice, rooms[1], "lately")

    order = re.findall(r'id="in-(room_[^"]+)"', text_of(as_alice.get("/workspace/list/")))
    as_alice.post(path(rooms[0], "star/"), {"starred": "yes"})
    starred = re.findall(r'id="in-(room_[^"]+)"', text_of(as_alice.get("/workspace/list/")))

    assert order == [rooms[1].pk, rooms[2].pk, rooms[0].pk]
    assert starred == [rooms[0].pk, rooms[1].pk, rooms[2].pk]


def test_a_search_finds_rooms_by_name_and_by_what_was_said(as_alice: Client, alice: Any, open_a_room: OpenRoom) -> None:
    by_name, by_text = open_a_room(title="Parsnips"), open_a_room(title="Other")
    open_a_room(title="Neither")
    say(alice, by_text, "mind the parsnips, please")

    for address in ("/workspace/list/", "/workspace/"):
        found = re.findall(r'id="in-(room_[^"]+)"', text_of(as_alice.get(address, {"q": "parsnip"})))
        assert set(found) == {by_name.pk, by_text.pk}


def test_unread_messages_are_marked_until_the_room_is_read(
    as_bob: Client, alice: Any, bob: Any, open_a_room: OpenRoom
) -> None:
    room = open_a_room(bob)
    as_bob.get(path(room))
    say(alice, room, "one")
    say(alice, room, "two")

    before = element(text_of(as_bob.get("/workspace/list/")), "li", f"in-{room.pk}")
    as_bob.get(path(room))
    after = element(text_of(as_bob.get("/workspace/list/")), "li", f"in-{room.pk}")

    assert "2<span" in before
    assert "unread" not in after


# --- writing ------------------------------------------------------------------------------------------------


def test_what_is_posted_stands_in_the_transcript(as_alice: Client, open_a_room: OpenRoom) -> None:
    room = open_a_room()

    response = as_alice.post(path(room, "post/"), {"text": "Line one\r\nline **two**"})

    assert response["Location"] == path(room)
    page = transcript_of(text_of(as_alice.get(path(room))))
    assert "Line one<br> line <strong>two</strong>" in page
    assert 'class="message is-mine"' in page


def test_the_same_message_sent_twice_by_a_bad_line_is_one(as_alice: Client, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    for text in ("Once", "Once", "Another text of the same form"):
        assert as_alice.post(path(room, "post/"), {"text": text, "key": "the-same-message"}).status_code == 302

    assert [one.text for one in Message.objects.filter(kind="said")] == ["Once", "Another text of the same form"]


@pytest.mark.parametrize(("text", "refusal"), [("", "text"), (" \n ", "blank"), ("x" * 100_001, "100,000")])
def test_a_message_that_is_none_is_refused_and_kept(
    as_alice: Client, open_a_room: OpenRoom, text: str, refusal: str
) -> None:
    room = open_a_room()

    page = as_alice.post(path(room, "post/"), {"text": text})
    fragment = as_alice.post(path(room, "post/"), {"text": text}, headers={"HX-Request": "true"})

    assert (page.status_code, fragment.status_code) == (400, 400)
    assert refusal in element(text_of(page), "p", "composer-refused")
    assert refusal in fragment["HX-Trigger"]
    assert not Message.objects.filter(kind="said").exists()


def test_a_closed_room_says_why_and_stays_readable(as_alice: Client, alice: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    say(alice, room, "still here")
    as_alice.post(path(room, "close/"))

    page = text_of(as_alice.get(path(room)))

    assert "still here" in page
    assert "This room is closed." in element(page, "p", "closed")
    assert 'id="composer"' not in page
    assert as_alice.post(path(room, "post/"), {"text": "more"}).status_code == 409


def test_a_long_message_is_cut_and_all_of_it_is_text(as_alice: Client, alice: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    message = say(alice, room, "word " * 10_000 + "the-end")

    page = text_of(as_alice.get(path(room)))
    raw = as_alice.get(path(room, f"lines/{message.seq}/text/"))

    assert "the-end" not in transcript_of(page)
    assert "The first 20,000 of 50007 characters" in page
    assert raw["Content-Type"] == "text/plain; charset=utf-8"
    assert raw.content.decode().endswith("the-end")


# --- turns --------------------------------------------------------------------------------------------------


def begin(agent: Any) -> Execution:
    execution = take(agent.pk, WORKER)
    assert execution is not None
    return execution


def test_a_turn_says_what_it_waits_for_then_what_it_does_then_its_reply(
    as_alice: Client, alice: Any, agent: Any, open_a_room: OpenRoom, still_clock: Any
) -> None:
    room = open_a_room()
    say(alice, room, "Fix it")
    waits = element(text_of(as_alice.get(path(room))), "ul", "turns")
    execution = begin(agent)
    Execution.objects.filter(pk=execution.pk).update(activity="Bash npm test")
    works = element(text_of(as_alice.get(path(room))), "ul", "turns")
    still_clock.pass_seconds(12)
    settle(execution, success("Fixed **all**.", 0.25))
    page = text_of(as_alice.get(path(room)))

    assert "data-active" in waits
    assert "Cancel" in waits
    assert "working: Bash npm test" in works
    assert "Cancel" not in works
    assert "<li" not in element(page, "ul", "turns")
    assert "Fixed <strong>all</strong>." in transcript_of(page)
    assert "$0.25" in transcript_of(page)


def test_the_asker_cancels_a_turn_while_it_waits(
    as_alice: Client, as_bob: Client, alice: Any, bob: Any, open_a_room: OpenRoom
) -> None:
    room = open_a_room(bob)
    say(alice, room, "Never mind")
    page = text_of(as_alice.get(path(room)))
    turn = re.search(r'action="(/workspace/rooms/[^"]+/turns/\d+/cancel/)"', page)
    assert turn is not None

    others = as_bob.post(turn[1])
    mine = as_alice.post(turn[1])

    assert (others.status_code, mine.status_code) == (403, 302)
    assert "<li" not in element(text_of(as_alice.get(path(room))), "ul", "turns")
    assert "/cancel/" not in text_of(as_bob.get(path(room)))


def test_a_failed_turn_shows_its_reason_and_is_tried_again_once(
    as_alice: Client, alice: Any, agent: Any, open_a_room: OpenRoom
) -> None:
    room = open_a_room()
    say(alice, room, "Try")
    settle(begin(agent), failure("psql: connection refused"))
    page = text_of(as_alice.get(path(room)))
    again_at = re.search(r'action="(/workspace/rooms/[^"]+/lines/\d+/again/)"', page)
    assert again_at is not None

    answers = [as_alice.post(again_at[1]).status_code for _ in range(2)]

    assert "psql: connection refused" in transcript_of(page)
    assert answers == [302, 302]
    assert Execution.objects.count() == 2
    assert "Try again" not in text_of(as_alice.get(path(room)))


# --- who takes part -----------------------------------------------------------------------------------------


def test_who_opened_it_renames_adds_and_removes(
    as_alice: Client, bob: Any, open_a_room: OpenRoom, make_agent: Any
) -> None:
    room = open_a_room()
    make_agent("ci-agent")
    for name in ("bob", "@ci-agent"):
        as_alice.post(path(room, "people/"), {"name": name})
    as_alice.post(path(room, "title/"), {"title": "  Renamed  "})
    seats = dict(room.participants.values_list("user__username", "pk"))

    page = text_of(as_alice.get(path(room)))
    as_alice.post(path(room, f"people/{seats['bob']}/remove/"))

    assert "alice, scribe, bob, ci-agent" in page
    assert again(room).title == "Renamed"
    assert "alice, scribe, ci-agent" in text_of(as_alice.get(path(room)))


@pytest.mark.parametrize("act", ["people/", "title/", "close/"])
def test_others_who_take_part_change_nothing(as_bob: Client, bob: Any, open_a_room: OpenRoom, act: str) -> None:
    room = open_a_room(bob)

    response = as_bob.post(path(room, act), {"name": "carol", "title": "Mine"})

    assert response.status_code == 403
    assert "Change the room" not in text_of(as_bob.get(path(room)))
    assert (again(room).title, again(room).closed) == ("Docs", False)


def test_who_leaves_sees_the_room_no_more(as_bob: Client, bob: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room(bob)
    seat = room.participants.get(user=bob)

    response = as_bob.post(path(room, f"people/{seat.pk}/remove/"), headers={"HX-Request": "true"})

    assert response["HX-Redirect"] == "/workspace/"
    assert as_bob.get(path(room)).status_code == 404


def test_a_room_is_nothing_to_who_takes_no_part_admins_included(
    as_mallory: Client, browser_of: Any, admin_user: Any, open_a_room: OpenRoom, alice: Any
) -> None:
    room = open_a_room()
    say(alice, room, "secret parsnips")
    for browser in (as_mallory, browser_of(admin_user)):
        for more in ("", "head/", "foot/", "lines/", "tail/", "lines/1/", "lines/1/text/", "rail/"):
            assert browser.get(path(room, more)).status_code == 404, more
        for more in ("post/", "star/", "title/", "close/", "people/", "lines/1/again/", "turns/1/cancel/"):
            response = browser.post(path(room, more), {"text": "x", "title": "x", "name": "bob", "starred": "yes"})
            assert response.status_code == 404, more
        found = text_of(browser.get("/workspace/", {"q": "parsnips"}))
        assert "secret" not in found
        assert room.pk not in found


def test_one_who_was_removed_is_shut_out_at_once(as_bob: Client, alice: Any, bob: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room(bob)
    assert as_bob.get(path(room)).status_code == 200

    remove_participant(Viewer(user=alice), room.pk, user="bob")

    assert as_bob.get(path(room)).status_code == 404
    assert as_bob.post(path(room, "post/"), {"text": "x"}).status_code == 404


# --- old page + events = freshly loaded page ----------------------------------------------------------------


def test_what_an_open_page_reads_again_is_what_a_fresh_one_shows(
    as_alice: Client, as_bob: Client, alice: Any, bob: Any, agent: Any, open_a_room: OpenRoom, stage: Stage
) -> None:
    room = open_a_room(bob)
    say(alice, room, "before")
    old = transcript_of(text_of(as_bob.get(path(room))))
    after = re.search(r'name="after" value="(\d+)"', old)
    assert after is not None
    settle(begin(agent), success("a reply"))
    say(alice, room, "later")

    tail = text_of(as_bob.get(path(room, "tail/"), {"after": after[1]}))
    fresh = text_of(as_bob.get(path(room)))

    lines = re.compile(r'<li id="m-\d+".*?</li>', re.DOTALL)
    said = [re.sub(r"\s+", " ", one) for one in lines.findall(tail)]
    assert [re.sub(r"\s+", " ", one) for one in lines.findall(fresh)][-len(said) :] == said
    assert len(said) == 2
    assert element(tail, "li", "tail") == element(fresh, "li", "tail")
    turns = element(tail, "ul", "turns").replace(' hx-swap-oob="morph:#turns"', "")
    assert turns == element(fresh, "ul", "turns")


def test_a_tail_that_is_asked_for_twice_brings_nothing_twice(
    as_alice: Client, alice: Any, open_a_room: OpenRoom
) -> None:
    room = open_a_room()
    last = say(alice, room, "last").seq

    tail = text_of(as_alice.get(path(room, "tail/"), {"after": last}))

    assert 'id="m-' not in tail
    assert f'name="after" value="{last}"' in tail


@pytest.mark.parametrize(
    ("fragment", "tag", "name"),
    [("head/", "header", "room-head"), ("foot/", "div", "foot"), ("lines/1/", "li", "m-1")],
)
def test_each_part_is_the_same_from_both_doors(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, fragment: str, tag: str, name: str
) -> None:
    room = open_a_room()
    say(alice, room, "Hello")
    key = re.compile(r'name="key" value="[^"]*"')

    page, alone = (text_of(as_alice.get(path(room, more))) for more in ("", fragment))

    assert key.sub("", element(page, tag, name)) == key.sub("", element(alone, tag, name))


def test_the_list_of_rooms_is_the_same_from_both_doors(as_alice: Client, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    open_a_room(title="Another")

    page, alone = as_alice.get(path(room)), as_alice.get("/workspace/list/", {"here": room.pk})

    assert element(text_of(page), "nav", "rooms") == element(text_of(alone), "nav", "rooms")


def test_a_transcript_scrolls_back_by_pages(as_alice: Client, alice: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room(max_messages=1000)
    Room.objects.filter(pk=room.pk).update(last_seq=120, last_public_seq=120)
    Message.objects.bulk_create(
        Message(
            room=room,
            seq=number,
            public_seq=number,
            kind="said",
            user=alice,
            text=f"said {number}.",
            at=room.created_at,
        )
        for number in range(1, 121)
    )

    newest = text_of(as_alice.get(path(room)))
    older = text_of(as_alice.get(path(room, "lines/"), {"before": 71}))
    oldest = text_of(as_alice.get(path(room, "lines/"), {"before": 21}))
    without_a_script = text_of(as_alice.get(path(room), {"before": 71}))

    numbers = re.compile(r"<p>said (\d+)\.<")
    assert [int(one) for one in numbers.findall(transcript_of(newest))] == list(range(71, 121))
    assert [int(one) for one in numbers.findall(older)] == list(range(21, 71))
    assert [int(one) for one in numbers.findall(oldest)] == list(range(1, 21))
    assert ("before=71" in newest, "before=21" in older, "before=" in oldest) == (True, True, False)
    assert [int(one) for one in numbers.findall(without_a_script)] == list(range(21, 71))
    assert "To the newest messages" in without_a_script


@pytest.mark.parametrize("rubbish", ["-1", "x", "%00", "99999999999", "٣", "1.5", ""])
def test_a_number_that_is_none_asks_for_the_newest(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, rubbish: str
) -> None:
    room = open_a_room()
    say(alice, room, "Here")

    for address in (path(room), path(room, "lines/"), path(room, "tail/")):
        response = as_alice.get(f"{address}?before={rubbish}&after={rubbish}")
        assert response.status_code == 200
        assert "Here" in text_of(response)


def test_a_closed_room_takes_nobody_new(as_alice: Client, alice: Any, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    close_room(Viewer(user=alice), room.pk)

    assert "Add a person or an agent" not in text_of(as_alice.get(path(room)))


def test_an_agent_that_comes_in_can_be_mentioned(
    as_alice: Client, alice: Any, as_carol: Client, carol: Any, open_a_room: OpenRoom, make_agent: Any
) -> None:
    room = open_a_room(carol)
    make_agent("outside")
    before = element(text_of(as_carol.get(path(room))), "div", "mentionable")
    add_participant(Viewer(user=alice), room.pk, agent="outside")

    after = element(text_of(as_carol.get(path(room, "foot/"))), "div", "mentionable")

    assert 'data-name="outside"' in element(text_of(as_alice.get(path(room))), "div", "mentionable")
    assert 'data-name="outside"' not in before
    assert 'data-name="outside"' in after


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("# Title\n- one `code`", "Title one code"),
        ("**bold** and *soft*", "bold and soft"),
        ("snake_case, 2 * 3 > 1", "snake_case, 2 * 3 > 1"),
    ],
)
def test_the_list_shows_what_was_said_last_as_plain_text(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, said: str, shown: str
) -> None:
    room = open_a_room()
    say(alice, room, said)

    assert f"<bdi>{shown}</bdi>" in element(text_of(as_alice.get("/workspace/list/")), "li", f"in-{room.pk}")
