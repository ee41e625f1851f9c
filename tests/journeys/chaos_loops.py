"""The loops of the chaos journey and how each must end, told from its runs alone; starts nothing."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NEVER = 1_000
CENTS = 10_000_000  # nano-dollars


@dataclass(frozen=True)
class Run:
    """One run as the database has it."""

    number: int
    execution_id: str
    status: str
    error_kind: str
    cost_nano: int | None

    @property
    def lost(self) -> bool:
        return self.error_kind == "lost"


@dataclass
class PlannedLoop:
    """What is asked for, and by which guardrail it should end."""

    agent: str
    max_runs: int
    seconds: float
    fail_on: list[int] = field(default_factory=list)
    done_from: int = NEVER
    cost_cents: int = 1
    budget_cents: int | None = None
    on_failure: str = "abort"
    delay_seconds: int = 0
    stop_after: float | None = None  # seconds after its start
    loop_id: str = ""

    def parameters(self) -> dict[str, Any]:
        """The body of the request."""
        prompt = {
            "seconds": self.seconds,
            "fail_on": self.fail_on,
            "done_from": self.done_from,
            "cost_usd": self.cost_cents / 100,
        }
        asked: dict[str, Any] = {
            "message": json.dumps(prompt),
            "max_runs": self.max_runs,
            "no_progress_threshold": 0,
            "on_failure": self.on_failure,
            "max_consecutive_failures": 100,
            "delay_seconds": self.delay_seconds,
        }
        if self.done_from != NEVER:
            asked["stop_signal"] = "[[DONE]]"
        if self.budget_cents is not None:
            asked["max_cost_usd"] = self.budget_cents / 100
        return asked

    def wrong(self, status: str, reason: str, runs: Sequence[Run]) -> list[str]:
        """What is wrong with how it ended; empty when all is right."""
        found = [
            f"run {run.number} is {run.status}"
            for run in runs
            if not run.lost and (run.status == "failed") != (run.number in self.fail_on)
        ]
        if [run.number for run in runs] != list(range(1, len(runs) + 1)):
            found.append(f"its runs are {[run.number for run in runs]}")
        ended_early = [run.number for run in runs[:-1] if self._ends(runs[: run.number])]
        if ended_early:
            found.append(f"it went on after run {ended_early[0]}")
        right = self._ends(runs)
        if self.stop_after is not None and reason == "user_stopped":
            right = right or ("stopped", "user_stopped")
        if (status, reason) != right:
            found.append(f"it is {status}, {reason}; it should be {right}")
        return found

    def _ends(self, runs: Sequence[Run]) -> tuple[str, str] | None:
        """How it ends after these runs; None when it goes on."""
        if not runs:
            return None
        newest = runs[-1]
        failed = [run for run in runs if run.status == "failed"]
        completed = "completed_with_errors" if failed else "completed"
        if newest.status == "failed" and self.on_failure == "abort":
            return "failed", "error"
        if newest.status != "failed" and newest.number >= self.done_from:
            return completed, "stop_signal_matched"
        spent = sum(run.cost_nano or 0 for run in runs)
        if self.budget_cents is not None and spent >= self.budget_cents * CENTS and newest.number < self.max_runs:
            return "stopped", "budget_exhausted"
        return (completed, "max_runs_reached") if newest.number == self.max_runs else None


def planned_loops(
    chance: random.Random, agents: Sequence[str], count: int, max_runs: int, seconds: float
) -> list[PlannedLoop]:
    """A mix of all guardrails, the same for the same `chance`; a run takes `seconds` on average."""
    return [_planned(chance, agents[number % len(agents)], number, max_runs, seconds) for number in range(count)]


def _planned(chance: random.Random, agent: str, number: int, max_runs: int, seconds: float) -> PlannedLoop:
    loop = PlannedLoop(agent, max_runs, round(chance.uniform(0.2, 1.8) * seconds, 2))
    some_run = chance.randint(2, max_runs)
    match number % 8:
        case 1:
            loop.on_failure, loop.fail_on = "continue", sorted(chance.sample(range(1, max_runs + 1), 2))
        case 2:
            loop.fail_on = [some_run]
        case 3:
            loop.done_from, loop.on_failure = some_run, "continue"
        case 4:
            loop.cost_cents, loop.budget_cents, loop.on_failure = 10, 10 * some_run - 5, "continue"
        case 5:
            loop.delay_seconds, loop.on_failure = 1, "continue"
        case 6:
            loop.stop_after, loop.on_failure = round(chance.uniform(0.5, 1.5) * seconds * max_runs / 2, 2), "continue"
        case 7:
            loop.on_failure = "continue"
    return loop
