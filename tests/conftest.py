"""Fixtures that every test may use: the people, an agent, and time that stands still."""

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from trinity.kernel import clock

DATA = Path(__file__).parent / "data"
# `--hypothesis-profile NAME` chooses another one; a test may scale what is here, and names no number of its own.
hypothesis.settings.register_profile("dev", deadline=None, max_examples=50, stateful_step_count=40)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=40, stateful_step_count=40, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("long", deadline=None, max_examples=2_000, stateful_step_count=100)
# Where nobody looks on, the same examples each time: a new one is found by whoever works here, not by chance.
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")
NOON = dt.datetime(2026, 11, 30, 12, 0, 0, tzinfo=dt.UTC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What only PostgreSQL can show is left out elsewhere, also when somebody runs pytest by hand."""
    if not os.environ.get("TEST_DATABASE_URL"):
        for one in items:
            if one.get_closest_marker("postgres"):
                one.add_marker(pytest.mark.skip(reason="needs PostgreSQL: TEST_DATABASE_URL is not set"))


class StillClock:
    """Time that moves only when a test says so."""

    def __init__(self, now: dt.datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> dt.datetime:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += dt.timedelta(seconds=seconds)


@pytest.fixture
def still_clock() -> Iterator[StillClock]:
    source = StillClock()
    with clock.clock_from(source):
        yield source


@pytest.fixture(autouse=True)
def quiet_nudges() -> Iterator[list[tuple[int, str]]]:
    """No broker in tests: nudges are gathered, and may be lost like any message."""
    from executions import nudging

    sent: list[tuple[int, str]] = []
    nudging.send_with(lambda agent_id, place: sent.append((agent_id, place)))
    yield sent
    nudging.send_with(None)


def load_json(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.fixture
def make_user(db: None) -> Callable[..., Any]:
    from accounts.models import User
    from accounts.vocabulary import UserKind

    def make(username: str, kind: UserKind = UserKind.MEMBER, password: str = "correct horse") -> User:
        user = User(username=username, kind=kind)
        user.set_password(password)
        user.save()
        return user

    return make


@pytest.fixture
def alice(make_user: Callable[..., Any]) -> Any:
    """Owns the agents."""
    return make_user("alice")


@pytest.fixture
def bob(make_user: Callable[..., Any]) -> Any:
    """Is shared with."""
    return make_user("bob")


@pytest.fixture
def carol(make_user: Callable[..., Any]) -> Any:
    """Is a client."""
    from accounts.vocabulary import UserKind

    return make_user("carol", UserKind.CLIENT)


@pytest.fixture
def mallory(make_user: Callable[..., Any]) -> Any:
    """Is a stranger."""
    return make_user("mallory")


@pytest.fixture
def admin_user(make_user: Callable[..., Any]) -> Any:
    from accounts.vocabulary import UserKind

    return make_user("root", UserKind.ADMIN)


@pytest.fixture
def make_agent(alice: Any, tmp_path: Path) -> Callable[..., Any]:
    from agents.models import Agent
    from agents.runtimes.registry import runtime

    def make(name: str = "scribe", **columns: Any) -> Agent:
        columns.setdefault("runtime", "scripted")
        columns.setdefault("runtime_settings", {"replies": [{"response": "done"}]})
        columns["runtime_settings"] = runtime(columns["runtime"]).clean_settings(columns["runtime_settings"])
        return Agent.objects.create(name=name, owner=alice, workspace=str(tmp_path), **columns)

    return make


@pytest.fixture
def agent(make_agent: Callable[..., Any]) -> Any:
    return make_agent()
