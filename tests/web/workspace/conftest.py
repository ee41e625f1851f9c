"""Rooms as people open them in a browser without scripts: Alice's room with Bob and Carol in it, and agents."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from tests.web.pages.conftest import (  # noqa: F401 — fixtures of this folder too
    Stage,
    as_alice,
    as_carol,
    as_mallory,
    browser_of,
    stage,
    text_of,
)
from workspace.parameters import read_room
from workspace.rooms import add_participant, open_room


@pytest.fixture
def open_a_room(alice: Any, agent: Any) -> Callable[..., Any]:
    """Alice's room with her agent and whoever else is named."""

    def open_it(*people: Any, **asked: Any) -> Any:
        room = open_room(Viewer(user=alice), read_room({"agents": [agent.name], "title": "Docs", **asked}))
        for one in people:
            add_participant(Viewer(user=alice), room.pk, user=one.username)
        return room

    return open_it


@pytest.fixture
def as_bob(browser_of: Callable[[Any], Any], bob: Any, agent: Any) -> Any:  # noqa: F811
    """Bob, who may use Alice's agent."""
    from agents.models import AgentShare

    AgentShare.objects.create(agent=agent, user=bob)
    return browser_of(bob)
