"""Whatever an agent reports can be stored: an outcome that a column refused would hang its loop for ever."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.base import Outcome, TokenUsage
from executions.services import settle, take
from loops.invariants import check_loop
from tests.engine import WORKER, again, failure, start, success
from trinity.kernel.money import MAX_REPORT_NANO

HUGE = 10**30
HOSTILE = {
    "NUL in the reply": success("a\x00b"),
    "a lone surrogate in the reply": success("a\ud800b"),
    "a reply of two million characters": success("x" * 2_000_000),
    "NUL in the error": failure("a\x00b"),
    "an error of a million characters": failure("x" * 1_000_000),
    "a cost below zero": replace(success(), cost_nano=-1),
    "a cost beyond every column": replace(success(), cost_nano=HUGE),
    "tokens beyond every column": replace(success(), tokens=TokenUsage(HUGE, HUGE, HUGE, HUGE)),
    "tokens below zero": replace(success(), tokens=TokenUsage(-1, -1, -1, -1)),
    "a model's name without end": replace(success(), model="m\x00" * 500),
    "NUL in the name of a refused tool": replace(success(), permission_denials=("Ba\x00sh",)),
    "a lone surrogate in the name of a refused tool": replace(success(), permission_denials=("Ba\udfffsh",)),
    "ten thousand refused tools": replace(success(), permission_denials=("Bash",) * 10_000),
    "NUL and surrogates in the trajectory": replace(success(), steps=(({"tool": "a\x00\ud800", "args": "\udfff"},),)),
    "more lines than an integer holds": replace(success(), commits=HUGE, lines_added=HUGE, lines_removed=HUGE),
    "lines below zero": replace(success(), commits=-1, lines_added=-1, lines_removed=-1),
    "a duration beyond every column": replace(success(), duration_ms=HUGE),
    "a duration below zero": replace(success(), duration_ms=-1),
}


@pytest.mark.parametrize("outcome", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_report_is_settled_and_the_loop_goes_on(outcome: Outcome, agent: Any, alice: Any) -> None:
    loop = start(agent, Viewer(user=alice), on_failure="continue")
    execution = take(agent.pk, WORKER)
    assert execution is not None

    following = settle(execution, outcome, WORKER)

    assert again(execution).ended
    assert following is not None
    assert following.run_number == 2
    assert check_loop(again(loop)) == []


def test_a_cost_below_zero_is_unknown_and_costs_nothing(agent: Any, alice: Any) -> None:
    loop = start(agent, Viewer(user=alice))
    execution = take(agent.pk, WORKER)
    assert execution is not None

    settle(execution, replace(success(), cost_nano=-1))

    assert (again(execution).cost_nano, again(loop).spent_nano) == (None, 0)


def test_a_hundred_absurd_costs_still_make_a_sum(agent: Any, alice: Any) -> None:
    loop = start(agent, Viewer(user=alice), max_runs=100)
    execution = take(agent.pk, WORKER)
    while execution is not None:
        execution = settle(execution, replace(success(), cost_nano=HUGE), WORKER)

    assert again(loop).spent_nano == 100 * MAX_REPORT_NANO
