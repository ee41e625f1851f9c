"""The parameters of a loop as a caller gave them: types and bounds; knows no row but the agent it is for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.calls import refuse_impossible_call
from agents.models import Agent
from loops.vocabulary import OnFailure
from trinity.kernel import fields
from trinity.kernel.errors import refused_field
from trinity.kernel.money import MAX_NANO, NANO, to_nano

MESSAGE_CHARACTERS = (1, 100_000)
MAX_RUNS = (1, 100)
STOP_SIGNAL_CHARACTERS = 200
DELAY_SECONDS = (0, 3_600)
TIMEOUT_PER_RUN = (10, 7_200)
MAX_DURATION_SECONDS = (1, 604_800)
NO_PROGRESS_THRESHOLD = (0, 2_147_483_647)  # no limit but the column's
MAX_CONSECUTIVE_FAILURES = (1, 100)
MAX_COST_USD = MAX_NANO // NANO
MODEL_CHARACTERS = 200
TOOL_NAME_CHARACTERS = 200
ALLOWED_TOOLS = 200


@dataclass(frozen=True, slots=True)
class LoopParameters:
    """Section 2's table. None means: not given, so the agent's own value or none."""

    message: str
    max_runs: int
    stop_signal: str = ""
    delay_seconds: int = 0
    timeout_per_run: int | None = None
    max_duration_seconds: int | None = None
    no_progress_threshold: int = 3
    max_cost_nano: int | None = None
    on_failure: OnFailure = OnFailure.ABORT
    max_consecutive_failures: int = 3
    model: str = ""
    allowed_tools: tuple[str, ...] | None = None


def _threshold(value: object) -> int:
    number = fields.integer(value, *NO_PROGRESS_THRESHOLD)
    if number == 1:
        raise fields.Wrong("Must be 0 (off) or at least 2; with 1 every first reply would end the loop.")
    return number


def _budget(value: object) -> int:
    number = fields.number(value)
    if not math.isfinite(number):
        raise fields.Wrong("Must be a finite number of dollars.")
    if number <= 0:
        raise fields.Wrong("Must be more than 0.")
    if number > MAX_COST_USD:
        raise fields.Wrong(f"Must be at most {MAX_COST_USD:,} dollars.")
    nano = to_nano(value) if number * 100 <= MAX_COST_USD else int(number) * NANO
    return max(1, nano or 0)


_FIELDS: dict[str, Any] = {
    "message": lambda value: fields.text(value, *MESSAGE_CHARACTERS),
    "max_runs": lambda value: fields.integer(value, *MAX_RUNS),
    "stop_signal": lambda value: fields.text(value, 0, STOP_SIGNAL_CHARACTERS, strip=True),
    "delay_seconds": lambda value: fields.integer(value, *DELAY_SECONDS),
    "timeout_per_run": lambda value: fields.integer(value, *TIMEOUT_PER_RUN),
    "max_duration_seconds": lambda value: fields.integer(value, *MAX_DURATION_SECONDS),
    "no_progress_threshold": _threshold,
    "max_cost_usd": _budget,
    "on_failure": lambda value: fields.word(value, OnFailure),
    "max_consecutive_failures": lambda value: fields.integer(value, *MAX_CONSECUTIVE_FAILURES),
    "model": lambda value: fields.text(value, 0, MODEL_CHARACTERS),
    "allowed_tools": lambda value: fields.texts(value, ALLOWED_TOOLS, TOOL_NAME_CHARACTERS),
}
_REQUIRED = ("message", "max_runs")
PARAMETER_NAMES = tuple(_FIELDS)
_COLUMN_OF = {"max_cost_usd": "max_cost_nano"}


def read_parameters(given: Mapping[str, Any]) -> LoopParameters:
    """The parameters of a request. Refused with every wrong field, its bound and what was found.

    Types are strict: a number is no string, a boolean no number, `2.0` is 2; null means the default.
    """
    values = fields.read(given, _FIELDS, required=_REQUIRED)
    return LoopParameters(**{_COLUMN_OF.get(name, name): value for name, value in values.items()})


def check_against_agent(asked: LoopParameters, agent: Agent) -> dict[str, Any]:
    """The columns of a loop on this agent. Refused when a limit is above the agent's, or the deadline below a run."""
    cap = agent.execution_timeout_seconds
    timeout = asked.timeout_per_run if asked.timeout_per_run is not None else cap
    if timeout > cap:
        raise refused_field(
            "timeout_per_run",
            f"Must be at most the agent's execution timeout: {cap} s (asked: {timeout} s).",
            agent_cap_seconds=cap,
            requested_seconds=timeout,
        )
    if asked.max_duration_seconds is not None and asked.max_duration_seconds < timeout:
        raise refused_field(
            "max_duration_seconds",
            f"Must be at least the timeout per run: {timeout} s (asked: {asked.max_duration_seconds} s).",
            max_duration_seconds=asked.max_duration_seconds,
            timeout_per_run=timeout,
        )
    refuse_impossible_call(agent, model=asked.model, allowed_tools=asked.allowed_tools)
    columns = {name: getattr(asked, name) for name in LoopParameters.__dataclass_fields__}
    tools = list(asked.allowed_tools) if asked.allowed_tools is not None else None
    return columns | {"timeout_per_run": timeout, "allowed_tools": tools}
