"""Callers of the REST API, each with a key of their own."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.services import create_key
from tests.web.api.calling import Caller


@pytest.fixture
def caller_for(db: None) -> Callable[[Any], Caller]:
    """A caller with a key of a user."""
    return lambda user: Caller(create_key(user=user).secret)


@pytest.fixture
def caller_of(db: None) -> Callable[[Any], Caller]:
    """A caller with a key of an agent."""
    return lambda agent: Caller(create_key(agent_id=agent.pk).secret)


@pytest.fixture
def as_alice(caller_for: Callable[[Any], Caller], alice: Any) -> Caller:
    return caller_for(alice)


@pytest.fixture
def as_bob(caller_for: Callable[[Any], Caller], bob: Any) -> Caller:
    return caller_for(bob)


@pytest.fixture
def as_carol(caller_for: Callable[[Any], Caller], carol: Any) -> Caller:
    return caller_for(carol)


@pytest.fixture
def as_mallory(caller_for: Callable[[Any], Caller], mallory: Any) -> Caller:
    return caller_for(mallory)


@pytest.fixture
def as_admin(caller_for: Callable[[Any], Caller], admin_user: Any) -> Caller:
    return caller_for(admin_user)


@pytest.fixture
def as_nobody(db: None) -> Caller:
    return Caller()


@pytest.fixture
def shared_with_bob(agent: Any, bob: Any) -> Any:
    from agents.models import AgentShare

    return AgentShare.objects.create(agent=agent, user=bob)
