"""Events between processes: one PUBLISH per commit, one listener, and a break that everybody is told of."""

import asyncio
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from trinity import live_redis
from trinity.kernel import live
from trinity.live_groups import HandOn

EVENT: live.LiveEvent = {"agent_id": 7, "body": {"type": "loop_parked", "loop_id": "loop_x", "version": 3}}


class Redis:
    """A Redis of the test's own, which it may end."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = [
            "redis-server",
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        ends = time.monotonic() + 10
        while time.monotonic() < ends:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)


@pytest.fixture
def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not here")
    redis = Redis(tmp_path)
    redis.start()
    monkeypatch.setattr(settings, "REDIS_URL", redis.url)
    monkeypatch.setattr(live_redis, "FIRST_PAUSE", 0.05)
    yield redis
    redis.stop()


async def hearing(hand_on: HandOn, publish: Any) -> "asyncio.Task[None]":
    """A listener that listens: what is published before that is heard by nobody."""
    task = asyncio.create_task(live_redis.hear(hand_on))
    for _ in range(200):
        await asyncio.to_thread(publish, [EVENT])
        await asyncio.sleep(0.02)
        if not hand_on.waiting.empty():
            while not hand_on.waiting.empty():
                hand_on.waiting.get_nowait()
            return task
    raise AssertionError("nothing was heard")


async def test_the_events_of_one_commit_travel_together_and_in_order(redis: Redis) -> None:
    hand_on = HandOn(asyncio.get_running_loop())
    publish = live_redis.Publisher(redis.url)
    task = await hearing(hand_on, publish)
    events: list[live.LiveEvent] = [{"agent_id": 7, "body": EVENT["body"] | {"version": number}} for number in range(5)]

    await asyncio.to_thread(publish, events)

    assert await asyncio.wait_for(hand_on.waiting.get(), 5) == events
    task.cancel()


async def test_after_a_break_everybody_is_told_to_begin_again(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    told = asyncio.Event()

    async def tell(self: HandOn) -> None:
        told.set()

    monkeypatch.setattr(HandOn, "everybody_missed_something", tell)
    hand_on = HandOn(asyncio.get_running_loop())
    task = await hearing(hand_on, live_redis.Publisher(redis.url))

    redis.stop()
    await asyncio.sleep(0.2)
    assert not told.is_set()
    redis.start()

    await asyncio.wait_for(told.wait(), 10)
    publish = live_redis.Publisher(redis.url)
    await asyncio.to_thread(publish, [EVENT])
    assert await asyncio.wait_for(hand_on.waiting.get(), 5) == [EVENT]
    task.cancel()


def test_a_redis_that_is_away_costs_one_try_and_fails_no_work(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    redis.stop()
    publisher = live_redis.Publisher(redis.url)
    tries: list[int] = []
    publish = publisher._client.publish
    monkeypatch.setattr(publisher._client, "publish", lambda *words: (tries.append(1), publish(*words)))
    live.travel_by(publisher)
    try:
        for _ in range(10):
            live.publish([EVENT])
            assert publisher.postman.flush(10)
    finally:
        live.travel_by(None)
        redis.start()

    assert len(tries) == 1


def test_two_installations_on_one_redis_do_not_hear_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = live_redis.channel_name()
    monkeypatch.setattr(settings, "SECRET_KEY", "another")

    assert live_redis.channel_name() != mine
    assert settings.SECRET_KEY not in json.dumps([mine, live_redis.channel_name()])
