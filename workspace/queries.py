"""Reads of rooms, each with the permission of the one who asks; writes nothing.

Whoever takes part sees a room; to everybody else it does not exist, admins included (section 7). An outsider (a
client) gets what is public only, numbered without gaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left

from accounts.services import forbidden
from accounts.viewers import Viewer
from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from workspace.models import TAKES_PART, UNENDED, Message, Participant, Room, Turn
from workspace.vocabulary import MessageKind

ROOMS_LISTED = 200
PAGE = 50
PREVIEW_CHARACTERS = 200
SEARCH_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Seat:
    """A viewer's place in a room that they take part in: what every read of the room begins with."""

    viewer: Viewer
    room: Room
    mine: Participant

    @property
    def outside(self) -> bool:
        """Whether this is a client, to whom no loop and nobody else's run exists."""
        return self.viewer.is_client

    @property
    def last_seq(self) -> int:
        """The newest message's number, as this viewer counts."""
        return self.room.last_public_seq if self.outside else self.room.last_seq

    @property
    def version(self) -> int:
        """Goes up with every change that this viewer may see."""
        return self.room.public_version if self.outside else self.room.version

    @property
    def unread(self) -> int:
        """How many messages came after the last one that was seen."""
        return max(0, self.last_seq - self.mine.last_seen_seq)

    @property
    def manages(self) -> bool:
        """Whether they may rename and close it and say who takes part: who opened it, or an admin."""
        return manages(self.viewer, self.room)


@dataclass(frozen=True, slots=True)
class ListedRoom:
    """One line of the sidebar."""

    seat: Seat
    names: tuple[str, ...]  # who else takes part
    preview: str  # how the newest message that somebody wrote begins


@dataclass(frozen=True, slots=True)
class Line:
    """One message as this viewer sees it. `turn` is set on what an agent's turn brought: a reply or its failure."""

    message: Message
    number: int  # its seq, as this viewer counts
    turn: Turn | None = None
    may_retry: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of the transcript, oldest first. `older`: there is more before it."""

    lines: tuple[Line, ...]
    older: bool


def manages(viewer: Viewer, room: Room) -> bool:
    """Who opened the room, or an admin."""
    if viewer.user is not None:
        return viewer.is_admin or room.opened_by_id == viewer.user.pk
    return viewer.agent_id is not None and room.opened_by_agent_id == viewer.agent_id


def seats_of(viewer: Viewer) -> QuerySet[Participant]:
    """The viewer's own rows in the rooms that they take part in, with the rooms."""
    mine = Participant.objects.filter(TAKES_PART).select_related("room", "user", "agent")
    if viewer.user is None:
        return mine.filter(agent=viewer.agent_id, agent__archived_at=None)
    return mine.filter(user=viewer.user) if viewer.user.is_active else mine.none()


def rooms_of(viewer: Viewer, *, search: str = "", limit: int = ROOMS_LISTED) -> list[ListedRoom]:
    """The rooms that the viewer takes part in, by last activity; with `search`, those whose name or messages have it.

    Two queries, however many there are.
    """
    mine = seats_of(viewer).annotate(preview=_preview(viewer)).order_by("-room__last_message_at", "-room_id")
    wanted = fields.clip(search, SEARCH_CHARACTERS).strip()
    if wanted:
        texts = visible_messages(viewer).filter(room=OuterRef("room"), text__icontains=wanted)
        mine = mine.filter(Q(room__title__icontains=wanted) | Exists(texts))
    seats = [Seat(viewer, one.room, one) for one in mine[:limit]]
    names = _names_in([seat.room.pk for seat in seats])
    return [
        ListedRoom(
            seat,
            tuple(name for pk, name in names.get(seat.room.pk, []) if pk != seat.mine.pk),
            seat.mine.preview or "",  # type: ignore[attr-defined]
        )
        for seat in seats
    ]


def seat_in(viewer: Viewer, room_id: str) -> Seat:
    """The one door to a room, for pages, REST and sockets alike.

    Refused (not found) alike when it is unknown and when the viewer takes no part in it.
    """
    clean = fields.clip(room_id, 40)
    mine = seats_of(viewer).select_related("room__opened_by", "room__opened_by_agent", "room__closed_by")
    found = mine.filter(room=clean).first()
    if found is None:
        raise room_not_found(clean)
    return Seat(viewer, found.room, found)


def managed_room(viewer: Viewer, room_id: str) -> Room:
    """A room that the viewer manages. Refused (forbidden) to who takes part and did not open it, (not found) to who
    takes no part; an admin manages also where they take none."""
    clean = fields.clip(room_id, 40)
    room = Room.objects.filter(pk=clean).first()
    if room is not None and manages(viewer, room):
        return room
    if room is None or not seats_of(viewer).filter(room=clean).exists():
        raise room_not_found(clean)
    raise forbidden("Only who opened this room, or an admin, may do this.")


def room_not_found(room_id: str) -> Refused:
    """One answer for an unknown room and for one that may not be seen."""
    return Refused(f"There is no room {fields.clip(room_id, 40)!r}.", code=RefusalCode.NOT_FOUND)


def participants_in(room_id: str) -> list[Participant]:
    """Who takes part, in the order in which they came."""
    found = Participant.objects.filter(TAKES_PART, room=room_id).select_related("user", "agent")
    return list(found.order_by("added_at", "pk"))


def visible_messages(viewer: Viewer) -> QuerySet[Message]:
    """All messages of all rooms but those that are kept from this viewer; which rooms is for the caller to say."""
    messages = Message.objects.all()
    return messages.filter(public_seq__isnull=False) if viewer.is_client else messages


def transcript(seat: Seat, *, since: int | None = None, before: int | None = None, limit: int = PAGE) -> Page:
    """A piece of the transcript in two queries at most, oldest first: the newest `limit` messages; those `before` a
    number; or, oldest first from there, those `since` a number (which is not among them)."""
    counted = "public_seq" if seat.outside else "seq"
    messages = visible_messages(seat.viewer).filter(room=seat.room.pk).select_related("user", "agent")
    messages = messages.select_related("answers__execution", "answers__agent", "answers__retry")
    messages = messages.defer("answers__execution__prompt", "answers__execution__response")
    if since is not None:
        found = list(messages.filter(**{f"{counted}__gt": since}).order_by(counted)[:limit])
        return Page(tuple(_line(seat, one) for one in found), older=since > 0)
    if before is not None:
        messages = messages.filter(**{f"{counted}__lt": before})
    found = list(messages.order_by(f"-{counted}")[: limit + 1])
    return Page(tuple(_line(seat, one) for one in reversed(found[:limit])), older=len(found) > limit)


def line_of(seat: Seat, number: int) -> Line:
    """The one message with this number, as this viewer counts. Refused (not found) when there is none."""
    page = transcript(seat, since=number - 1, limit=1)
    if not page.lines or page.lines[0].number != number:
        raise Refused(f"There is no message {number} in this room.", code=RefusalCode.NOT_FOUND)
    return page.lines[0]


def unended_turns(room_id: str) -> QuerySet[Turn]:
    """The room's turns that wait or go on, oldest first, with their executions."""
    found = Turn.objects.filter(UNENDED, room=room_id).select_related(
        "agent", "asked_by", "message", "execution", "execution__agent"
    )
    return found.defer("execution__prompt", "execution__response", "message__text").order_by("pk")


def _line(seat: Seat, message: Message) -> Line:
    turn: Turn | None = getattr(message, "answers", None)
    number = message.public_seq if seat.outside else message.seq
    may_retry = message.kind == MessageKind.FAILED and turn is not None and not hasattr(turn, "retry")
    return Line(message, number or 0, turn, may_retry and not seat.room.closed)


def _preview(viewer: Viewer) -> Subquery:
    said = visible_messages(viewer).filter(room=OuterRef("room"), kind=MessageKind.SAID).order_by("-seq")
    begins = said.annotate(begins=Left("text", PREVIEW_CHARACTERS)).values("begins")[:1]
    return Subquery(begins, output_field=CharField())


def _names_in(room_ids: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    found = Participant.objects.filter(TAKES_PART, room__in=room_ids).order_by("added_at", "pk")
    names: dict[str, list[tuple[int, str]]] = {}
    for pk, room_id, username, agent in found.values_list("pk", "room_id", "user__username", "agent__name"):
        names.setdefault(room_id, []).append((pk, username or agent))
    return names


def turns_to_move() -> QuerySet[Turn]:
    """Turns that should be moved on: first in their line and without an execution, or left in a closed room.

    A turn waits for the earlier ones of the same message (several mentions wake one after another), and for those of
    the same agent in the same room, whose replies it must have seen.
    """
    earlier = Turn.objects.filter(UNENDED, room=OuterRef("room"), pk__lt=OuterRef("pk"))
    before = earlier.filter(Q(message=OuterRef("message")) | Q(agent=OuterRef("agent")))
    first = Q(execution__isnull=True) & ~Exists(before)
    left = Q(room__closed_at__isnull=False) & (Q(execution__isnull=True) | Q(execution__started_at__isnull=True))
    return Turn.objects.filter(UNENDED).filter(first | left).order_by("pk")
