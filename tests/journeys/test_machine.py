"""The real services on the real database, driven at random beside a model that says what must come of it.

`--hypothesis-profile long` looks for longer; the profiles stand in tests/conftest.py.
"""

import datetime as dt
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from executions.services import Claimant
from tests.journeys import engine_model as model
from tests.journeys.engine_driver import EngineDriver
from trinity.kernel.money import NANO

WORKERS = [Claimant(worker=f"w{n}", host=f"h{n}", spool_id="s", place="default", lease_seconds=30) for n in range(3)]
SIGNAL = "[[DONE]]"
LOST = model.Said(ok=False, status="lost")
AWAY = model.Said(ok=False, status="failed", away=True)
COSTLY_AWAY = model.Said(ok=False, status="failed", away=True, cost=NANO // 2)
anyone = st.integers(0, 1_000)
some_worker = st.sampled_from([*WORKERS, None])
good = st.builds(
    model.Said,
    ok=st.just(True),
    reply=st.sampled_from(["same", " same\n", "other", "third", f"well, {SIGNAL}", ""]),
    cost=st.sampled_from([None, 0, NANO // 10, NANO // 2]),
)
bad = st.builds(
    model.Said,
    ok=st.just(False),
    cost=st.sampled_from([None, NANO // 10]),
    status=st.sampled_from(["failed", "timed_out"]),
)
said = st.one_of(good, good, good, bad, st.sampled_from([AWAY, COSTLY_AWAY, LOST]))
wishes = st.fixed_dictionaries(
    {
        "max_runs": st.integers(1, 6),
        "stop_signal": st.sampled_from(["", "", SIGNAL]),
        "delay_seconds": st.sampled_from([0, 0, 60]),
        "max_duration_seconds": st.sampled_from([None, None, 10, 400]),
        "no_progress_threshold": st.sampled_from([0, 2, 3]),
        "max_cost_usd": st.sampled_from([None, None, 1]),
        "on_failure": st.sampled_from(["abort", "continue", "continue"]),
        "max_consecutive_failures": st.integers(1, 3),
    }
)


class EngineMachine(RuleBasedStateMachine):
    """What people, workers and time do, in any order. Few rules with many choices: Hypothesis leaves rules out."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = EngineDriver()
        self.engine = self.driver.engine

    @initialize(
        slots=st.lists(st.integers(1, 3), min_size=1, max_size=2),
        asked=st.lists(wishes, min_size=1, max_size=3),
        last_words=st.lists(said, max_size=20),
    )
    def the_world_begins(self, slots: list[int], asked: list[dict[str, Any]], last_words: list[model.Said]) -> None:
        self.last_words = last_words
        for most in slots:
            self.driver.make_agent(most)
        for which, one in enumerate(asked):
            self.driver.start(self.agent(which), one)

    def agent(self, which: int) -> model.Agent:
        return self.engine.agents[which % len(self.engine.agents)]

    @precondition(lambda self: sum(not loop.ended for loop in self.engine.loops) < 3)
    @rule(which=anyone, asked=wishes)
    def somebody_starts_a_loop(self, which: int, asked: dict[str, Any]) -> None:
        self.driver.start(self.agent(which), asked)

    @rule(which=anyone, slots=st.integers(1, 3), wish=st.sampled_from(["call", "stop", "agent", "slots", "archive"]))
    def somebody_interferes(self, which: int, slots: int, wish: str) -> None:
        agent = self.agent(which)
        if wish == "stop":
            self.driver.stop(self.engine.loops[which % len(self.engine.loops)])
        elif agent.archived:
            return
        elif wish == "call":
            self.driver.call(agent)
        elif wish == "agent":
            self.driver.stop_or_start(agent)
        elif wish == "slots":
            self.driver.change_slots(agent, slots)
        elif agent is not self.engine.agents[0]:
            self.driver.archive(agent)

    @rule(which=anyone, worker=st.sampled_from(WORKERS), words=st.lists(said, max_size=8))
    def a_message_arrives_and_its_worker_goes_on_for_a_while(
        self, which: int, worker: Claimant, words: list[model.Said]
    ) -> None:
        claim = self.driver.take(self.agent(which), worker)
        for one in words:
            if claim is not None:
                claim = self.driver.settle(claim, one, worker)

    @precondition(lambda self: self.driver.claims)
    @rule(which=anyone, words=said, worker=some_worker, in_time=st.booleans())
    def a_run_is_settled_or_settled_again_or_late(
        self, which: int, words: model.Said, worker: Claimant | None, in_time: bool
    ) -> None:
        claims = self.driver.in_flight if in_time else self.driver.claims
        if claims:
            self.driver.settle(claims[which % len(claims)], words, worker)

    @precondition(lambda self: self.driver.in_flight)
    @rule(which=anyone, worker=st.sampled_from(WORKERS), only_late=st.booleans(), gone=st.booleans())
    def a_worker_is_taken_for_dead(self, which: int, worker: Claimant, only_late: bool, gone: bool) -> None:
        claims = self.driver.in_flight
        claim = self.driver.take_over(claims[which % len(claims)], worker, only_late=only_late)
        if claim is not None and gone:
            self.driver.settle(claim, LOST, worker)

    @rule(seconds=st.sampled_from([1, 61, 61, 400, 901, 4_000, -100, -5_000]), which=anyone)
    def time_passes_and_perhaps_a_sweep(self, seconds: int, which: int) -> None:
        self.engine.now += dt.timedelta(seconds=seconds)
        if which % 2:
            self.driver.sweep()
            graded = [(call, seen) for call, seen in self.driver.claims if call.said and call.loop]
            if graded:
                self.driver.grade(graded[which % len(graded)])

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        self.driver.tick()
        self.driver.compare()

    def teardown(self) -> None:
        try:
            self.everything_drains()
        finally:
            self.driver.clear_away()

    def everything_drains(self) -> None:
        """Without a single message: sweeps alone bring every loop to its end, once failures have ceased."""
        for agent in self.engine.agents:
            if not agent.running and not agent.archived:
                self.driver.stop_or_start(agent)
        words = iter(self.last_words)
        for _ in range(200):
            if self.engine.at_rest:
                return
            for claim in self.driver.in_flight:
                self.driver.settle(claim, next(words, model.Said(ok=True, reply="drained")), WORKERS[0])
            for seconds in (0, 901):  # what waited is asked for both before and after its deadline
                self.engine.now += dt.timedelta(seconds=seconds)
                for agent in self.engine.agents:
                    self.driver.take(agent, WORKERS[0])
            self.driver.sweep()
            self.all_is_as_the_model_says()
        raise AssertionError("two hundred sweeps, and something still waits")


@pytest.mark.django_db(transaction=True)
def test_the_engine_does_what_the_model_says() -> None:
    run_state_machine_as_test(EngineMachine, settings=hypothesis.settings())
