"""Writes what happens in one room inside one transaction that holds its lock; decides nothing.

The lock is the room's row. Where a step needs an agent's lock as well, the agent's comes first: turns begin and end
under their agent's lock, so nobody who holds a room may wait for an agent.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from accounts.models import User
from accounts.viewers import Viewer
from agents.models import Agent
from executions.step import AgentStep, follow_up
from loops.models import Loop
from trinity.kernel import clock, fields, live, rows
from trinity.kernel.clock import wire_time
from trinity.kernel.statements import Statement, carry_out
from trinity.kernel.text import clean
from workspace.models import TEXT_CHARACTERS, Message, Participant, Room
from workspace.queries import Seat, room_not_found, seats_of
from workspace.vocabulary import CloseReason, MessageKind, RoomEventKind


@dataclass(slots=True)
class RoomRecord:
    """One room under its lock. Columns are written once, at the end; messages at once, as later reads need them."""

    room: Room
    now: dt.datetime
    events: list[live.Event] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=dict)
    turns_may_move: bool = False

    def set(self, **columns: Any) -> None:
        """Change columns of the room."""
        for name, value in columns.items():
            setattr(self.room, name, value)
        self.columns |= columns

    def say(
        self,
        kind: MessageKind,
        text: str,
        *,
        by: Participant | None = None,
        user: User | None = None,
        agent: Agent | None = None,
        loop: Loop | None = None,
        members_only: bool = False,
    ) -> Message:
        """A further message, by nobody (the room itself), a participant, a person or an agent."""
        room, public = self.room, not members_only
        self.set(last_seq=room.last_seq + 1, last_public_seq=room.last_public_seq + public)
        message = Message(
            room=room,
            seq=room.last_seq,
            public_seq=room.last_public_seq if public else None,
            kind=kind,
            user=by.user if by is not None else user,
            agent=by.agent if by is not None else agent,
            text=clean(text, TEXT_CHARACTERS),
            loop=loop,
            at=self.now,
        )
        message.save(force_insert=True)
        if kind is not MessageKind.NOTICE:
            self.set(last_message_at=self.now, closes_at=self.now + dt.timedelta(hours=room.idle_hours))
        if kind is MessageKind.SAID:
            self.set(said_count=room.said_count + 1)
        self.happened(RoomEventKind.ROOM_MESSAGE, public=public)
        return message

    def notice(self, text: str) -> Message:
        """The room itself says what happened; it never speaks of loops or costs, since everybody reads it."""
        return self.say(MessageKind.NOTICE, text)

    def happened(self, kind: RoomEventKind, *, public: bool = True) -> None:
        """Raise the version; members hear of it after the commit, and outsiders when it is theirs to know."""
        room = self.room
        self.set(version=room.version + 1, public_version=room.public_version + public)
        self.events.append(
            {
                "room_id": room.pk,
                "body": self._body(kind, room.version, room.last_seq),
                "public_body": self._body(kind, room.public_version, room.last_public_seq) if public else None,
            }
        )

    def close(self, reason: CloseReason, by: User | None = None) -> None:
        """Take no more messages. What waits is withdrawn after the commit; what is in flight finishes."""
        self.set(closed_at=self.now, close_reason=reason, closed_by_id=by.pk if by is not None else None)
        self.turns_may_move = True
        self.happened(RoomEventKind.ROOM_CHANGED)

    def seen_by(self, participant: Participant, number: int) -> None:
        """They have seen everything up to this number, as they count."""
        Participant.objects.filter(pk=participant.pk, last_seen_seq__lt=number).update(last_seen_seq=number)

    def changes(self) -> list[Statement]:
        """All changed columns, in one update."""
        columns, self.columns = self.columns, {}
        return [rows.change(Room, {"pk": self.room.pk}, columns)] if columns else []

    def tell(self) -> None:
        """After the commit of a step of its own: events, then what follows."""
        live.publish(self.events)
        follow_up([self.follow])

    def follow(self) -> None:
        """After the commit: turns that may move on now."""
        from workspace.turns import move_turns_of  # turns write through this module

        if self.turns_may_move:
            move_turns_of(self.room.pk)

    def _body(self, kind: RoomEventKind, version: int, seq: int) -> dict[str, Any]:
        return {
            "type": str(kind),
            "room_id": self.room.pk,
            "version": version,
            "seq": seq,
            "timestamp": wire_time(self.now),
        }


@contextmanager
def room_step(room_id: str) -> Iterator[RoomRecord]:
    """The one transaction of a service that touches a room and no agent; then its events, and what follows."""
    with transaction.atomic(durable=True):
        record = RoomRecord(lock_room(room_id), clock.now())
        yield record
        carry_out(*record.changes())
    record.tell()


def record_in(step: AgentStep, room_id: str) -> RoomRecord:
    """The step's one record of this room, locked after the agent; written at the end of the step."""
    if room_id not in step.records:
        record = RoomRecord(lock_room(room_id), step.now, events=step.live_events)
        step.records[room_id] = record
        step.writers.append(record.changes)
        step.afterwards.append(record.follow)
    found: RoomRecord = step.records[room_id]
    return found


def lock_room(room_id: str) -> Room:
    """The room's row, held until the transaction ends. Refused (not found) when there is none."""
    room = rows.row_in(Room, carry_out(rows.locking(Room, fields.clip(room_id, 40)))[0])
    if room is None:
        raise room_not_found(room_id)
    return room


def seat_under_lock(record: RoomRecord, viewer: Viewer) -> Seat:
    """The viewer's place in the locked room. Refused (not found) when they take no part any more."""
    mine = seats_of(viewer).filter(room=record.room.pk).first()
    if mine is None:
        raise room_not_found(record.room.pk)
    return Seat(viewer, record.room, mine)
