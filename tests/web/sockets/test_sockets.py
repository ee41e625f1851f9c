"""Who hears of which loop, what they hear, and that hearing ends with access."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer

from accounts.viewers import Viewer
from agents.models import AgentShare
from executions.services import settle, take
from loops import consumers
from loops.services import request_stop
from tests.engine import WORKER, start, success
from tests.web.sockets.conftest import Open, Socket, closed_with, key_of, session_of
from trinity import live_groups
from trinity.kernel import live

AGENT = "/ws/agents/scribe/"
LOOPS = "/ws/loops/"
pytestmark = pytest.mark.asyncio


def play(agent: Any, user: Any) -> str:
    """A loop of one run, from its start to its end, as a worker's threads would play it."""
    loop = start(agent, Viewer(user=user), max_runs=1)
    execution = take(agent.pk, WORKER)
    assert execution is not None
    settle(execution, success("the reply", 0.25))
    return loop.pk


async def connected(socket: Socket) -> Socket:
    """Let in, and past the question whether it may be."""
    accepted, _ = await socket.connect()
    assert accepted
    await socket.send_to(text_data="beat")
    assert json.loads(await socket.receive_from(timeout=5)) == {"type": "beat"}
    return socket


async def heard(socket: Socket, count: int) -> list[dict[str, Any]]:
    return [json.loads(await socket.receive_from(timeout=5)) for _ in range(count)]


async def test_a_loop_is_heard_from_its_start_to_its_end(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))

    loop_id = await sync_to_async(play, thread_sensitive=False)(agent, alice)

    events = await heard(socket, 4)
    assert [event["type"] for event in events] == [
        "loop_started",
        "loop_run_started",
        "loop_run_completed",
        "loop_completed",
    ]
    assert [event["version"] for event in events] == [1, 2, 3, 4]
    last = events[-1]
    assert (last["loop_id"], last["agent_name"], last["status"]) == (loop_id, "scribe", "completed")
    assert (last["stop_reason"], last["runs_completed"]) == ("max_runs_reached", 1)
    assert {"failed_runs", "run_number", "execution_id", "cost_usd", "duration_ms", "timestamp"} <= set(last)
    assert "the reply" not in json.dumps(events)
    assert "Go" not in json.dumps(events)


@pytest.mark.parametrize("path", [AGENT, LOOPS])
async def test_nobody_is_closed_with_4401(opened: Open, agent: Any, path: str) -> None:
    assert await closed_with(opened(path)) == 4401
    assert await closed_with(opened(path, cookie="rubbish")) == 4401
    assert await closed_with(opened(path, key="trk_rubbish_rubbish", origin=None)) == 4401


@pytest.mark.parametrize(
    "origin", [None, b"null", b"https://evil.invalid", b"http://testserver.evil.invalid", b"rubbish", b""]
)
async def test_a_session_counts_only_with_an_origin_of_ours(
    opened: Open, agent: Any, alice: Any, origin: bytes | None
) -> None:
    assert await closed_with(opened(AGENT, cookie=await session_of(alice), origin=origin)) == 4401


async def test_a_key_needs_no_origin(opened: Open, agent: Any, alice: Any) -> None:
    await connected(opened(AGENT, key=await key_of(user=alice), origin=None))


async def test_an_agent_hears_of_itself(opened: Open, agent: Any) -> None:
    await connected(opened(AGENT, key=await key_of(agent_id=agent.pk), origin=None))


async def test_unknown_and_forbidden_agents_are_closed_alike(opened: Open, agent: Any, mallory: Any) -> None:
    cookie = await session_of(mallory)

    assert await closed_with(opened(AGENT, cookie=cookie)) == 4404
    assert await closed_with(opened("/ws/agents/nobodys/", cookie=cookie)) == 4404


@pytest.mark.parametrize("path", [AGENT, LOOPS])
async def test_for_a_client_there_is_nothing_to_hear(opened: Open, agent: Any, carol: Any, path: str) -> None:
    assert await closed_with(opened(path, cookie=await session_of(carol))) == 4404


@pytest.mark.parametrize(
    "path", ["/ws/", "/ws/agents/", "/ws/agents/%00/", "/ws/agents/A/", "/ws/loops", "/ws/agents/scribe/x/"]
)
async def test_there_is_no_other_socket(opened: Open, alice: Any, path: str) -> None:
    assert await closed_with(opened(path, cookie=await session_of(alice))) == 4404


async def test_all_loops_means_those_of_agents_one_may_see(
    opened: Open, agent: Any, make_agent: Any, alice: Any, bob: Any, mallory: Any
) -> None:
    other = await sync_to_async(make_agent)("other")
    await sync_to_async(AgentShare.objects.create)(agent=agent, user=bob)
    bobs = await connected(opened(LOOPS, cookie=await session_of(bob)))
    strangers = await connected(opened(LOOPS, cookie=await session_of(mallory)))

    await sync_to_async(play, thread_sensitive=False)(other, alice)
    await sync_to_async(play, thread_sensitive=False)(agent, alice)

    assert {event["agent_name"] for event in await heard(bobs, 4)} == {"scribe"}
    assert await strangers.receive_nothing(timeout=0.2)


async def test_a_socket_closes_when_the_share_ends(
    opened: Open, agent: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    share = await sync_to_async(AgentShare.objects.create)(agent=agent, user=bob)
    socket = await connected(opened(AGENT, cookie=await session_of(bob)))

    await sync_to_async(share.delete)()

    assert (await socket.receive_output(timeout=5))["code"] == 4404


async def test_a_socket_closes_after_a_logout(
    opened: Open, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    cookie = await session_of(alice)
    socket = await connected(opened(AGENT, cookie=cookie))

    from django.contrib.sessions.models import Session

    await sync_to_async(Session.objects.filter(session_key=cookie).delete)()

    assert (await socket.receive_output(timeout=5))["code"] == 4401


async def test_a_revoked_key_ends_its_socket(
    opened: Open, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accounts.models import ApiKey
    from accounts.services import revoke_key

    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    socket = await connected(opened(LOOPS, key=await key_of(user=alice), origin=None))

    await sync_to_async(revoke_key)(await sync_to_async(ApiKey.objects.get)())

    assert (await socket.receive_output(timeout=5))["code"] == 4401


async def test_an_agent_that_is_shared_later_is_heard_of(
    opened: Open, agent: Any, alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ACCESS_SECONDS", 0.05)
    socket = await connected(opened(LOOPS, cookie=await session_of(bob)))
    await sync_to_async(AgentShare.objects.create)(agent=agent, user=bob)
    group = live_groups.group_of(agent.pk)
    for _ in range(200):
        if group in get_channel_layer().groups:
            break
        await asyncio.sleep(0.01)

    await sync_to_async(play, thread_sensitive=False)(agent, alice)

    assert (await heard(socket, 1))[0]["type"] == "loop_started"


async def test_what_another_process_wrote_is_heard_and_nothing_twice(
    opened: Open, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trinity import live_embedded

    monkeypatch.setattr(live_embedded, "TAIL_SECONDS", 0.05)
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))
    await asyncio.sleep(0.1)  # the tail knows where it begins
    first = await sync_to_async(play, thread_sensitive=False)(agent, alice)
    transport = live._transport
    live.travel_by(None)  # a management command has nobody to tell
    second = await sync_to_async(play, thread_sensitive=False)(agent, alice)
    live.travel_by(transport)

    events = await heard(socket, 8)

    assert [(event["loop_id"], event["version"]) for event in events] == [
        (loop_id, version) for loop_id in (first, second) for version in (1, 2, 3, 4)
    ]
    assert await socket.receive_nothing(timeout=0.3)


async def test_a_stop_request_is_heard_at_once(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))
    loop = await sync_to_async(start)(agent, Viewer(user=alice))

    await sync_to_async(request_stop, thread_sensitive=False)(Viewer(user=alice), loop)

    assert [event["type"] for event in await heard(socket, 3)] == [
        "loop_started",
        "loop_stop_requested",
        "loop_completed",
    ]


async def test_what_a_page_sends_is_passed_over_unless_it_is_a_beat(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))

    await socket.send_to(text_data='{"type": "live.event", "text": "forged"}')
    await socket.send_to(bytes_data=b"\x00\xff")
    await socket.send_to(text_data="beat")

    assert json.loads(await socket.receive_from(timeout=5)) == {"type": "beat"}


async def test_a_hundred_comings_and_goings_leave_nothing_behind(opened: Open, agent: Any, alice: Any) -> None:
    cookie = await session_of(alice)
    await connected(opened(AGENT, cookie=cookie))
    tasks, groups = len(asyncio.all_tasks()), set(get_channel_layer().groups)
    channels = set(get_channel_layer().channels)  # of earlier tests, too: they expire by themselves

    for _ in range(100):
        socket = await connected(opened(LOOPS, cookie=cookie))
        await socket.disconnect()

    layer = get_channel_layer()
    assert set(layer.groups) == groups
    assert {len(members) for members in layer.groups.values()} == {1}
    assert len(asyncio.all_tasks()) <= tasks
    assert len(set(layer.channels) - channels) <= 1


async def test_a_database_that_is_away_for_a_moment_does_not_end_the_hearing(
    opened: Open, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    from trinity import live_embedded

    def away() -> int:
        raise OperationalError("database is locked")

    monkeypatch.setattr(live_embedded, "TAIL_SECONDS", 0.02)
    monkeypatch.setattr(live_embedded, "newest_event_id", away)
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))
    await asyncio.sleep(0.1)

    await sync_to_async(play, thread_sensitive=False)(agent, alice)

    assert (await heard(socket, 1))[0]["type"] == "loop_started"
