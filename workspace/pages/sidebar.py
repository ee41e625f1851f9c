"""The list of a person's rooms as plain values: starred ones first, then by last activity; writes nothing."""

import datetime as dt
import re
from dataclasses import dataclass

from accounts.viewers import Viewer
from trinity.kernel.text import collapse
from workspace.queries import ListedRoom, rooms_of

# Marks of markdown, in a line that is only text.
_MARKS = re.compile(r"\*\*|`|~~|\||^[#>\s-]+|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ShownRoom:
    """One line of the sidebar."""

    id: str
    title: str
    preview: str
    at: dt.datetime
    unread: int
    starred: bool
    closed: bool
    here: bool


@dataclass(frozen=True, slots=True)
class Sidebar:
    """The list, what was searched for, and which room is open beside it."""

    rooms: list[ShownRoom]
    search: str
    here: str


def sidebar_of(viewer: Viewer, *, here: str = "", search: str = "") -> Sidebar:
    """The viewer's rooms, or those that a search finds."""
    rooms = [_shown(one, here) for one in rooms_of(viewer, search=search)]
    return Sidebar(sorted(rooms, key=lambda one: not one.starred), search, here)


def _shown(listed: ListedRoom, here: str) -> ShownRoom:
    seat = listed.seat
    open_here = seat.room.pk == here
    return ShownRoom(
        id=seat.room.pk,
        title=seat.room.title,
        preview=collapse(_MARKS.sub("", listed.preview)) or ", ".join(listed.names),
        at=seat.room.last_message_at,
        unread=0 if open_here else seat.unread,  # what is open is being read
        starred=seat.mine.starred,
        closed=seat.room.closed,
        here=open_here,
    )
