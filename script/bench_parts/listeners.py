"""Opens many sockets on Trinity and notes when each event arrives; a WebSocket client that can do just that."""

import asyncio
import base64
import json
import os
import time
from collections.abc import Sequence
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
    closed: int = 0  # the code, when the server closed it


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


async def hear_for(port: int, agents: Sequence[str], each: int, key: str, seconds: float) -> list[Heard]:
    """`each` sockets on every agent, for so long; all are open before the time begins."""
    heard = [Heard(agent) for agent in agents for _ in range(each)]
    opened = [asyncio.Event() for _ in heard]
    tasks = []
    for one, ready in zip(heard, opened, strict=True):
        tasks.append(asyncio.create_task(listen(port, f"/ws/agents/{one.agent}/", key, one, ready)))
        if len(tasks) % 50 == 0:
            await asyncio.gather(*(one.wait() for one in opened[: len(tasks)]))
    await asyncio.gather(*(one.wait() for one in opened))
    await asyncio.sleep(2)  # what had piled up meanwhile is done
    for one in heard:
        one.events.clear()
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return heard


async def come_and_go(port: int, path: str, key: str, times: int) -> None:
    """Open a socket and leave it, again and again, ten side by side."""

    async def once() -> None:
        _, writer = await _opened(port, path, key)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    for _ in range(times // 10):
        await asyncio.gather(*(once() for _ in range(10)))
