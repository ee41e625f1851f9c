"""Who hears of which room; that a client never hears of loops or of what is for members; that it ends with access."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts.viewers import Viewer
from agents.models import AgentShare
from executions.services import settle, take
from loops import consumers
from loops.parameters import read_parameters
from tests.engine import WORKER, start, success
from tests.web.sockets.conftest import Open, Socket, closed_with, key_of, session_of
from tests.web.sockets.test_sockets import connected, heard
from workspace.looping import start_loop_here
from workspace.models import Room
from workspace.parameters import read_room
from workspace.rooms import add_participant, close_room, open_room, remove_participant
from workspace.services import post_message

pytestmark = pytest.mark.asyncio
ROOMS = "/ws/rooms/"


def in_thread(call: Callable[..., Any]) -> Callable[..., Any]:
    """A service as a worker's thread calls it."""
    return sync_to_async(call, thread_sensitive=False)


def opened_room(alice: Any, people: list[str]) -> str:
    room = open_room(Viewer(user=alice), read_room({"agents": ["scribe"], "people": people}))
    return room.pk


async def everything(socket: Socket, marker: str) -> list[dict[str, Any]]:
    """All events up to the one of this type."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != marker:
        events += await heard(socket, 1)
    return events


def play_a_loop(room_id: str, agent: Any, alice: Any) -> None:
    """A loop of the room from its start to its end, beside a turn whose reply tells of it; then the room is closed."""
    viewer = Viewer(user=alice)
    asked = read_parameters({"message": "Say a number", "max_runs": 1})
    start_loop_here(viewer, room_id, "scribe", asked)
    settle(take(agent.pk, WORKER), success("seven"))  # type: ignore[arg-type]
    post_message(viewer, room_id, "How is it?")
    settle(take(agent.pk, WORKER), success("The loop is done"))  # type: ignore[arg-type]
    close_room(viewer, room_id)


async def test_a_member_hears_of_messages_turns_and_the_rooms_loops_once_each_and_reads_no_text(
    opened: Open, agent: Any, alice: Any
) -> None:
    room_id = await sync_to_async(opened_room)(alice, [])
    socket = await connected(opened(f"{ROOMS}{room_id}/", cookie=await session_of(alice)))

    await in_thread(play_a_loop)(room_id, agent, alice)

    events = await everything(socket, "room_changed")
    kinds = [event["type"] for event in events]
    assert {"room_message", "room_turn", "loop_started", "loop_completed"} <= set(kinds)
    marks = [(event.get("loop_id", room_id), event["version"]) for event in events]
    assert len(marks) == len(set(marks)), "nothing twice"
    versions = [event["version"] for event in events if "room_id" in event]
    assert versions == sorted(versions)
    assert versions[-1] == (await sync_to_async(Room.objects.get)()).version
    assert "seven" not in json.dumps(events)
    assert "Say a" not in json.dumps(events)


@pytest.mark.parametrize("path", [ROOMS, "the room's"])
async def test_a_client_hears_neither_of_loops_nor_of_what_is_for_members_and_finds_no_gap(
    opened: Open, agent: Any, alice: Any, carol: Any, path: str
) -> None:
    room_id = await sync_to_async(opened_room)(alice, ["carol"])
    before = await sync_to_async(Room.objects.get)()
    address = ROOMS if path == ROOMS else f"{ROOMS}{room_id}/"
    socket = await connected(opened(address, cookie=await session_of(carol)))

    await in_thread(play_a_loop)(room_id, agent, alice)

    events = await everything(socket, "room_changed")
    assert "loop" not in json.dumps(events)
    assert {event["type"] for event in events} == {"room_message", "room_turn", "room_changed"}
    first = before.public_version + 1
    assert [event["version"] for event in events] == list(range(first, first + len(events)))
    assert events[-1]["seq"] == 2, "the question, and that the room was closed"
    assert await socket.receive_nothing(timeout=0.2)


async def test_who_may_not_use_the_agent_hears_of_the_rooms_loops_and_of_no_others(
    opened: Open, agent: Any, alice: Any, bob: Any
) -> None:
    room_id = await sync_to_async(opened_room)(alice, ["bob"])
    socket = await connected(opened(f"{ROOMS}{room_id}/", cookie=await session_of(bob)))

    elsewhere = await in_thread(start)(agent, Viewer(user=alice))
    asked = read_parameters({"message": "Say a number", "max_runs": 1})
    here = await in_thread(start_loop_here)(Viewer(user=alice), room_id, "scribe", asked)

    events = await everything(socket, "loop_started")
    assert events[-1]["loop_id"] == here.pk
    assert elsewhere.pk not in json.dumps(events)


async def test_all_rooms_means_those_that_one_takes_part_in(opened: Open, agent: Any, alice: Any, bob: Any) -> None:
    await sync_to_async(opened_room)(alice, [])
    shared = await sync_to_async(opened_room)(alice, ["bob"])
    first = await sync_to_async(lambda: Room.objects.exclude(pk=shared).get().pk)()
    socket = await connected(opened(ROOMS, cookie=await session_of(bob)))

    await in_thread(post_message)(Viewer(user=alice), first, "Alone")
    await in_thread(post_message)(Viewer(user=alice), shared, "Together")

    assert {event["room_id"] for event in await heard(socket, 2)} == {shared}


@pytest.mark.parametrize("who", ["mallory", "admin_user"])
async def test_a_room_one_takes_no_part_in_is_closed_like_an_unknown_one(
    opened: Open, agent: Any, alice: Any, who: str, request: pytest.FixtureRequest
) -> None:
    room_id = await sync_to_async(opened_room)(alice, [])
    cookie = await session_of(await sync_to_async(request.getfixturevalue)(who))

    assert await closed_with(opened(f"{ROOMS}{room_id}/", cookie=cookie)) == 4404
    assert await closed_with(opened(f"{ROOMS}room_0123456789abcdef/", cookie=cookie)) == 4404
    assert await closed_with(opened(f"{ROOMS}room_%00/", cookie=cookie)) == 4404


async def test_nobody_is_closed_with_4401(opened: Open, agent: Any, alice: Any) -> None:
    room_id = await sync_to_async(opened_room)(alice, [])

    assert await closed_with(opened(f"{ROOMS}{room_id}/")) == 4401
    assert await closed_with(opened(f"{ROOMS}{room_id}/", cookie=await session_of(alice), origin=None)) == 4401
    assert await closed_with(opened(ROOMS)) == 4401


async def test_an_agent_hears_of_its_rooms_with_its_key(opened: Open, agent: Any, alice: Any) -> None:
    room_id = await sync_to_async(opened_room)(alice, [])

    await connected(opened(f"{ROOMS}{room_id}/", key=await key_of(agent_id=agent.pk), origin=None))


async def test_a_socket_closes_at_once_when_its_person_is_removed(
    opened: Open, agent: Any, alice: Any, carol: Any
) -> None:
    room_id = await sync_to_async(opened_room)(alice, ["carol"])
    socket = await connected(opened(f"{ROOMS}{room_id}/", cookie=await session_of(carol)))

    await in_thread(remove_participant)(Viewer(user=alice), room_id, user="carol")

    told = await socket.receive_output(timeout=5)
    while told["type"] != "websocket.close":
        told = await socket.receive_output(timeout=5)
    assert told["code"] == 4404


async def test_a_room_that_one_is_added_to_is_heard_of_soon(
    opened: Open, agent: Any, alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    room_id = await sync_to_async(opened_room)(alice, [])
    socket = await connected(opened(ROOMS, cookie=await session_of(bob)))
    await in_thread(add_participant)(Viewer(user=alice), room_id, user="bob")
    await asyncio.sleep(0.5)

    await in_thread(post_message)(Viewer(user=alice), room_id, "Welcome")

    assert (await heard(socket, 1))[0]["room_id"] == room_id


async def test_an_agent_that_is_shared_later_is_heard_of_in_the_room(
    opened: Open, agent: Any, alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    room_id = await sync_to_async(opened_room)(alice, ["bob"])
    socket = await connected(opened(f"{ROOMS}{room_id}/", cookie=await session_of(bob)))
    await sync_to_async(AgentShare.objects.create)(agent=agent, user=bob)
    await asyncio.sleep(0.5)

    await in_thread(start)(agent, Viewer(user=alice))

    assert (await heard(socket, 1))[0]["type"] == "loop_started"
