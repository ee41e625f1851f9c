"""What pages hear besides loops: agents, their shares, and executions outside loops; a program hears loops only."""

import asyncio
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.viewers import Viewer
from agents import services, sharing
from agents.models import Agent, AgentShare
from executions.grading import grade_execution
from executions.requests import abandon
from executions.services import settle, take
from loops import consumers
from tests.engine import WORKER, again, model_away, queue_chat, start, success
from tests.web.sockets.conftest import Open, closed_with, session_of
from tests.web.sockets.test_sockets import AGENT, LOOPS, connected, heard, play
from trinity.kernel import live

EVERYTHING = "?everything"
pytestmark = pytest.mark.asyncio


def as_a_worker(work: Callable[..., Any]) -> Callable[..., Any]:
    """In a thread, as the server's own threads do it."""
    return sync_to_async(work, thread_sensitive=False)


def one_call(agent: Any) -> str:
    """A call outside loops, from its start to its verdicts."""
    execution = queue_chat(agent, "the prompt")
    claimed = take(agent.pk, WORKER)
    assert claimed is not None
    settle(claimed, success("the reply", 0.25))
    Execution = type(execution)
    Execution.objects.filter(pk=execution.pk).update(to_grade=True)
    grade_execution(execution.pk)
    return execution.pk


async def test_an_execution_outside_loops_is_heard_from_its_start_to_its_verdicts(
    opened: Open, agent: Any, alice: Any
) -> None:
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))

    execution_id = await as_a_worker(one_call)(agent)

    events = await heard(socket, 4)
    assert [(event["type"], event["status"]) for event in events] == [
        ("execution_queued", "queued"),
        ("execution_started", "running"),
        ("execution_ended", "completed"),
        ("execution_graded", "completed"),
    ]
    assert {event["execution_id"] for event in events} == {execution_id}
    assert events[2]["cost_usd"] == 0.25
    assert "the reply" not in json.dumps(events)
    assert "the prompt" not in json.dumps(events)


async def test_one_whose_model_is_away_and_one_that_is_cancelled_are_heard(
    opened: Open, agent: Any, alice: Any
) -> None:
    agent.runtime_settings = agent.runtime_settings | {"unavailable_patience_seconds": 21_600}
    await sync_to_async(agent.save)()
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))

    def away_then_cancelled() -> None:
        execution = queue_chat(agent)
        claimed = take(agent.pk, WORKER)
        assert claimed is not None
        settle(claimed, model_away(timezone.now() + dt.timedelta(hours=1)))
        abandon(Viewer(user=alice), again(execution))

    await as_a_worker(away_then_cancelled)()

    kinds = [event["type"] for event in await heard(socket, 4)]
    assert kinds == ["execution_queued", "execution_started", "execution_waiting", "execution_ended"]


async def test_a_run_of_a_loop_is_told_by_its_loop_alone(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))

    await as_a_worker(play)(agent, alice)

    assert {event["type"].split("_")[0] for event in await heard(socket, 4)} == {"loop"}
    assert await socket.receive_nothing(timeout=0.2)


async def test_what_is_done_to_an_agent_is_heard(opened: Open, agent: Any, alice: Any, bob: Any) -> None:
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))
    viewer = Viewer(user=alice)

    def change_it_in_every_way() -> None:
        services.stop_agent(viewer, agent)
        services.start_agent(viewer, agent)
        services.change_agent(viewer, agent, {"title": "Secret title"})
        sharing.share(viewer, agent, "bob")
        sharing.unshare(viewer, agent, "bob")
        services.archive_agent(viewer, agent)

    await as_a_worker(change_it_in_every_way)()

    events = await heard(socket, 6)
    assert [event["type"] for event in events] == [
        "agent_stopped",
        "agent_started",
        "agent_changed",
        "share_added",
        "share_removed",
        "agent_archived",
    ]
    assert [event["status"] for event in events[:2]] == ["stopped", "running"]
    assert events[-1]["archived"] is True
    assert "Secret title" not in json.dumps(events)
    assert "bob" not in json.dumps(events)


async def test_what_changes_nothing_is_not_told(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))

    await as_a_worker(services.start_agent)(Viewer(user=alice), agent)

    assert await socket.receive_nothing(timeout=0.2)


async def test_a_program_that_listens_to_loops_hears_of_loops_only(opened: Open, agent: Any, alice: Any) -> None:
    socket = await connected(opened(AGENT, cookie=await session_of(alice)))

    def much() -> str:
        one_call(agent)
        services.stop_agent(Viewer(user=alice), agent)
        services.start_agent(Viewer(user=alice), agent)
        return play(agent, alice)

    loop_id = await as_a_worker(much)()

    assert [event["loop_id"] for event in await heard(socket, 4)] == [loop_id] * 4


async def test_what_another_process_did_to_an_agent_is_heard_and_nothing_twice(
    opened: Open, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trinity import live_embedded

    monkeypatch.setattr(live_embedded, "TAIL_SECONDS", 0.05)
    socket = await connected(opened(AGENT + EVERYTHING, cookie=await session_of(alice)))
    await asyncio.sleep(0.1)  # the tail knows where it begins
    await as_a_worker(services.stop_agent)(Viewer(user=alice), agent)
    transport = live._transport
    live.travel_by(None)  # a management command has nobody to tell
    await as_a_worker(services.start_agent)(Viewer(user=alice), agent)
    live.travel_by(transport)

    assert [event["type"] for event in await heard(socket, 2)] == ["agent_stopped", "agent_started"]
    assert await socket.receive_nothing(timeout=0.3)


async def test_a_share_lets_in_and_puts_out_at_once_not_at_the_next_turn(
    opened: Open, agent: Any, alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SOON_SECONDS", 0.01)  # the turn itself stays at ten seconds
    socket = await connected(opened(LOOPS + EVERYTHING, cookie=await session_of(bob)))

    await as_a_worker(sharing.share)(Viewer(user=alice), agent, "bob")
    assert [event["type"] for event in await heard(socket, 1)] == ["access_changed"]

    one = await connected(opened(AGENT, cookie=await session_of(bob)))
    await as_a_worker(sharing.unshare)(Viewer(user=alice), agent, "bob")

    assert (await one.receive_output(timeout=5))["code"] == 4404
    assert {event["type"] for event in await heard(socket, 2)} == {"share_removed", "access_changed"}


async def test_a_run_in_flight_is_heard_of_after_its_agent_was_archived(opened: Open, agent: Any, alice: Any) -> None:
    def archive_under_a_run() -> Any:
        start(agent, Viewer(user=alice))
        claimed = take(agent.pk, WORKER)
        services.archive_agent(Viewer(user=alice), agent)
        return claimed

    claimed = await as_a_worker(archive_under_a_run)()
    cookie = await session_of(alice)
    sockets = [await connected(opened(path, cookie=cookie)) for path in (AGENT, LOOPS)]

    await as_a_worker(settle)(claimed, success())

    for socket in sockets:
        assert [event["type"] for event in await heard(socket, 2)] == ["loop_run_completed", "loop_completed"]


async def test_an_agent_that_was_archived_long_ago_is_not_listened_to(
    opened: Open, agent: Any, alice: Any, bob: Any
) -> None:
    long_ago = timezone.now() - dt.timedelta(days=2)
    await sync_to_async(Agent.objects.filter(pk=agent.pk).update)(archived_at=long_ago)
    await sync_to_async(AgentShare.objects.create)(agent=agent, user=bob)
    all_loops = await connected(opened(LOOPS, cookie=await session_of(bob)))

    def told() -> None:
        live.publish([{"agent_id": agent.pk, "body": {"type": "loop_completed", "loop_id": "x", "version": 1}}])

    await as_a_worker(told)()

    assert await all_loops.receive_nothing(timeout=0.2)


async def test_an_archived_agent_is_closed_to_strangers_like_an_unknown_one(
    opened: Open, agent: Any, mallory: Any
) -> None:
    await sync_to_async(Agent.objects.filter(pk=agent.pk).update)(archived_at=timezone.now())

    assert await closed_with(opened(AGENT + EVERYTHING, cookie=await session_of(mallory))) == 4404
