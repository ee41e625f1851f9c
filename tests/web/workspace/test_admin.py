"""Rooms in Django's admin: to look at and to close, and what was said in them is nobody's to read there."""

from typing import Any

import pytest
from django.test import Client

from accounts.viewers import Viewer
from tests.web.pages.conftest import text_of
from workspace.models import Room, Turn
from workspace.parameters import read_room
from workspace.rooms import open_room

ADDRESS = "/admin/workspace/room/"


@pytest.fixture
def as_admin(admin_user: Any) -> Client:
    client = Client()
    client.force_login(admin_user)
    return client


@pytest.fixture
def room(agent: Any, alice: Any, bob: Any) -> Room:
    asked = {
        "agents": ["scribe"],
        "people": ["bob"],
        "title": "Planning",
        "text": "About the walnut",
        "max_cost_usd": 5,
    }
    return open_room(Viewer(user=alice), read_room(asked))


def test_a_room_is_listed_with_who_is_there_and_found_by_them(as_admin: Client, room: Room) -> None:
    page = text_of(as_admin.get(ADDRESS, {"q": "bob"}))

    assert "Planning" in page
    assert "$5.00" in page
    assert "walnut" not in page
    assert "Planning" not in text_of(as_admin.get(ADDRESS, {"q": "mallory"}))


def test_a_room_shows_its_turns_and_not_what_was_said(as_admin: Client, room: Room) -> None:
    page = text_of(as_admin.get(f"{ADDRESS}{room.pk}/change/"))

    assert Turn.objects.get().execution_id in page
    assert "walnut" not in page
    assert 'name="_save"' not in page


def test_rooms_are_closed_by_their_service(as_admin: Client, room: Room, admin_user: Any) -> None:
    for says in ("1 closed, 0 were closed already.", "0 closed, 1 were closed already."):
        answer = as_admin.post(ADDRESS, {"action": "close", "_selected_action": [room.pk]}, follow=True)
        assert says in text_of(answer)

    closed = Room.objects.get()
    assert (closed.close_reason, closed.closed_by) == ("by_somebody", admin_user)
    assert Turn.objects.get().ended


def test_nobody_changes_or_deletes_a_room_here(as_admin: Client, room: Room) -> None:
    assert as_admin.get(f"{ADDRESS}add/").status_code == 403
    assert as_admin.post(f"{ADDRESS}{room.pk}/change/", {"title": "Mine"}).status_code == 403
    assert as_admin.post(f"{ADDRESS}{room.pk}/delete/", {"post": "yes"}).status_code == 403
