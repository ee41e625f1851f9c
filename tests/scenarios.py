"""Plays the scenarios of loops.json: replies, virtual time and a stop; knows neither the rules nor the service."""

from dataclasses import dataclass, field
from typing import Any

from tests.conftest import load_json


@dataclass
class Scenario:
    """One scenario of the file."""

    id: str
    title: str
    loop: dict[str, Any]
    replies: list[dict[str, Any]]
    expected: dict[str, Any]
    stop: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def reply(self, run_number: int) -> dict[str, Any]:
        """The reply of this run; the last one repeats."""
        return self.replies[min(run_number, len(self.replies)) - 1]

    def stops(self, when: str, run_number: int) -> bool:
        return self.stop is not None and self.stop["when"] == when and self.stop["run"] == run_number


def scenarios() -> list[Scenario]:
    known = {"id", "title", "loop", "replies", "expected", "stop"}
    return [
        Scenario(
            **{name: value for name, value in one.items() if name in known},
            extra={name: value for name, value in one.items() if name not in known},
        )
        for one in load_json("loops.json")["scenarios"]
    ]


@dataclass
class Played:
    """What came of a scenario, in the words of its expectation."""

    status: str
    stop_reason: str
    runs_completed: int
    failed_runs: int
    total_cost_usd: str
    last_response: str | None
    error: str | None
    run_statuses: list[str]
    prompts: list[str]
    words: str

    def differences(self, expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Where it is not as expected: name → (found, expected)."""
        return {name: (getattr(self, name), value) for name, value in expected.items() if getattr(self, name) != value}


def dollars(nano: int) -> str:
    from decimal import Decimal

    return format((Decimal(nano) / 10**9).normalize(), "f")
