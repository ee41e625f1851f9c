"""Writes who takes part in a room, under its lock; whether somebody may say so is asked by the services."""

from accounts.models import User
from accounts.viewers import Viewer
from agents.models import Agent
from workspace.models import Participant
from workspace.record import RoomRecord
from workspace.vocabulary import RoomEventKind


def seat_anew(record: RoomRecord, by: Viewer, *, user: User | None = None, agent: Agent | None = None) -> Participant:
    """Let a person or an agent take part; the room says so. One who was removed comes back to what they had seen."""
    seat, new = Participant.objects.get_or_create(
        room=record.room,
        user=user,
        agent=agent,
        defaults={"added_at": record.now, "added_by": by.user, "added_by_agent_id": by.agent_id},
    )
    if not new and seat.removed_at is None:
        return seat
    seat.removed_at, seat.added_by, seat.added_by_agent_id = None, by.user, by.agent_id
    seat.save(update_fields=["removed_at", "added_by", "added_by_agent"])
    record.notice(f"{name_of(by)} added {shown_name(seat)}.")
    record.happened(RoomEventKind.ROOM_CHANGED)
    return seat


def unseat(record: RoomRecord, by: Viewer, seat: Participant) -> None:
    """Let somebody take part no longer; the room says so."""
    Participant.objects.filter(pk=seat.pk).update(removed_at=record.now)
    left = by.user is not None and by.user == seat.user
    record.notice(f"{shown_name(seat)} left." if left else f"{name_of(by)} removed {shown_name(seat)}.")
    record.happened(RoomEventKind.ROOM_CHANGED)


def shown_name(seat: Participant) -> str:
    """A participant in a sentence."""
    if seat.user is not None:
        return seat.user.display_name
    return f"@{seat.name}"


def name_of(viewer: Viewer) -> str:
    """Who does something, in a sentence."""
    if viewer.user is not None:
        return viewer.user.display_name
    agent = Agent.objects.filter(pk=viewer.agent_id or 0).only("name").first()
    return f"@{agent.name}" if agent is not None else "somebody"
