"""A client and a stranger walk through everything there is: no trace of loops, and no room but their own.

The addresses come from the URL configuration, the sockets from the routes, the events from a whole day's work.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import transaction
from django.test import Client

from accounts.services import create_key
from accounts.viewers import Viewer
from agents.services import change_agent, stop_agent
from executions.services import settle, take
from loops.models import Loop
from loops.parameters import read_parameters
from loops.services import request_stop
from loops.vocabulary import EventKind
from tests.engine import WORKER, failure, model_away, start, success
from tests.web.walking import filled, socket_templates, url_templates
from workspace.looping import start_loop_here
from workspace.models import Participant, Turn
from workspace.parameters import read_room
from workspace.rooms import close_room, open_room, rename_room
from workspace.services import post_message
from workspace.vocabulary import RoomEventKind

pytestmark = pytest.mark.once  # access is the same on every database
METHODS = ("get", "post", "put", "patch", "delete")
# Words that stand in texts of the room that neither of them is in, in a loop's task, in costs and in failures.
PRIVATE, TASK, INSIDE = "walnut", "pelican", "/srv/inside"
TRACES = re.compile(rf"loop|exec_|{PRIVATE}|{TASK}|{INSIDE}|cost|budget", re.IGNORECASE)
SECRETS = re.compile(rf"{PRIVATE}|{TASK}|{INSIDE}|quince", re.IGNORECASE)  # "quince" is said in the shared room

OF_THIS_ANSWER = ("Location", "X-Request-ID")
# Tokens of forms: one in some ten thousand spells "loop" by chance.
RANDOM = re.compile(r"\b[A-Za-z0-9]{64}\b|(?<=value=\")[A-Za-z0-9_-]{22}(?=\")")


@dataclass
class World:
    """Alice's agent, loops and two rooms; Carol, a client, and Bob take part in one of them."""

    shared: str
    private: str
    values: dict[str, list[str]]


def play(agent: Any, alice: Any, shared: str, private: str) -> None:
    """What a day brings, every kind of event among it."""
    viewer = Viewer(user=alice)
    while (left := take(agent.pk, WORKER)) is not None:
        settle(left, success())
    task = read_parameters({"message": f"Feed the {TASK}", "max_runs": 2, "delay_seconds": 5, "max_cost_usd": 5})
    for room in (shared, private):
        start_loop_here(viewer, room, "scribe", task)
        settle(_next(agent), success(f"{TASK} fed", 0.25))
    post_message(viewer, private, f"About the {PRIVATE}")
    settle(_next(agent), failure(f"no such file: {INSIDE}/loop.db"))
    post_message(viewer, shared, "How far is it, my quince?")
    settle(_next(agent), success("The loop has run once"))
    post_message(viewer, shared, "And the weather?")
    settle(_next(agent), failure(f"no such file: {INSIDE}/loop.db"))
    loop = start(agent, viewer, message=f"Another {TASK}")
    settle(_next(agent), model_away())
    request_stop(viewer, loop)
    post_message(viewer, shared, "And tomorrow?")
    rename_room(viewer, private, f"All about the {PRIVATE}")


def _next(agent: Any) -> Any:
    execution = take(agent.pk, WORKER)
    assert execution is not None
    return execution


def built(agent: Any, alice: Any) -> World:
    viewer = Viewer(user=alice)
    agent.runtime_settings = agent.runtime_settings | {"unavailable_patience_seconds": 21_600}
    agent.save()
    asked = {"agents": ["scribe"], "people": ["bob", "carol"], "title": "Fruit", "max_cost_usd": 100}
    shared = open_room(viewer, read_room(asked)).pk
    private = open_room(viewer, read_room({"agents": ["scribe"], "title": f"The {PRIVATE}"})).pk
    play(agent, alice, shared, private)
    loops = list(Loop.objects.values_list("pk", flat=True))
    turns = list(Turn.objects.select_related("execution"))
    values = {
        "name": ["scribe"],
        "target": ["scribe"],
        "username": ["bob"],
        "room_id": [shared, private],
        "loop_id": loops[:2],
        "execution_id": [turn.execution_id for turn in turns if turn.execution_id][:2],
        "turn_id": [str(turns[0].pk), str(turns[-1].pk)],
        "participant_id": [str(pk) for pk in Participant.objects.values_list("pk", flat=True)[:2]],
        "seq": ["1", "2", "4"],
        "number": ["1", "2", "4"],
        "prefix": [create_key(user=alice).key.prefix],
        "id": ["1"],
        "object_id": ["1", loops[0], shared],
        "content_type_id": ["1"],
        "app_label": ["loops", "workspace"],
        "url": ["loops/loop/"],
    }
    return World(shared, private, values)


@pytest.fixture
def world(agent: Any, alice: Any, bob: Any, carol: Any) -> World:
    return built(agent, alice)


def callers_of(user: Any) -> list[Client]:
    """The same person in a browser and with a key."""
    browser = Client(raise_request_exception=False)
    browser.force_login(user)
    key = create_key(user=user).secret
    return [browser, Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)]


def bodies(client: Client, address: str) -> list[tuple[str, int, str]]:
    """What every method is answered, without what the caller themselves had written in the address."""
    found = []
    for method in METHODS:
        with transaction.atomic():
            # Services open durable transactions: let them, as Django's own test cases do.
            transaction.get_connection().atomic_blocks[-1]._from_testcase = True
            answer = getattr(client, method)(address)
            transaction.set_rollback(True)
        headers = {name: value for name, value in answer.headers.items() if name not in OF_THIS_ANSWER}
        text = RANDOM.sub("", f"{headers}\n{answer.content.decode(errors='replace')}")
        for part in filter(None, address.split("/")):
            text = text.replace(part, "")
        found.append((method, answer.status_code, text))
    return found


def walk(client: Client, world: World, traces: "re.Pattern[str]") -> tuple[int, list[str]]:
    """How many addresses there were, and what was found where."""
    walked, found = 0, []
    for template in sorted(url_templates()):
        for address in filled(template, world.values):
            walked += 1
            for method, status, text in bodies(client, address):
                found += [f"{method} {address} ({status}): {one}" for one in set(traces.findall(text))]
    return walked, found


@pytest.mark.parametrize("way", ["in a browser", "with a key"])
def test_a_client_finds_no_trace_of_loops_at_any_address(world: World, carol: Any, way: str) -> None:
    client = callers_of(carol)[way == "with a key"]

    walked, found = walk(client, world, TRACES)

    assert found == []
    assert walked > 80


@pytest.mark.parametrize("way", ["in a browser", "with a key"])
def test_a_stranger_finds_nothing_of_what_others_say_at_any_address(world: World, mallory: Any, way: str) -> None:
    client = callers_of(mallory)[way == "with a key"]

    _, found = walk(client, world, SECRETS)

    assert found == []


def test_the_walk_would_find_what_there_is_to_find(world: World, alice: Any, carol: Any) -> None:
    browser, program = callers_of(alice)
    assert walk(browser, world, SECRETS)[1]
    assert walk(program, world, TRACES)[1]
    theirs = callers_of(carol)[1].get(f"/api/rooms/{world.shared}").content.decode()
    assert "quince" in theirs, "the room that they take part in is there"


def test_every_api_address_of_rooms_is_closed_to_a_client_where_it_is_not_theirs(world: World, carol: Any) -> None:
    client = callers_of(carol)[1]

    for template in sorted(one for one in url_templates() if "{room_id}" in one and one.startswith("/api/")):
        for address in filled(template, world.values):
            if world.private in address:
                assert {status for _, status, _ in bodies(client, address)} <= {404, 405}, address


# --- sockets and events -----------------------------------------------------------------------------------


async def opened(address: str, user: Any) -> WebsocketCommunicator | None:
    """A socket that lets the user in, or None."""
    from trinity.asgi import application

    browser = Client()
    await sync_to_async(browser.force_login)(user)
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver"), (b"cookie", cookie.encode())]
    socket = WebsocketCommunicator(application, f"{address}?everything", headers=headers)
    await socket.connect()
    await socket.send_to(text_data="beat")
    answer = await socket.receive_output(timeout=5)
    if answer["type"] == "websocket.close":
        assert answer["code"] == 4404, address
        return None
    return socket


async def heard_until_closed(socket: WebsocketCommunicator) -> list[dict[str, Any]]:
    """Everything up to the news that the room was closed."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != RoomEventKind.ROOM_CHANGED:
        events.append(json.loads(await socket.receive_from(timeout=10)))
    while not await socket.receive_nothing(timeout=0.3):
        events.append(json.loads(await socket.receive_from(timeout=1)))
    return events


def more_of_the_day(agent: Any, alice: Any, world: World) -> None:
    """The same again, and what changes an agent; at its end both rooms are closed."""
    viewer = Viewer(user=alice)
    play(agent, alice, world.shared, world.private)
    change_agent(viewer, agent, {"title": f"Feeds the {TASK}"})
    stop_agent(viewer, agent)
    close_room(viewer, world.private)
    close_room(viewer, world.shared)


@pytest.fixture
async def sockets_close(transactional_db: None) -> Any:
    from trinity import live_groups

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    found: list[WebsocketCommunicator] = []
    yield found
    for socket in found:
        await socket.disconnect()
    await live_groups.end()
    settings.ALLOWED_HOSTS = settings.ALLOWED_HOSTS[:-1]


async def open_all(user: Any, world: World, opened_ones: list[WebsocketCommunicator]) -> dict[str, Any]:
    """Every socket that lets this user in, by its address."""
    found = {}
    for template in sorted(socket_templates()):
        for address in filled(template, world.values):
            socket = await opened(address, user)
            if socket is not None:
                found[address] = socket
                opened_ones.append(socket)
    return found


@pytest.mark.asyncio
async def test_no_socket_tells_a_client_of_loops_or_of_a_room_that_is_not_theirs(
    agent: Any, alice: Any, bob: Any, carol: Any, sockets_close: list[WebsocketCommunicator]
) -> None:
    world = await sync_to_async(built)(agent, alice)
    theirs = await open_all(carol, world, sockets_close)
    assert set(theirs) == {"/ws/rooms/", f"/ws/rooms/{world.shared}/"}

    await sync_to_async(more_of_the_day, thread_sensitive=False)(agent, alice, world)

    for address, socket in theirs.items():
        events = await heard_until_closed(socket)
        assert {event["type"] for event in events} <= set(RoomEventKind), address
        assert {event["room_id"] for event in events} == {world.shared}, address
        assert not TRACES.search(json.dumps(events)), address


@pytest.mark.asyncio
async def test_no_socket_tells_a_stranger_of_others(
    agent: Any, alice: Any, bob: Any, carol: Any, mallory: Any, sockets_close: list[WebsocketCommunicator]
) -> None:
    world = await sync_to_async(built)(agent, alice)
    theirs = await open_all(mallory, world, sockets_close)
    assert set(theirs) == {"/ws/rooms/", "/ws/loops/"}, "their own, of which there are none"

    await sync_to_async(more_of_the_day, thread_sensitive=False)(agent, alice, world)

    for address, socket in theirs.items():
        assert await socket.receive_nothing(timeout=0.3), address


@pytest.mark.asyncio
async def test_the_day_brings_every_kind_of_event_to_who_may_hear_it(
    agent: Any, alice: Any, bob: Any, carol: Any, sockets_close: list[WebsocketCommunicator]
) -> None:
    world = await sync_to_async(built)(agent, alice)
    theirs = await open_all(alice, world, sockets_close)

    await sync_to_async(more_of_the_day, thread_sensitive=False)(agent, alice, world)

    kinds = set()
    for socket in theirs.values():
        while not await socket.receive_nothing(timeout=0.3):
            kinds.add(json.loads(await socket.receive_from(timeout=1))["type"])
    assert kinds >= set(EventKind) - {EventKind.LOOP_RUN_GRADED} | set(RoomEventKind)
    assert {"agent_changed", "agent_stopped", "execution_queued", "execution_ended"} <= kinds
