"""Hands live events to the sockets of this process, on the loop that serves them; decides nobody's access.

One queue and one task per process: `group_send` from another thread would not wake the loop, and a task per event
would let events overtake each other (section 1, "Known traps").
"""

import asyncio
import contextlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from channels.layers import get_channel_layer
from django.conf import settings

from accounts.vocabulary import AuditAction
from trinity.kernel.live import Event, RoomEvent

log = structlog.get_logger(__name__)
EVERYBODY = "everybody"
# After these somebody may see another agent, or one less: sockets ask again soon instead of at their next turn.
MOVES_ACCESS = frozenset({AuditAction.AGENT_CREATED, AuditAction.SHARE_ADDED, AuditAction.SHARE_REMOVED})
REMEMBERED = 10_000  # events told lately, so that one found in the database besides is not told twice


def group_of(agent_id: int) -> str:
    """The group of the sockets that hear of an agent."""
    return f"agent.{agent_id}"


def members_of(room_id: str) -> str:
    """The group of the members' and agents' sockets of a room."""
    return f"{room_id}.members"


def outsiders_of(room_id: str) -> str:
    """The group of the clients' sockets of a room: nothing of loops is ever sent to it."""
    return f"{room_id}.outsiders"


@dataclass(slots=True)
class HandOn:
    """What this process hears goes through here to its sockets."""

    loop: asyncio.AbstractEventLoop
    waiting: "asyncio.Queue[Sequence[Event]]" = field(default_factory=asyncio.Queue)
    told: "OrderedDict[tuple[str, int], None]" = field(default_factory=OrderedDict)
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)

    def from_any_thread(self, events: Sequence[Event]) -> None:
        """The transport of an embedded server: wakes the loop, keeps the order."""
        self.loop.call_soon_threadsafe(self.waiting.put_nowait, events)

    async def run(self) -> None:
        while True:
            for event in await self.waiting.get():
                try:
                    await self._tell(event)
                except Exception:
                    log.exception("a live event was not handed on; pages read again by themselves")

    async def everybody_missed_something(self) -> None:
        """Let every socket begin again."""
        await _layer().group_send(EVERYBODY, {"type": "live.missed"})

    async def _tell(self, event: Event) -> None:
        if "public_body" in event:
            await self._tell_room(event)
            return
        if self._told_before(event["body"]):
            return
        kind = "live.event" if "loop_id" in event["body"] else "live.besides"
        await _send(group_of(event["agent_id"]), event["body"], kind)
        if "room_id" in event:
            await _send(members_of(event["room_id"]), event["body"])
        if event["body"]["type"] in MOVES_ACCESS:
            await _layer().group_send(EVERYBODY, {"type": "live.access"})

    def _told_before(self, body: dict[str, Any]) -> bool:
        """Only what the database has as a row can be found there besides; a single call's events are told once."""
        if "version" not in body:
            return False
        mark = (body.get("loop_id") or body["agent_name"], body["version"])
        if mark in self.told:
            return True
        self.told[mark] = None
        if len(self.told) > REMEMBERED:
            self.told.popitem(last=False)
        return False

    async def _tell_room(self, event: RoomEvent) -> None:
        await _send(members_of(event["room_id"]), event["body"])
        if event["public_body"] is not None:
            await _send(outsiders_of(event["room_id"]), event["public_body"])


_current: HandOn | None = None


async def begin() -> HandOn:
    """Begin to hear, once per process; called by each socket that opens, since Daphne tells nobody that it started."""
    global _current
    loop = asyncio.get_running_loop()
    if _current is not None and _current.loop is loop:
        return _current
    from trinity import live_embedded, live_redis  # both hand on through this module

    _current = HandOn(loop)
    hear = live_redis.hear if settings.DISTRIBUTED else live_embedded.hear
    _current.tasks = [asyncio.create_task(_current.run()), asyncio.create_task(hear(_current))]
    return _current


async def end() -> None:
    """Stop hearing (a test's end; a server's process simply ends)."""
    global _current
    found, _current = _current, None
    if found is None:
        return
    for task in found.tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _send(group: str, body: dict[str, Any], kind: str = "live.event") -> None:
    await _layer().group_send(group, {"type": kind, "text": json.dumps(body)})


def _layer() -> Any:
    return get_channel_layer()
