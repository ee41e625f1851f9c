"""A room with Alice and her agents, and short words for what happens in it."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from tests.conftest import StillClock
from tests.engine import WORKER, success
from workspace.models import Message, Participant, Room, Turn
from workspace.parameters import read_room
from workspace.queries import seat_in, transcript
from workspace.rooms import open_room
from workspace.services import post_message


class Talk:
    """One room, and what people and agents do in it."""

    def __init__(self, room: Room, clock: StillClock) -> None:
        self.id = room.pk
        self.clock = clock

    @property
    def room(self) -> Room:
        return Room.objects.get(pk=self.id)

    def says(self, user: Any, text: str) -> Message:
        self.clock.pass_seconds(1)
        return post_message(Viewer(user=user), self.id, text)

    def begins(self, agent: Any) -> Execution:
        """The agent's next turn gets its slot."""
        execution = take(agent.pk, WORKER)
        assert execution is not None, f"nothing waits for {agent.name}"
        return execution

    def answers(self, agent: Any, reply: Any) -> Execution:
        """The agent's next turn, from its slot to its end; `reply` is a text or an outcome."""
        execution = self.begins(agent)
        self.clock.pass_seconds(1)
        settle(execution, success(reply) if isinstance(reply, str) else reply)
        return execution

    def lines(self, viewer: Viewer | Any, kind: str = "") -> list[str]:
        """What stands in the transcript for this viewer: 'author: text'."""
        who = viewer if isinstance(viewer, Viewer) else Viewer(user=viewer)
        page = transcript(seat_in(who, self.id), limit=200)
        return [f"{_author(one.message)}: {one.message.text}" for one in page.lines if kind in ("", one.message.kind)]

    def waiting(self) -> list[str]:
        """Whose turns have not ended, in their order."""
        return [turn.agent.name for turn in Turn.objects.filter(room=self.id, ended_at=None).order_by("pk")]

    def seat(self, name: str) -> Participant:
        seats = Participant.objects.filter(room=self.id).select_related("user", "agent")
        return next(one for one in seats if one.name == name)


def _author(message: Message) -> str:
    author = message.user or message.agent
    return getattr(author, "username", None) or getattr(author, "name", "")


@pytest.fixture
def open_talk(alice: Any, agent: Any, still_clock: StillClock) -> Callable[..., Talk]:
    """Opens a room of Alice's with these agents (scribe alone, unless told otherwise)."""

    def make(*agents: str, **more: Any) -> Talk:
        asked = read_room({"agents": list(agents or ("scribe",)), **more})
        return Talk(open_room(Viewer(user=alice), asked), still_clock)

    return make
