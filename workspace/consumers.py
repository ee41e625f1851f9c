"""The sockets of rooms: which room is at which version; they carry no text, hold no rule and make no query.

`/ws/rooms/{id}/` tells of one room, `/ws/rooms/` of all that one takes part in. A client hears what is public, and
never of a loop: its sockets join other groups than a member's.
"""

import json
from typing import Any

from accounts.viewers import Viewer
from loops.consumers import LiveSocket
from trinity import live_groups
from workspace.queries import Seat, seat_in, seats_of
from workspace.rail import usable_agents_in
from workspace.vocabulary import RoomEventKind


class RoomsSocket(LiveSocket):
    """Tells of all rooms that one takes part in; one that one is added to later is heard of soon after."""

    for_clients = True
    last_sent = ""

    def groups_of(self, viewer: Viewer) -> set[str]:
        return {_group_of(Seat(viewer, one.room, one)) for one in seats_of(viewer)}

    async def live_event(self, message: dict[str, Any]) -> None:
        """A loop of a room's agent is told to the room and to the agent's listeners: once is enough here."""
        if message["text"] != self.last_sent:
            self.last_sent = message["text"]
            await super().live_event(message)


class RoomSocket(RoomsSocket):
    """Tells of one room, and a member besides of what its agents do that they may use."""

    def groups_of(self, viewer: Viewer) -> set[str]:
        seat = seat_in(viewer, self.scope["url_route"]["kwargs"]["room_id"])
        return {_group_of(seat)} | {live_groups.group_of(pk) for pk in usable_agents_in(seat)}

    async def live_event(self, message: dict[str, Any]) -> None:
        """Whoever takes part may have changed: access is asked again before this is told."""
        changed = json.loads(message["text"])["type"] == RoomEventKind.ROOM_CHANGED
        if not changed or await self.join_what_may_be_seen():
            await super().live_event(message)


def _group_of(seat: Seat) -> str:
    group = live_groups.outsiders_of if seat.outside else live_groups.members_of
    return group(seat.room.pk)
