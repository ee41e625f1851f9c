"""How an embedded server hears of events: from its own threads at once, from other processes by reading what is new.

Management commands write beside the server and have nobody to tell; the rows that they leave are found soon after.
"""

import asyncio
from dataclasses import dataclass

import structlog
from channels.db import database_sync_to_async

from agents.record import lines_after, newest_line_id
from loops.tail import events_after, newest_event_id
from trinity.kernel import live
from trinity.kernel.live import LiveEvent
from trinity.live_groups import HandOn

log = structlog.get_logger(__name__)
TAIL_SECONDS = 2.0


@dataclass(slots=True)
class Tail:
    """How far the rows are read that any process may have written."""

    loop_event: int
    audit_line: int

    @classmethod
    def begin(cls) -> "Tail":
        """What is there already is old."""
        return cls(newest_event_id(), newest_line_id())

    def read_on(self) -> list[LiveEvent]:
        """What is new since the last time."""
        self.loop_event, of_loops = events_after(self.loop_event)
        self.audit_line, of_agents = lines_after(self.audit_line)
        return of_loops + of_agents


async def hear(hand_on: HandOn) -> None:
    """Runs on the server's loop as long as it does."""
    live.travel_by(hand_on.from_any_thread)
    try:
        tail: Tail | None = None
        while True:
            try:
                if tail is None:
                    tail = await database_sync_to_async(Tail.begin)()
                if events := await database_sync_to_async(tail.read_on)():
                    await hand_on.waiting.put(events)
            except Exception as error:
                log.warning("events of other processes not read; tried again soon", error=repr(error))
            await asyncio.sleep(TAIL_SECONDS)
    finally:
        live.travel_by(None)
