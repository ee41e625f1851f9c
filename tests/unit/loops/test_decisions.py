"""The rules of section 2, each by itself, and at the exact moment where it begins to hold."""

import datetime as dt
from dataclasses import replace

import pytest

from loops.decisions import Decision, End, Park, RunOutcome, Start, after_run, before_run
from loops.vocabulary import LoopStatus, StopReason
from tests.conftest import NOON
from tests.unit.loops.rules import (
    ABORTED,
    DOLLAR,
    DONE,
    GAVE_UP,
    INSTANT,
    LAST_RUN,
    REPEATS,
    SECOND,
    SIGNALLED,
    STOP_STANDS,
    STOPPED,
    THIRD_FAILURE,
    TOLERANT,
    decision_after,
    facts_after,
    failure,
    loop,
    reply,
)

# --- rule 1: the run is closed ------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [reply(), failure()], ids=["success", "failure"])
def test_a_run_is_counted_whatever_its_outcome(outcome: RunOutcome) -> None:
    assert facts_after(loop(), outcome).runs_completed == 5


@pytest.mark.parametrize("outcome", [reply(cost_nano=7), failure(cost_nano=7)], ids=["success", "failure"])
def test_a_cost_is_added_whatever_the_outcome(outcome: RunOutcome) -> None:
    assert facts_after(loop(spent_nano=5), outcome).spent_nano == 12


@pytest.mark.parametrize("cost", [None, 0, -7])
def test_an_unknown_or_senseless_cost_adds_nothing(cost: int | None) -> None:
    assert facts_after(loop(spent_nano=5), reply(cost_nano=cost)).spent_nano == 5


# --- rule 2: it succeeded -----------------------------------------------------------------------------------


def test_the_last_response_is_the_reply_whole_and_untrimmed() -> None:
    assert facts_after(loop(), reply("  a\n" * 5_000)).last_response == "  a\n" * 5_000


def test_a_success_ends_a_row_of_failures() -> None:
    assert facts_after(loop(consecutive_failures=2, **TOLERANT), reply()).consecutive_failures == 0


@pytest.mark.parametrize("response", ["[[DONE]]", "so [[DONE]] it is", "x\n[[DONE]]\ny"])
def test_a_stop_signal_anywhere_in_the_reply_completes_the_loop(response: str) -> None:
    assert decision_after(loop(stop_signal="[[DONE]]"), reply(response)) == SIGNALLED


@pytest.mark.parametrize("response", ["[[done]]", "[ [DONE]]", "DONE", "", "[[DON\nE]]"])
def test_the_stop_signal_is_plain_and_case_sensitive(response: str) -> None:
    assert decision_after(loop(stop_signal="[[DONE]]"), reply(response)) == Start(6)


def test_a_stop_signal_is_no_pattern() -> None:
    assert decision_after(loop(stop_signal=".*"), reply("anything")) == Start(6)


def test_without_a_stop_signal_no_reply_completes_the_loop() -> None:
    assert decision_after(loop(stop_signal=""), reply("")) == Start(6)


def test_a_stop_signal_in_a_failure_is_not_heard() -> None:
    said = RunOutcome(succeeded=False, response="[[DONE]]", error="no network [[DONE]]")

    assert decision_after(loop(stop_signal="[[DONE]]", **TOLERANT), said) == Start(6)


def test_the_third_identical_reply_ends_the_loop() -> None:
    second = loop(**REPEATS, no_progress_threshold=4)
    assert facts_after(second, reply()).repeat_count == 3

    assert decision_after(second, reply()) == Start(6)
    assert decision_after(replace(second, no_progress_threshold=3), reply()) == STOPPED[StopReason.NO_PROGRESS]


def test_the_first_reply_is_one_in_a_row() -> None:
    first = loop(repeat_count=0, last_fingerprint="", last_response=None)

    assert facts_after(first, reply("")).repeat_count == 1, "an empty one too"


def test_another_reply_begins_a_new_row() -> None:
    assert facts_after(loop(**REPEATS), reply("something else")).repeat_count == 1


@pytest.mark.parametrize("response", ["a  b", " a b ", "a\nb", "a\tb\r\n", "a\u00a0b", "\u2003a b"])
def test_replies_that_differ_in_white_space_only_are_identical(response: str) -> None:
    once = facts_after(loop(), reply("a b"))

    assert facts_after(once, reply(response)).repeat_count == 2


@pytest.mark.parametrize("response", ["ab", "A b", "a b.", "a-b", "a\u200bb"])
def test_replies_that_differ_in_anything_else_are_not(response: str) -> None:
    once = facts_after(loop(), reply("a b"))

    assert facts_after(once, reply(response)).repeat_count == 1


def test_with_threshold_zero_nothing_is_too_often() -> None:
    assert decision_after(loop(**REPEATS | {"repeat_count": 90}, no_progress_threshold=0), reply()) == Start(6)


def test_a_failure_moves_neither_the_last_response_nor_the_count_of_identical_replies() -> None:
    before = loop(**REPEATS, **TOLERANT)

    after = facts_after(before, failure())

    names = ("last_response", "last_fingerprint", "repeat_count")
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]


def test_identical_replies_on_both_sides_of_a_failure_are_in_a_row() -> None:
    facts = loop(**REPEATS, **TOLERANT)

    assert decision_after(facts_after(facts, failure()), reply()) == STOPPED[StopReason.NO_PROGRESS]


# --- rule 3: it failed --------------------------------------------------------------------------------------


def test_in_abort_the_first_failure_fails_the_loop_and_names_the_run() -> None:
    assert decision_after(loop(), failure()) == ABORTED


def test_in_abort_nothing_counts_as_tolerated() -> None:
    after = facts_after(loop(), failure())

    assert (after.failed_runs, after.consecutive_failures) == (0, 0)


def test_in_continue_a_failure_is_tolerated_and_counted() -> None:
    after, decision = after_run(loop(**TOLERANT), failure())

    assert (after.failed_runs, after.consecutive_failures) == (1, 1)
    assert decision == Start(6)


def test_in_continue_the_failure_that_fills_the_row_fails_the_loop_and_is_not_tolerated() -> None:
    after, decision = after_run(loop(**THIRD_FAILURE, failed_runs=2), failure())

    assert decision == GAVE_UP
    assert (after.failed_runs, after.consecutive_failures) == (2, 3)


def test_one_in_a_row_makes_continue_as_strict_as_abort() -> None:
    assert decision_after(loop(**TOLERANT, max_consecutive_failures=1), failure()) == GAVE_UP


def test_failures_that_are_not_in_a_row_do_not_add_up() -> None:
    facts = loop(**THIRD_FAILURE)

    assert decision_after(facts_after(facts, reply()), failure()) == Start(7)


# --- rule 4: all runs are done ------------------------------------------------------------------------------


@pytest.mark.parametrize(("max_runs", "decision"), [(6, Start(6)), (5, DONE), (4, DONE)])
def test_the_loop_is_done_with_its_last_run(max_runs: int, decision: Decision) -> None:
    assert decision_after(loop(max_runs=max_runs), reply()) == decision


@pytest.mark.parametrize("reason", [StopReason.MAX_RUNS_REACHED, StopReason.STOP_SIGNAL_MATCHED])
def test_a_loop_that_tolerated_failures_is_completed_with_errors(reason: StopReason) -> None:
    facts = loop(**LAST_RUN, **TOLERANT, failed_runs=1, stop_signal="[[DONE]]")
    said = "[[DONE]]" if reason is StopReason.STOP_SIGNAL_MATCHED else "more"

    assert decision_after(facts, reply(said)) == End(LoopStatus.COMPLETED_WITH_ERRORS, reason)


def test_a_last_run_that_fails_and_is_tolerated_completes_the_loop_with_errors() -> None:
    expected = End(LoopStatus.COMPLETED_WITH_ERRORS, StopReason.MAX_RUNS_REACHED)

    assert decision_after(loop(**LAST_RUN, **TOLERANT), failure()) == expected


# --- rules 5–7: guardrails ----------------------------------------------------------------------------------


def test_a_stop_request_ends_the_loop_after_the_run() -> None:
    assert decision_after(loop(**STOP_STANDS), reply()) == STOPPED[StopReason.USER_STOPPED]


@pytest.mark.parametrize(
    ("early", "ends"), [(INSTANT, False), (dt.timedelta(0), True), (-INSTANT, True)], ids=["before", "at", "after"]
)
def test_the_deadline_holds_from_its_very_moment(early: dt.timedelta, ends: bool) -> None:
    deadline = NOON + 600 * SECOND
    facts = loop(started_at=NOON, max_duration_seconds=600, now=deadline - early)

    assert decision_after(facts, reply()) == (STOPPED[StopReason.DEADLINE_EXCEEDED] if ends else Start(6))


def test_the_deadline_counts_from_the_beginning_of_run_one() -> None:
    assert loop(started_at=None, max_duration_seconds=1).deadline is None
    assert before_run(loop(started_at=None, runs_completed=0, max_duration_seconds=1)) == Start(1)


def test_without_a_time_limit_no_time_is_too_long() -> None:
    assert decision_after(loop(now=NOON + dt.timedelta(days=400)), reply()) == Start(6)


@pytest.mark.parametrize(("spent", "ends"), [(DOLLAR - 1, False), (DOLLAR, True), (DOLLAR + 1, True)])
def test_the_budget_is_spent_to_the_last_nano_dollar(spent: int, ends: bool) -> None:
    facts = loop(max_cost_nano=DOLLAR, spent_nano=spent - 1)

    expected = STOPPED[StopReason.BUDGET_EXHAUSTED] if ends else Start(6)
    assert decision_after(facts, reply(cost_nano=1)) == expected


def test_ten_times_ten_cents_is_a_dollar() -> None:
    facts = loop(max_runs=100, runs_completed=0, max_cost_nano=DOLLAR)
    for _ in range(9):
        facts, decision = after_run(facts, reply(str(facts.runs_completed), cost_nano=DOLLAR // 10))
        assert isinstance(decision, Start)

    assert decision_after(facts, reply(cost_nano=DOLLAR // 10)) == STOPPED[StopReason.BUDGET_EXHAUSTED]


def test_a_budget_of_zero_cost_runs_never_runs_out() -> None:
    assert decision_after(loop(max_cost_nano=1), reply(cost_nano=None)) == Start(6)


# --- rules 8 and 9: what comes next -------------------------------------------------------------------------


def test_without_a_delay_the_next_run_is_created_at_once() -> None:
    assert decision_after(loop(), reply()) == Start(6)


def test_a_delay_parks_the_loop_from_now() -> None:
    assert decision_after(loop(delay_seconds=90), reply()) == Park(NOON + 90 * SECOND)


def test_a_park_is_cut_to_the_deadline() -> None:
    facts = loop(started_at=NOON - 590 * SECOND, max_duration_seconds=600, delay_seconds=90)

    assert decision_after(facts, reply()) == Park(NOON + 10 * SECOND)


def test_a_loop_that_a_guardrail_ends_is_not_parked_first() -> None:
    assert decision_after(loop(delay_seconds=90, **STOP_STANDS), reply()) == STOPPED[StopReason.USER_STOPPED]


def test_a_tolerated_failure_is_followed_by_the_delay_too() -> None:
    assert decision_after(loop(delay_seconds=90, **TOLERANT), failure()) == Park(NOON + 90 * SECOND)


def test_at_the_end_of_a_park_the_next_run_begins() -> None:
    assert before_run(loop(delay_seconds=90)) == Start(5), "and is not parked again"


def test_facts_are_never_changed_in_place() -> None:
    before = loop(**TOLERANT)
    copy = replace(before)

    after_run(before, reply())
    after_run(before, failure())
    before_run(before)

    assert before == copy
