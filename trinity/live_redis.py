"""How events travel between processes: one plain PUBLISH, one listener per web process; keeps none.

Not through a cross-process channel layer: that costs ten times as much per event, and drops what is newest when a
reader is slow (section 1, "Known traps").
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Sequence

import redis
import redis.asyncio
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from trinity.kernel.live import Event
from trinity.kernel.postman import Postman
from trinity.live_groups import HandOn

log = structlog.get_logger(__name__)
TIMEOUT_SECONDS = 2.0
QUIET_SECONDS = 5.0  # after a failure nothing is sent for so long: what waits for a Redis that hangs would be old news
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
ALIVE_SECONDS = 10.0  # without a word for so long, the listener asks whether Redis is still there


def channel_name() -> str:
    """One channel per installation, also where several share a Redis; all its processes share the secret key."""
    mark = hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest()[:12]
    return f"trinity.live.{mark}"


class Publisher:
    """The transport of every process of a distributed installation."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._channel = channel_name()
        self._quiet_until = 0.0
        self.postman: Postman[Event] = Postman("live events", self._send)

    def __call__(self, events: Sequence[Event]) -> None:
        self.postman.post(events)

    def _send(self, events: Sequence[Event]) -> None:
        if time.monotonic() < self._quiet_until:
            return
        try:
            self._client.publish(self._channel, json.dumps(events))
        except redis.RedisError:
            self._quiet_until = time.monotonic() + QUIET_SECONDS
            raise


async def hear(hand_on: HandOn) -> None:
    """Listen as long as the server runs; after a break, whoever listens here is told that something was missed."""
    pause, broken = FIRST_PAUSE, False
    while True:
        client = redis.asyncio.Redis.from_url(
            settings.REDIS_URL,
            socket_connect_timeout=TIMEOUT_SECONDS,
            socket_timeout=None,  # a quiet channel is no failure; `_listen` asks by itself
            retry=None,
        )
        try:
            async with client, client.pubsub() as listener:
                await asyncio.wait_for(listener.subscribe(channel_name()), TIMEOUT_SECONDS)
                if broken:
                    await hand_on.everybody_missed_something()
                pause, broken = FIRST_PAUSE, False
                await _listen(listener, hand_on)
        except (redis.RedisError, OSError, TimeoutError) as error:
            broken = True
            log.warning("live events from other processes are not heard; tried again soon", error=repr(error))
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)


async def _listen(listener: "redis.asyncio.client.PubSub", hand_on: HandOn) -> None:
    asked = False
    while True:
        message = await listener.get_message(timeout=ALIVE_SECONDS)
        if message is None:
            if asked:
                raise TimeoutError("Redis does not answer")
            await listener.ping()
            asked = True
            continue
        asked = False
        if message["type"] == "message":
            await hand_on.waiting.put(json.loads(message["data"]))
