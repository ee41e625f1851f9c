"""People in front of a browser without scripts: Django's client, logged in; and loops in every state."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from loops.models import Loop
from loops.services import request_stop
from tests.conftest import StillClock
from tests.engine import WORKER, again, failure, model_away, start, success


@pytest.fixture
def browser_of(db: None) -> Callable[[Any], Client]:
    """A browser in which this person is logged in."""

    def log_in(user: Any) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def as_alice(browser_of: Callable[[Any], Client], alice: Any) -> Client:
    return browser_of(alice)


@pytest.fixture
def as_mallory(browser_of: Callable[[Any], Client], mallory: Any) -> Client:
    return browser_of(mallory)


@pytest.fixture
def as_carol(browser_of: Callable[[Any], Client], carol: Any) -> Client:
    return browser_of(carol)


@pytest.fixture
def as_bob(browser_of: Callable[[Any], Client], bob: Any, agent: Any) -> Client:
    """Bob, with whom Alice's agent is shared."""
    from agents.models import AgentShare

    AgentShare.objects.create(agent=agent, user=bob)
    return browser_of(bob)


class Stage:
    """Brings loops of one agent into the states that pages must draw."""

    def __init__(self, agent: Any, viewer: Viewer, clock: StillClock) -> None:
        self.agent, self.viewer, self.clock = agent, viewer, clock

    def begin(self) -> Execution:
        """The agent's next run gets its slot."""
        execution = take(self.agent.pk, WORKER)
        assert execution is not None
        return execution

    def settle(self, execution: Execution, outcome: Any, seconds: float = 30) -> None:
        self.clock.pass_seconds(seconds)
        settle(execution, outcome)

    def run(self, outcome: Any, seconds: float = 30) -> Execution:
        """One run from its slot to its end."""
        execution = self.begin()
        self.settle(execution, outcome, seconds)
        return again(execution)

    def loop(self, **asked: Any) -> Loop:
        return start(self.agent, self.viewer, **asked)

    def ended(self, *outcomes: Any, **asked: Any) -> Loop:
        """A loop that has run through these outcomes."""
        loop = self.loop(**asked)
        for outcome in outcomes:
            self.run(outcome)
        return again(loop)

    # --- by name, for tests that go through all of them -------------------------------------------------

    def queued(self) -> Loop:
        return self.loop()

    def waiting_for_a_slot(self) -> Loop:
        self.loop()
        self.begin()
        self.agent.max_parallel_tasks = 1
        self.agent.save()
        self.loop()
        self.clock.pass_seconds(1)
        return self.loop(message="second in line")

    def waiting_for_the_model(self) -> Loop:
        self.agent.runtime_settings = self.agent.runtime_settings | {"unavailable_patience_seconds": 21_600}
        self.agent.save()
        loop = self.loop()
        self.run(model_away(self.clock() + dt.timedelta(hours=15)))
        return again(loop)

    def with_the_agent_stopped(self) -> Loop:
        loop = self.loop()
        self.agent.status = "stopped"
        self.agent.save()
        return loop

    def parked(self) -> Loop:
        loop = self.loop(delay_seconds=170)
        self.run(success("not yet"))
        return again(loop)

    def running(self) -> Loop:
        loop = self.loop(max_cost_usd=1, max_duration_seconds=3600)
        execution = self.begin()
        Execution.objects.filter(pk=execution.pk).update(activity="Bash npm test")
        self.clock.pass_seconds(48)
        return again(loop)

    def stopping(self) -> Loop:
        loop = self.running()
        request_stop(self.viewer, loop)
        return again(loop)

    def completed(self) -> Loop:
        return self.ended(success("one", 0.1), success("all [[DONE]]", 0.2), stop_signal="[[DONE]]")

    def completed_with_errors(self) -> Loop:
        return self.ended(success("one"), failure(), success("two"), max_runs=3, on_failure="continue")

    def stopped_by_alice(self) -> Loop:
        loop = self.loop()
        request_stop(self.viewer, loop)
        return again(loop)

    def out_of_budget(self) -> Loop:
        return self.ended(success("one", 1.04), max_cost_usd=1)

    def out_of_time(self) -> Loop:
        loop = self.loop(max_duration_seconds=900)
        self.run(success("slow"), seconds=1000)
        return again(loop)

    def without_progress(self) -> Loop:
        return self.ended(*[success("same")] * 3, no_progress_threshold=3)

    def failed(self) -> Loop:
        return self.ended(failure("psql: connection refused"))

    def failed_too_often(self) -> Loop:
        return self.ended(*[failure()] * 3, on_failure="continue")


STATES: dict[str, str] = {
    "queued": "queued",
    "waiting_for_a_slot": "waiting for a slot, 2nd in line",
    "waiting_for_the_model": "waiting for the model until",
    "with_the_agent_stopped": "the agent is stopped",
    "parked": "next run",
    "running": "Run 1 for",
    "stopping": "finishing run 1",
    "completed": "stop signal matched",
    "completed_with_errors": "completed with errors",
    "stopped_by_alice": "stopped by user",
    "out_of_budget": "Spent $1.04 of $1.00.",
    "out_of_time": "deadline exceeded",
    "without_progress": "3 identical replies in a row; the limit was 3.",
    "failed": "psql: connection refused",
    "failed_too_often": "too many errors in a row",
}


@pytest.fixture
def stage(agent: Any, alice: Any, still_clock: StillClock, db: None) -> Stage:
    return Stage(agent, Viewer(user=alice), still_clock)


def text_of(response: Any) -> str:
    """What stands in an answer, entities resolved, for looking for sentences."""
    import html

    return html.unescape(response.content.decode())
