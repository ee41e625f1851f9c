"""A room of 2,000 messages: what is read of it does not grow with it."""

import time
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from tests.web.api.calling import Caller
from workspace.models import Message, Room
from workspace.parameters import read_room
from workspace.rooms import open_room

MESSAGES, SECONDS = 2_000, 0.3


def test_a_room_of_two_thousand_messages_opens_at_its_end_and_is_read_back_by_pages(
    agent: Any, alice: Any, as_alice: Caller
) -> None:
    asked = {"agents": ["scribe"], "max_messages": 5_000, "title": "Long"}
    room = open_room(Viewer(user=alice), read_room(asked))
    Message.objects.bulk_create(
        Message(
            room=room,
            seq=number,
            public_seq=number,
            kind="said",
            user=alice if number % 2 else None,
            agent=None if number % 2 else agent,
            text=f"Message {number}. " + "So it goes on. " * 100,
            at=room.created_at,
        )
        for number in range(1, MESSAGES + 1)
    )
    Room.objects.update(last_seq=MESSAGES, last_public_seq=MESSAGES, said_count=MESSAGES)
    address = f"/api/rooms/{room.pk}"
    as_alice.get(address)  # the key's last use, the schema

    took = []
    for _ in range(3):
        began = time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            page = as_alice.client.get(address).json()
        took.append(time.perf_counter() - began)

    assert min(took) < SECONDS
    assert len(queries) <= 9
    assert [one["seq"] for one in page["messages"]] == list(range(MESSAGES - 49, MESSAGES + 1))
    seen = 0
    while page["messages"]:
        seen += len(page["messages"])
        page = as_alice.client.get(f"{address}?before={page['messages'][0]['seq']}&limit=200").json()
    assert seen == MESSAGES
    assert not page["older"]
