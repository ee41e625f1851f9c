"""Writes in a room that people and agents ask for: post, try a failed turn again, cancel one that waits."""

from accounts.services import forbidden
from accounts.viewers import Viewer
from executions.step import agent_step
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from workspace.models import Message, Participant, Room, Turn
from workspace.queries import Line, Seat
from workspace.record import RoomRecord, record_in, room_step, seat_under_lock
from workspace.turns import take_back
from workspace.vocabulary import CancelAnswer, CloseReason, MessageKind, TurnEnding
from workspace.waking import Author, ask, unable_because, wake_by


def post_message(viewer: Viewer, room_id: str, text: str) -> Message:
    """Write in a room. Refused (not found) to who takes no part, (conflict) when it is closed."""
    with room_step(room_id) as record:
        return post_in(record, seat_under_lock(record, viewer), text)


def post_in(record: RoomRecord, seat: Seat, text: str) -> Message:
    """The same within a step that is open, so that a door can store its answer with the message."""
    refuse_if_closed(record.room)
    author = author_of(seat.viewer, seat.mine)
    message = record.say(MessageKind.SAID, text, by=seat.mine)
    record.seen_by(seat.mine, record.room.last_public_seq if seat.outside else record.room.last_seq)
    close_when_full(record)
    if not record.room.closed:
        wake_by(record, message, author)
    return message


def author_of(viewer: Viewer, mine: Participant) -> Author:
    """Who writes: a person, or an agent on behalf of whoever asked for its turn."""
    if viewer.user is not None:
        return Author(viewer.user)
    own = Turn.objects.select_related("asked_by").filter(execution=viewer.execution_id or None).first()
    return Author(own.asked_by if own is not None else None, mine.agent)


def close_when_full(record: RoomRecord) -> None:
    """Close a room that has reached its number of messages; says so, and stays readable."""
    room = record.room
    if not room.closed and room.said_count >= room.max_messages:
        record.notice(f"This room is closed: it has reached its {room.max_messages} messages.")
        record.close(CloseReason.MAX_MESSAGES)


def retry(viewer: Viewer, room_id: str, line: Line) -> Turn:
    """Try a failed turn again; the same retry, when two ask for it. Refused (conflict) when nothing can be tried.

    For people: agents that tried one another's failures again would need no person to go on.
    """
    if viewer.user is None:
        raise forbidden("Only a person may let a failed turn be tried again.")
    with room_step(room_id) as record:
        seat_under_lock(record, viewer)
        refuse_if_closed(record.room)
        failed = line.turn
        if failed is None or line.message.kind != MessageKind.FAILED:
            raise Refused("This message is no failed turn.", code=RefusalCode.CONFLICT)
        before = Turn.objects.filter(retry_of=failed.pk).first()
        if before is not None:
            return before
        where = Participant.objects.select_related("agent", "added_by")
        seat = where.filter(room=room_id, agent=failed.agent_id, removed_at=None).first()
        reason = unable_because(seat) if seat is not None else f"@{failed.agent.name} is not here any more."
        if reason:
            raise Refused(reason, code=RefusalCode.CONFLICT)
        record.set(turns_without_person=1)
        return ask(record, failed.message, failed.agent, Author(viewer.user), retry_of=failed)


def cancel_turn(viewer: Viewer, room_id: str, turn_id: int) -> CancelAnswer:
    """Take a turn back that has not begun: for who asked, and who may close the room. Safe to repeat.

    Refused (not found) when there is none, (forbidden) to others, (conflict) when it has begun.
    """
    turn = Turn.objects.filter(room=room_id, pk=turn_id).first()
    if turn is None:
        raise Refused("There is no such turn in this room.", code=RefusalCode.NOT_FOUND)
    with agent_step(turn.agent_id) as step:
        record = record_in(step, room_id)
        seat = seat_under_lock(record, viewer)
        if not seat.manages and (viewer.user is None or turn.asked_by_id != viewer.user.pk):
            raise forbidden("Only who asked for it may cancel a turn.")
        found = Turn.objects.select_related("execution").get(pk=turn_id)
        if found.ended:
            return CancelAnswer.ALREADY_ENDED
        if found.execution is not None and found.execution.in_flight:
            raise Refused("It has begun; it can be waited for only.", code=RefusalCode.CONFLICT)
        take_back(step, record, found, TurnEnding.CANCELLED, cancelled_by=viewer.user)
        record.notice(f"{seat.mine.name} cancelled the turn of @{step.agent.name}.")
    return CancelAnswer.CANCELLED


def refuse_if_closed(room: Room) -> None:
    """A closed room stays readable, and takes nothing more."""
    if room.closed:
        raise Refused("This room is closed.", code=RefusalCode.CONFLICT)
