"""How many queries a room may make, and that they grow neither with its messages nor with its loops and rooms."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.viewers import Viewer
from tests.engine import success
from tests.web.pages.conftest import Stage
from tests.web.pages.test_budgets import queries
from workspace.models import Message, Room
from workspace.services import post_message

OpenRoom = Callable[..., Any]


def fill(room: Any, alice: Any, count: int) -> None:
    """Messages as if they had been said long ago."""
    begin = Room.objects.get(pk=room.pk).last_seq
    Message.objects.bulk_create(
        Message(
            room=room,
            seq=number,
            public_seq=number,
            kind="said",
            user=alice,
            text=f"said **{number}**",
            at=room.created_at,
        )
        for number in range(begin + 1, begin + count + 1)
    )
    Room.objects.filter(pk=room.pk).update(last_seq=begin + count, last_public_seq=begin + count)


@pytest.mark.parametrize(
    ("more", "budget"),
    [("", 26), ("tail/", 12), ("lines/", 10), ("rail/", 18), ("head/", 7), ("foot/", 7)],
)
def test_a_members_fragments_keep_to_their_budgets_with_2000_messages(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, stage: Stage, more: str, budget: int
) -> None:
    room = open_a_room()
    post_message(Viewer(user=alice), room.pk, "Go")
    for number in range(3):
        stage.loop(message=f"Waits {number}")
    path = f"/workspace/rooms/{room.pk}/{more}"
    few = queries(as_alice, path)
    fill(room, alice, 2000)
    for number in range(12):
        stage.loop(message=f"Task {number}")

    assert few <= budget
    assert queries(as_alice, path) <= few


@pytest.mark.parametrize(("more", "budget"), [("", 12), ("tail/", 9), ("head/", 6)])
def test_a_client_costs_less(
    as_carol: Client, alice: Any, carol: Any, open_a_room: OpenRoom, more: str, budget: int
) -> None:
    room = open_a_room(carol)
    post_message(Viewer(user=alice), room.pk, "Go")
    fill(room, alice, 200)

    assert queries(as_carol, f"/workspace/rooms/{room.pk}/{more}") <= budget


def test_the_list_of_rooms_costs_the_same_however_many(as_alice: Client, open_a_room: OpenRoom) -> None:
    open_a_room()
    few = queries(as_alice, "/workspace/list/")
    for number in range(20):
        open_a_room(title=f"Room {number}")

    assert few <= 5
    assert queries(as_alice, "/workspace/list/") == few


def test_a_room_of_2000_messages_opens_with_its_newest_fifty(
    as_alice: Client, alice: Any, open_a_room: OpenRoom
) -> None:
    room = open_a_room()
    fill(room, alice, 2000)

    page = as_alice.get(f"/workspace/rooms/{room.pk}/").content

    assert page.count(b'<li id="m-') == 50
    assert len(page) < 100_000


def test_rendering_a_room_makes_no_query(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.template import Template

    room = open_a_room()
    post_message(Viewer(user=alice), room.pk, "Go")
    stage.run(success("a reply", 0.1))
    stage.loop()
    draw, caught = Template.render, []

    def watched(template: Any, context: Any) -> Any:
        before = len(connection.queries_log)
        drawn = draw(template, context)
        caught.extend(list(connection.queries_log)[before:])
        return drawn

    monkeypatch.setattr(Template, "render", watched)
    connection.force_debug_cursor = True
    try:
        for path in ("/workspace/", *(f"/workspace/rooms/{room.pk}/{one}" for one in ("", "tail/", "rail/", "loops/"))):
            assert as_alice.get(path).status_code == 200
    finally:
        connection.force_debug_cursor = False

    assert [query["sql"] for query in caught if "django_session" not in query["sql"]] == []
