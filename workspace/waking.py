"""Which agents a message wakes, and who is added by a mention; runs under the room's lock, and queues no execution."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from accounts.models import User
from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import may_use, visible_agents
from workspace.mentions import mentioned_names
from workspace.models import TAKES_PART, Message, Participant, Turn
from workspace.record import RoomRecord
from workspace.seating import seat_anew
from workspace.vocabulary import RoomEventKind

CHAIN = 8  # turns without a person, then agents wake nobody any more (section 7, "Turns")


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message, and for whom: `person` stands at the beginning of the chain that led to it."""

    person: User | None = None
    agent: Agent | None = None  # when an agent wrote it


def wake_by(record: RoomRecord, message: Message, author: Author) -> list[Turn]:
    """A turn for each agent that the message wakes, in order of mention.

    A person's mention of an agent they may use adds it; an agent's mention adds nobody. A name that is nobody stays
    plain. In a room with one agent every message of somebody else wakes it.
    """
    seats = _agent_seats(record)
    woken = _woken(record, message, author, seats)
    able = [seat for seat in woken if _is_able(record, seat)]
    if author.agent is None:
        record.set(turns_without_person=len(able))
    else:
        able = _within_chain(record, able)
    return [ask(record, message, seat.agent, author) for seat in able if seat.agent is not None]


def ask(record: RoomRecord, message: Message, agent: Agent, author: Author, *, retry_of: Turn | None = None) -> Turn:
    """One turn; it gets its execution after the commit, when it is first in its line."""
    turn = Turn.objects.create(
        room=record.room,
        message=message,
        agent=agent,
        asked_by=author.person,
        asked_by_agent=author.agent,
        asked_at=record.now,
        retry_of=retry_of,
    )
    record.turns_may_move = True
    record.happened(RoomEventKind.ROOM_TURN)
    return turn


def unable_because(seat: Participant) -> str:
    """Why an agent cannot be woken here, as a sentence that everybody may read; blank when it can."""
    agent = seat.agent
    if agent is None or agent.archived_at is not None:
        return f"@{seat.name} is archived and answers no more."
    if not agent.running:
        return f"@{agent.name} is stopped, so it was not woken."
    adder = Viewer(user=seat.added_by) if seat.added_by is not None else Viewer(agent_id=seat.added_by_agent_id)
    if not may_use(adder, agent.pk):
        return f"@{agent.name} may not be used here any more, so it was not woken."
    return ""


def _agent_seats(record: RoomRecord) -> list[Participant]:
    found = Participant.objects.filter(TAKES_PART, room=record.room.pk, agent__isnull=False)
    return list(found.select_related("agent", "added_by").order_by("added_at", "pk"))


def _woken(record: RoomRecord, message: Message, author: Author, seats: Sequence[Participant]) -> list[Participant]:
    by_name = {seat.name: seat for seat in seats}
    names = mentioned_names(message.text)
    if author.agent is None and author.person is not None:
        by_name |= {seat.name: seat for seat in _added(record, author.person, set(names) - set(by_name))}
    found = [by_name[name] for name in names if name in by_name]
    if not found and len(seats) == 1 and author.agent is None:
        found = list(seats)
    return [seat for seat in found if author.agent is None or seat.agent_id != author.agent.pk]


def _added(record: RoomRecord, person: User, names: Iterable[str]) -> list[Participant]:
    """Those of these names whom the person may use; a client may use none."""
    agents = visible_agents(Viewer(user=person)).filter(name__in=list(names)) if names else Agent.objects.none()
    return [seat_anew(record, Viewer(user=person), agent=agent) for agent in agents]


def _is_able(record: RoomRecord, seat: Participant) -> bool:
    reason = unable_because(seat)
    if reason:
        record.notice(reason)
    return not reason


def _within_chain(record: RoomRecord, seats: list[Participant]) -> list[Participant]:
    left = max(0, CHAIN - record.room.turns_without_person)
    if len(seats) > left:
        record.notice(
            f"After {CHAIN} turns without a person the agents pause here; a message of somebody lets them go on."
        )
    record.set(turns_without_person=record.room.turns_without_person + len(seats[:left]))
    return seats[:left]
