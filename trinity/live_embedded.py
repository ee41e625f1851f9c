"""How an embedded server hears of events: from its own threads at once, from other processes by reading what is new.

Management commands write beside the server and have nobody to tell; their event rows are found each two seconds.
"""

import asyncio

import structlog
from channels.db import database_sync_to_async

from loops.tail import events_after, newest_event_id
from trinity.kernel import live
from trinity.live_groups import HandOn

log = structlog.get_logger(__name__)
TAIL_SECONDS = 2.0


async def hear(hand_on: HandOn) -> None:
    """Runs on the server's loop as long as it does."""
    live.travel_by(hand_on.from_any_thread)
    try:
        last: int | None = None
        while True:
            try:
                if last is None:
                    last = await database_sync_to_async(newest_event_id)()
                last, events = await database_sync_to_async(events_after)(last)
                if events:
                    await hand_on.waiting.put(events)
            except Exception as error:
                log.warning("events of other processes not read; tried again soon", error=repr(error))
            await asyncio.sleep(TAIL_SECONDS)
    finally:
        live.travel_by(None)
