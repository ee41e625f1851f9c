"""Hands live events to whoever listens, after the commit; keeps none, and its failure never fails the work.

An event says which row is now at which version and carries no text of prompts or replies (section 2). How it
travels is chosen once per process: within the server, or over Redis from a worker (section 1).
"""

from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict, final

import structlog

log = structlog.get_logger(__name__)


@final
class LiveEvent(TypedDict):
    """`agent_id` decides who may see it; `body` is what they get."""

    agent_id: int
    body: dict[str, Any]
    room_id: NotRequired[str]  # the members in this room hear of it too, and no outsider


@final
class RoomEvent(TypedDict):
    """What happened in a room. Members get `body`; outsiders `public_body`, or nothing when there is none."""

    room_id: str
    body: dict[str, Any]
    public_body: dict[str, Any] | None


Event = LiveEvent | RoomEvent
Transport = Callable[[Sequence[Event]], None]
_transport: Transport | None = None


def travel_by(transport: Transport | None) -> None:
    """Choose this process's transport; None: nobody listens from here (a management command)."""
    global _transport
    _transport = transport


def publish(events: Sequence[Event]) -> None:
    """Send the events of one commit, together and in order."""
    if _transport is None:
        return
    try:
        _transport(events)
    except Exception as error:
        log.warning("live events not sent; pages read again by themselves", error=repr(error))
