"""Writes of rooms as a whole: open, rename, close, who takes part, and what one keeps for oneself."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from accounts.services import forbidden
from accounts.viewers import Viewer
from agents.locking import lock_agent
from agents.models import Agent
from agents.queries import may_use, visible_agents
from executions.step import AgentStep, agent_step
from executions.vocabulary import ExecutionStatus
from trinity.kernel import clock, fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.statements import carry_out
from trinity.kernel.text import first_line
from trinity.kernel.vocabulary import RefusalCode
from workspace.models import TAKES_PART, TITLE_CHARACTERS, UNENDED, Participant, Room, Turn
from workspace.parameters import TAKING_PART, RoomParameters
from workspace.queries import Seat, managed_room, seat_in
from workspace.record import RoomRecord, record_in, room_step
from workspace.seating import name_of, seat_anew, unseat
from workspace.services import post_in
from workspace.turns import take_back
from workspace.vocabulary import CloseAnswer, CloseReason, RoomEventKind, TurnEnding


@contextmanager
def opening(viewer: Viewer, asked: RoomParameters) -> Iterator["Opening"]:
    """The one transaction that opens a room, so that a door can store its answer with it.

    It begins with the lock of the first agent: requests that come twice at once then wait for each other.
    """
    refuse_clients(viewer)
    agents = _agents(viewer, asked.agents)
    people = _people(viewer, asked.people, agents)
    with transaction.atomic(durable=True):
        lock_agent(agents[0].pk)
        found = Opening(viewer, asked, agents, people)
        yield found
        if found.record is not None:
            carry_out(*found.record.changes())
    if found.record is not None:
        found.record.tell()


@dataclass(slots=True)
class Opening:
    """A room about to be opened."""

    viewer: Viewer
    asked: RoomParameters
    agents: Sequence[Agent]
    people: Sequence[User]
    record: RoomRecord | None = None

    def open(self) -> Seat:
        """Write the room, who takes part, and the first message."""
        now, asked, viewer = clock.now(), self.asked, self.viewer
        room = Room(
            title=asked.title or _title_of(asked, self.agents),
            opened_by=viewer.user,
            opened_by_agent_id=viewer.agent_id,
            created_at=now,
            last_message_at=now,
            closes_at=now + dt.timedelta(hours=asked.idle_hours),
            max_messages=asked.max_messages,
            max_cost_nano=asked.max_cost_nano,
            idle_hours=asked.idle_hours,
        )
        room.save(force_insert=True)
        self.record = RoomRecord(room, now)
        own = {"user": viewer.user, "agent_id": viewer.agent_id}
        by = {"added_at": now, "added_by": viewer.user, "added_by_agent_id": viewer.agent_id}
        mine = Participant.objects.create(room=room, **own, **by)
        others = [Participant(room=room, agent=one, **by) for one in self.agents if one.pk != viewer.agent_id]
        others += [Participant(room=room, user=one, **by) for one in self.people if one != viewer.user]
        Participant.objects.bulk_create(others)
        self.record.happened(RoomEventKind.ROOM_CHANGED)
        seat = Seat(viewer, room, mine)
        if asked.text:
            post_in(self.record, seat, asked.text)
            mine.last_seen_seq = room.last_seq
        return seat


def open_room(viewer: Viewer, asked: RoomParameters) -> Room:
    """A new room with agents that the viewer may use. Refused (forbidden) to clients, who are invited."""
    with opening(viewer, asked) as found:
        return found.open().room


def refuse_clients(viewer: Viewer) -> None:
    """Refused (forbidden): a client is invited (section 7)."""
    if viewer.is_client:
        raise forbidden("Rooms are opened by members; you are invited to them.")


def rename_room(viewer: Viewer, room_id: str, title: str) -> Room:
    """Give a room another name: for who opened it, or an admin."""
    with room_step(room_id) as record:
        managed_room(viewer, record.room.pk)
        if record.room.title != title:
            record.set(title=title)
            record.notice(f"{name_of(viewer)} named this room “{title}”.")
            record.happened(RoomEventKind.ROOM_CHANGED)
    return record.room


def close_room(viewer: Viewer, room_id: str) -> CloseAnswer:
    """Take no more messages: for who opened it, or an admin. Safe to repeat, and of two at once one closes it."""
    with room_step(room_id) as record:
        managed_room(viewer, record.room.pk)
        if record.room.closed:
            return CloseAnswer.ALREADY_CLOSED
        record.notice(f"{name_of(viewer)} closed this room.")
        record.close(CloseReason.BY_SOMEBODY, viewer.user)
    return CloseAnswer.CLOSED


def add_participant(viewer: Viewer, room_id: str, *, agent: str = "", user: str = "") -> Participant:
    """Let an agent or a person take part: for who opened the room, or an admin. Safe to repeat.

    Refused by field when there is no such agent or person, or the viewer may not use the agent.
    """
    agents = _agents(viewer, (agent,), "agent") if agent else []
    with room_step(room_id) as record:
        managed_room(viewer, record.room.pk)
        room_agents = Agent.objects.filter(rooms__room=room_id, rooms__removed_at=None)
        people = _people(viewer, (user,), room_agents, "user") if user else []
        taking_part = Participant.objects.filter(TAKES_PART, room=room_id, agent__isnull=not agent)
        if taking_part.count() >= TAKING_PART:
            raise Refused(f"A room has room for {TAKING_PART} agents and as many people.", code=RefusalCode.CONFLICT)
        return seat_anew(record, viewer, user=people[0] if people else None, agent=agents[0] if agents else None)


def remove_participant(viewer: Viewer, room_id: str, *, agent: str = "", user: str = "") -> None:
    """Let somebody take part no longer: for who opened the room, an admin, or for oneself.

    What an agent has not begun is withdrawn; what is in flight finishes, and its reply is not posted. Refused (not
    found) when they take no part.
    """
    if agent:
        _remove_agent(viewer, room_id, agent)
        return
    with room_step(room_id) as record:
        if viewer.user is None or viewer.user.username != user:
            managed_room(viewer, record.room.pk)
        unseat(record, viewer, _seat_of(record, user__username=fields.clip(user)))


def _remove_agent(viewer: Viewer, room_id: str, name: str) -> None:
    found = Agent.objects.filter(name=fields.clip(name)).only("pk").first()
    with agent_step(found.pk) if found is not None else room_step(room_id) as step:
        record = record_in(step, room_id) if isinstance(step, AgentStep) else step
        if found is None or viewer.agent_id != found.pk:
            managed_room(viewer, record.room.pk)
        unseat(record, viewer, _seat_of(record, agent__name=fields.clip(name)))
        if isinstance(step, AgentStep):
            waiting = Q(execution__isnull=True) | Q(execution__status=ExecutionStatus.QUEUED)
            turns = Turn.objects.filter(UNENDED, waiting, room=room_id, agent=step.agent).select_related("execution")
            for turn in turns:
                take_back(step, record, turn, TurnEnding.WITHDRAWN)


def mark_seen(viewer: Viewer, room_id: str, number: int) -> None:
    """The viewer has seen everything up to this message, as they count. It never goes back, and tells nobody."""
    seat = seat_in(viewer, room_id)
    seen = min(number, seat.last_seq)
    Participant.objects.filter(pk=seat.mine.pk, last_seen_seq__lt=seen).update(last_seen_seq=seen)


def star(viewer: Viewer, room_id: str, *, starred: bool) -> None:
    """Mark a room for oneself, or no more."""
    Participant.objects.filter(pk=seat_in(viewer, room_id).mine.pk).update(starred=starred)


def _seat_of(record: RoomRecord, **who: str) -> Participant:
    found = Participant.objects.filter(TAKES_PART, room=record.room.pk, **who).select_related("user", "agent").first()
    if found is None:
        raise Refused("They take no part in this room.", code=RefusalCode.NOT_FOUND)
    return found


def _agents(viewer: Viewer, names: Sequence[str], field: str = "agents") -> list[Agent]:
    """The agents of these names, in their order. Refused alike when one is unknown and when it may not be used."""
    found = {agent.name: agent for agent in visible_agents(viewer).filter(name__in=names)}
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        raise refused_field(field, f"There is no agent {fields.clip(missing)!r}.")
    return [found[name] for name in names]


def _people(viewer: Viewer, names: Sequence[str], agents: Iterable[Agent], field: str = "people") -> list[User]:
    """The people of these names. An agent brings in only who may use the room's agents."""
    found = {user.username: user for user in User.objects.filter(username__in=names, is_active=True)}
    for name in names:
        user = found.get(name)
        if user is None:
            raise refused_field(field, f"There is no user {fields.clip(name)!r}.")
        if not viewer.is_person and not all(may_use(Viewer(user=user), agent.pk) for agent in agents):
            raise refused_field(field, f"{fields.clip(name)!r} may not use the agents of this room.")
    return [found[name] for name in names]


def _title_of(asked: RoomParameters, agents: Sequence[Agent]) -> str:
    """How the first message begins, else who is there."""
    return first_line(asked.text, 80) or ", ".join(agent.name for agent in agents)[:TITLE_CHARACTERS]
