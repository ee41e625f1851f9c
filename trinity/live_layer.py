"""The channel layer within one process: cheap for many sockets, and a reader that falls behind is told so.

Channels' own in-memory layer looks through all queues and all memberships at each message, copies and makes a task per
socket, forgets after a day that a socket listens, and drops the newest event of a slow one without a word.
"""

import asyncio
import time
from typing import Any

from channels.layers import InMemoryChannelLayer

MISSED = {"type": "live.missed"}  # whoever gets it begins again, and reads what it shows
NEVER = 10**9  # seconds; a page may stay open for weeks
CLEANING_SECONDS = 10.0


class LiveLayer(InMemoryChannelLayer):  # type: ignore[misc] # Channels is not typed
    """`capacity` is how many messages may wait for one socket; they are shared, so nobody may change one."""

    def __init__(self, capacity: int = 500, **more: Any) -> None:
        super().__init__(capacity=capacity, **({"group_expiry": NEVER} | more))
        self._next_cleaning = 0.0

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        """Never refuses: what is too much for a reader becomes the news that it missed something."""
        self.require_valid_channel_name(channel)
        self._put(channel, message)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.require_valid_group_name(group)
        self._clean_expired()
        for channel in list(self.groups.get(group, ())):
            self._put(channel, message)

    def _put(self, channel: str, message: dict[str, Any]) -> None:
        queue = self.channels.get(channel)
        if queue is None:
            queue = self.channels[channel] = asyncio.Queue()
        if queue.qsize() >= self.get_capacity(channel):
            _empty(queue)
            message = MISSED
        queue.put_nowait((time.time() + self.expiry, message))

    def _clean_expired(self) -> None:
        """What nobody fetched for a minute waits for a socket that died without a word, or for one that is stuck."""
        now = time.monotonic()
        if now < self._next_cleaning:
            return
        self._next_cleaning = now + CLEANING_SECONDS
        for channel, queue in list(self.channels.items()):
            if queue.empty() or queue._queue[0][0] >= time.time():
                continue
            told = queue.qsize() == 1 and queue._queue[0][1] is MISSED
            _empty(queue)
            self._remove_from_groups(channel)
            if told:
                self.channels.pop(channel, None)
            else:  # should it live, it learns that it hears nothing any more
                queue.put_nowait((time.time() + self.expiry, MISSED))


def _empty(queue: "asyncio.Queue[Any]") -> None:
    while not queue.empty():
        queue.get_nowait()
