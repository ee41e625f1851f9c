"""Opens many sockets on Trinity and notes when each event arrives; a WebSocket client that can do just that."""

import asyncio
import base64
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

TEXT, CLOSE = 0x1, 0x8


@dataclass
class Heard:
    """What one socket heard: of each event its loop, its version and how many milliseconds it had travelled."""

    agent: str
    events: list[tuple[str, int, float]] = field(default_factory=list)
    timed: int = 0  # how many of them came within the time
    known: dict[str, int] = field(default_factory=dict)  # the newest version of each loop, heard or read
    cuts: int = 0  # how often its line was cut
    closed: int = 0  # the code, when the server closed it

    def know(self, loop: str, version: int) -> None:
        """An older version is no news."""
        self.known[loop] = max(version, self.known.get(loop, 0))


async def listen(port: int, path: str, key: str, heard: Heard, ready: asyncio.Event) -> None:
    """Hear until cancelled or closed. The delay is from the transaction's own time stamp, so the commit is in it."""
    reader, writer = await _opened(port, path, key)
    _say_beat(writer)  # answered once access was asked for and the socket hears
    try:
        while True:
            kind, payload = await _frame(reader)
            if kind == CLOSE:
                heard.closed = int.from_bytes(payload[:2], "big")
                return
            if kind == TEXT:
                _note(json.loads(payload), heard, ready)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _note(event: dict[str, Any], heard: Heard, ready: asyncio.Event) -> None:
    if event["type"] == "beat":
        ready.set()
    else:
        sent = _seconds(event["timestamp"])
        heard.events.append((event["loop_id"], event["version"], (time.time() - sent) * 1000))
        heard.know(event["loop_id"], event["version"])


def _say_beat(writer: asyncio.StreamWriter) -> None:
    """One masked text frame, as a client must send it."""
    mask, text = os.urandom(4), b"beat"
    masked = bytes(letter ^ mask[place % 4] for place, letter in enumerate(text))
    writer.write(bytes([0x80 | TEXT, 0x80 | len(text)]) + mask + masked)


def _seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


async def _opened(port: int, path: str, key: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    mark = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {mark}",
        f"Authorization: Bearer {key}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 101 " not in answer.split(b"\r\n", 1)[0]:
        raise ConnectionError(answer.split(b"\r\n", 1)[0].decode())
    return reader, writer


async def _frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """One frame of the server's: never masked, never in parts, since events are short."""
    first, second = await reader.readexactly(2)
    length = second & 0x7F
    if length == 126:
        length = int.from_bytes(await reader.readexactly(2), "big")
    elif length == 127:
        length = int.from_bytes(await reader.readexactly(8), "big")
    return first & 0x0F, await reader.readexactly(length)


@dataclass
class Hearing:
    """`each` sockets on every agent. `read` answers the versions that a page of the agent would show now."""

    port: int
    key: str
    agents: Sequence[str]
    each: int
    read: Callable[[str], dict[str, int]]
    tasks: dict[int, "asyncio.Task[None]"] = field(default_factory=dict)

    async def hear(
        self, seconds: float, look: Callable[[], None], samples: int, finish: Callable[[], None]
    ) -> list[Heard]:
        """Hear for so long, looking at something `samples` times, then until `finish` has made an end of all loops.

        All sockets are open before the time begins. Every tenth is cut once, stays away for a moment, and comes back.
        """
        heard = [Heard(agent) for agent in self.agents for _ in range(self.each)]
        for place in range(0, len(heard), 50):
            await asyncio.gather(*(self._open(at, heard[at]) for at in range(place, min(place + 50, len(heard)))))
        await asyncio.sleep(2)  # what had piled up meanwhile is done
        for one in heard:
            one.events.clear()
        cuts = [asyncio.create_task(self._cut(at, one, seconds)) for at, one in enumerate(heard) if at % 10 == 0]
        for _ in range(samples):
            await asyncio.sleep(seconds / samples)
            await asyncio.to_thread(look)
        await asyncio.gather(*cuts)
        for one in heard:
            one.timed = len(one.events)
        await asyncio.to_thread(finish)
        await asyncio.sleep(2)
        await self._close(list(self.tasks))
        return heard

    async def _open(self, at: int, heard: Heard) -> None:
        ready = asyncio.Event()
        path = f"/ws/agents/{heard.agent}/"
        self.tasks[at] = asyncio.create_task(listen(self.port, path, self.key, heard, ready))
        await ready.wait()

    async def _close(self, places: Sequence[int]) -> None:
        for at in places:
            self.tasks[at].cancel()
        await asyncio.gather(*(self.tasks[at] for at in places), return_exceptions=True)

    async def _cut(self, at: int, heard: Heard, seconds: float) -> None:
        """As a page does that was cut off: once the line is back, everything that is shown is read again."""
        await asyncio.sleep(seconds * random.uniform(0.1, 0.8))  # noqa: S311 - spreads the cuts
        await self._close([at])
        heard.cuts += 1
        await asyncio.sleep(min(seconds * 0.1, 8.0))
        await self._open(at, heard)
        for loop, version in (await asyncio.to_thread(self.read, heard.agent)).items():
            heard.know(loop, version)


async def come_and_go(port: int, path: str, key: str, times: int) -> None:
    """Open a socket and leave it, again and again, ten side by side."""

    async def once() -> None:
        _, writer = await _opened(port, path, key)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    for _ in range(times // 10):
        await asyncio.gather(*(once() for _ in range(10)))
