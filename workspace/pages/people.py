"""Who is in a room and who could be, as plain values for its head and its composer; writes nothing."""

from dataclasses import dataclass

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import visible_agents
from workspace.models import Participant
from workspace.queries import Seat, participants_in


@dataclass(frozen=True, slots=True)
class ShownPerson:
    """A person or an agent that takes part."""

    id: int
    name: str  # what stands behind the @
    title: str
    is_agent: bool
    outside: bool
    me: bool


@dataclass(frozen=True, slots=True)
class Head:
    """A room's name and who takes part, and what the viewer may change."""

    id: str
    title: str
    closed: bool
    starred: bool
    manages: bool
    people: list[ShownPerson]
    addable: list[ShownPerson]  # agents that the viewer may use and that take no part yet
    viewer_name: str

    @property
    def names(self) -> str:
        return ", ".join(one.name for one in self.people)

    @property
    def agents(self) -> list[ShownPerson]:
        return [one for one in self.people if one.is_agent]


def head_of(seat: Seat) -> Head:
    """The head, in two queries; in one for a client."""
    people = [_person(one, seat.viewer) for one in participants_in(seat.room.pk)]
    here = {one.name for one in people if one.is_agent}
    return Head(
        id=seat.room.pk,
        title=seat.room.title,
        closed=seat.room.closed,
        starred=seat.mine.starred,
        manages=seat.manages,
        people=people,
        addable=[one for one in usable_agents_of(seat.viewer) if one.name not in here],
        viewer_name=seat.mine.name,
    )


def usable_agents_of(viewer: Viewer) -> list[ShownPerson]:
    """The agents that the viewer may talk with; none for a client."""
    if viewer.is_client:
        return []
    return [_agent(one) for one in visible_agents(viewer).order_by("name")]


def mentionable(head: Head) -> list[ShownPerson]:
    """Whose names the composer completes: agents, since they wake by it; one from outside the room is added by it."""
    return [*head.agents, *([] if head.closed else head.addable)]


def _person(participant: Participant, viewer: Viewer) -> ShownPerson:
    user, agent = participant.user, participant.agent
    if agent is not None:
        return _agent(agent, participant.pk)
    return ShownPerson(
        id=participant.pk,
        name=participant.name,
        title=user.get_full_name() if user is not None else "",
        is_agent=False,
        outside=user is not None and user.is_client,
        me=user is not None and user == viewer.user,
    )


def _agent(agent: Agent, pk: int = 0) -> ShownPerson:
    return ShownPerson(pk, agent.name, agent.title, is_agent=True, outside=False, me=False)
