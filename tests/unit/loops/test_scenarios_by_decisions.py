"""All scenarios of loops.json against the pure rules, in virtual time."""

import datetime as dt
from dataclasses import replace

import pytest

from loops.decisions import Decision, End, LoopFacts, Park, RunOutcome, Start, after_run, before_run
from loops.parameters import LoopParameters, read_parameters
from loops.prompts import render
from loops.words import loop_words
from tests.conftest import NOON
from tests.scenarios import Played, Scenario, dollars, scenarios
from trinity.kernel.money import to_nano


def facts_of(asked: LoopParameters) -> LoopFacts:
    return LoopFacts(
        now=NOON,
        max_runs=asked.max_runs,
        stop_signal=asked.stop_signal,
        delay_seconds=asked.delay_seconds,
        max_duration_seconds=asked.max_duration_seconds,
        no_progress_threshold=asked.no_progress_threshold,
        max_cost_nano=asked.max_cost_nano,
        on_failure=asked.on_failure,
        max_consecutive_failures=asked.max_consecutive_failures,
    )


def play(scenario: Scenario) -> Played:
    asked = read_parameters(scenario.loop)
    loop = facts_of(asked)
    prompts: list[str] = []
    statuses: list[str] = []
    decision: Decision = Start(1)
    while not isinstance(decision, End):
        number = loop.runs_completed + 1
        if isinstance(decision, Park):
            if scenario.stops("while_parked", number):
                loop = replace(loop, stop_requested=True)
            else:
                loop = replace(loop, now=decision.until)
            decision = before_run(loop)
            continue
        if scenario.stops("before_run", number):
            loop = replace(loop, stop_requested=True)
        decision = before_run(loop)
        if isinstance(decision, End):
            break
        loop = replace(loop, started_at=loop.started_at or loop.now)
        prompts.append(render(asked.message, run_number=number, previous_response=loop.last_response))
        reply = scenario.reply(number)
        loop = replace(
            loop,
            now=loop.now + dt.timedelta(seconds=reply["seconds"]),
            stop_requested=loop.stop_requested or scenario.stops("during_run", number),
        )
        outcome = RunOutcome(
            reply.get("error") is None,
            reply.get("response", ""),
            to_nano(reply.get("cost_usd")),
            reply.get("error") or "",
        )
        statuses.append("completed" if outcome.succeeded else "failed")
        loop, decision = after_run(loop, outcome)
    return Played(
        status=decision.status,
        stop_reason=decision.reason,
        runs_completed=loop.runs_completed,
        failed_runs=loop.failed_runs,
        total_cost_usd=dollars(loop.spent_nano),
        last_response=loop.last_response,
        error=decision.error or None,
        run_statuses=statuses,
        prompts=prompts,
        words=loop_words(decision.status, decision.reason).workspace,
    )


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda one: f"{one.id} {one.title}")
def test_the_rules_end_the_loop_as_expected(scenario: Scenario) -> None:
    assert not scenario.extra, "a scenario says something that this player does not know"

    played = play(scenario)

    assert played.differences(scenario.expected) == {}
