"""What holds of every loop, whatever its parameters, its replies, its costs and the time they take."""

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loops.decisions import Decision, End, LoopFacts, Park, RunOutcome, Start, after_run, before_run
from loops.invariants import STATUSES_OF
from loops.vocabulary import LoopStatus, OnFailure, StopReason
from tests.conftest import NOON

SIGNAL = "[[DONE]]"
WORDS = ("nothing new", "the queue is empty", "fixed one", f"all is well {SIGNAL}", "")
WHITE = st.text(alphabet=" \t\n\r\u00a0\u2003", min_size=1, max_size=3)


@dataclass(frozen=True)
class Turn:
    """What comes of one run, how long it takes, and whether somebody asks for a stop meanwhile."""

    outcome: RunOutcome
    seconds: int
    stop: bool


turns = st.builds(
    Turn,
    outcome=st.builds(
        RunOutcome,
        succeeded=st.sampled_from([True, True, True, False]),
        response=st.sampled_from(WORDS),
        cost_nano=st.one_of(st.none(), st.integers(-5, 10**10)),
        error=st.just("no network"),
    ),
    seconds=st.integers(0, 500),
    stop=st.sampled_from([False] * 9 + [True]),
)
loops = st.builds(
    LoopFacts,
    now=st.just(NOON),
    max_runs=st.integers(1, 12),
    stop_signal=st.sampled_from(["", SIGNAL]),
    delay_seconds=st.sampled_from([0, 0, 60]),
    max_duration_seconds=st.one_of(st.none(), st.integers(1, 2_000)),
    no_progress_threshold=st.sampled_from([0, 2, 3, 4]),
    max_cost_nano=st.one_of(st.none(), st.integers(1, 3 * 10**10)),
    on_failure=st.sampled_from(OnFailure),
    max_consecutive_failures=st.integers(1, 4),
)
lives = st.lists(turns, min_size=12, max_size=12)


@dataclass(frozen=True)
class Life:
    """All facts and decisions of a loop from its start to its end."""

    facts: list[LoopFacts]
    decisions: list[Decision]

    @property
    def end(self) -> End:
        ending = self.decisions[-1]
        assert isinstance(ending, End), "it has an end"
        return ending


def live(loop: LoopFacts, life: list[Turn]) -> Life:
    facts, decisions = [replace(loop, started_at=loop.now)], [before_run(loop)]
    while not isinstance(decisions[-1], End):
        now, last = facts[-1], decisions[-1]
        if isinstance(last, Park):
            now = replace(now, now=last.until)
            decision: Decision = before_run(now)
        else:
            turn = life[last.run_number - 1]
            now = replace(
                now,
                now=now.now + dt.timedelta(seconds=turn.seconds),
                stop_requested=now.stop_requested or turn.stop,
            )
            now, decision = after_run(now, turn.outcome)
        facts.append(now)
        decisions.append(decision)
    return Life(facts, decisions)


@given(loops, lives)
def test_every_loop_ends_within_its_runs(loop: LoopFacts, life: list[Turn]) -> None:
    lived = live(loop, life)

    assert lived.facts[-1].runs_completed <= loop.max_runs
    started = [decision.run_number for decision in lived.decisions if isinstance(decision, Start)]
    assert sorted(set(started)) == list(range(1, max(started, default=0) + 1)), "no number is left out"


@given(loops, lives)
def test_money_only_grows_and_is_the_sum_of_what_the_runs_cost(loop: LoopFacts, life: list[Turn]) -> None:
    lived = live(loop, life)

    spent = [facts.spent_nano for facts in lived.facts]
    assert spent == sorted(spent)
    costs = [turn.outcome.cost_nano or 0 for turn in life[: lived.facts[-1].runs_completed]]
    assert spent[-1] == sum(cost for cost in costs if cost > 0)


@given(loops, lives)
def test_the_reason_fits_the_status_and_only_failures_have_an_error(loop: LoopFacts, life: list[Turn]) -> None:
    end = live(loop, life).end

    assert end.status in STATUSES_OF[end.reason]
    assert bool(end.error) == (end.status is LoopStatus.FAILED)
    assert end.reason is not StopReason.INTERRUPTED


@given(loops, lives)
def test_every_failure_is_tolerated_or_the_end(loop: LoopFacts, life: list[Turn]) -> None:
    lived = live(loop, life)
    last = lived.facts[-1]

    failures = sum(not turn.outcome.succeeded for turn in life[: last.runs_completed])
    assert last.failed_runs + (lived.end.status is LoopStatus.FAILED) == failures
    if loop.on_failure is OnFailure.ABORT:
        assert all(facts.failed_runs == 0 for facts in lived.facts)
    if lived.end.status is LoopStatus.COMPLETED_WITH_ERRORS:
        assert last.failed_runs > 0
    if lived.end.status is LoopStatus.COMPLETED:
        assert last.failed_runs == 0


@given(loops, lives)
def test_a_park_lies_ahead_and_not_beyond_the_deadline(loop: LoopFacts, life: list[Turn]) -> None:
    lived = live(loop, life)

    for facts, decision in zip(lived.facts, lived.decisions, strict=True):
        if isinstance(decision, Park):
            assert facts.now < decision.until <= facts.now + dt.timedelta(seconds=loop.delay_seconds)
            assert facts.deadline is None or decision.until <= facts.deadline


@given(loops, lives)
def test_no_run_begins_and_nothing_is_parked_under_a_guardrail_that_holds(loop: LoopFacts, life: list[Turn]) -> None:
    lived = live(loop, life)

    for facts, decision in zip(lived.facts, lived.decisions, strict=True):
        if not isinstance(decision, End):
            assert not facts.stop_requested
            assert not facts.deadline_has_passed
            assert not facts.budget_is_spent


@given(loops, turns)
def test_a_stop_request_leaves_no_next_run(loop: LoopFacts, turn: Turn) -> None:
    _, decision = after_run(replace(loop, started_at=NOON, stop_requested=True), turn.outcome)

    assert isinstance(decision, End)


@given(loops, lives, st.permutations(["a", "b", "c", "d", "e"]))
def test_renaming_the_replies_one_to_one_changes_nothing(loop: LoopFacts, life: list[Turn], names: list[str]) -> None:
    plain = replace(loop, stop_signal="")
    renamed = dict(zip(WORDS, names, strict=True))
    other = [replace(turn, outcome=replace(turn.outcome, response=renamed[turn.outcome.response])) for turn in life]

    assert live(plain, other).decisions == live(plain, life).decisions


@given(loops, lives, st.data())
def test_white_space_in_replies_changes_nothing(loop: LoopFacts, life: list[Turn], data: st.DataObject) -> None:
    def spread(turn: Turn) -> Turn:
        words = turn.outcome.response.split()
        said = "".join(data.draw(WHITE) + word for word in words) + data.draw(WHITE)
        return replace(turn, outcome=replace(turn.outcome, response=said))

    assert live(loop, [spread(turn) for turn in life]).decisions == live(loop, life).decisions


@given(loops, lives, st.integers(2, 1_000))
def test_a_budget_in_another_currency_changes_nothing(loop: LoopFacts, life: list[Turn], rate: int) -> None:
    def exchanged(nano: int | None) -> int | None:
        return None if nano is None else nano * rate

    dear = replace(loop, max_cost_nano=exchanged(loop.max_cost_nano))
    paid = [replace(turn, outcome=replace(turn.outcome, cost_nano=exchanged(turn.outcome.cost_nano))) for turn in life]

    assert live(dear, paid).decisions == live(loop, life).decisions


@given(loops, lives, st.timedeltas(dt.timedelta(days=-9_000), dt.timedelta(days=9_000)))
def test_a_loop_on_another_day_takes_the_same_course(loop: LoopFacts, life: list[Turn], days: dt.timedelta) -> None:
    def moved(decision: Decision) -> Decision:
        return Park(decision.until + days) if isinstance(decision, Park) else decision

    later = live(replace(loop, now=loop.now + days), life)

    assert later.decisions == [moved(decision) for decision in live(loop, life).decisions]


@given(loops, lives, st.sampled_from(["stop_signal", "max_duration_seconds", "max_cost_nano", "no_progress_threshold"]))
def test_taking_a_guardrail_away_never_shortens_a_loop(loop: LoopFacts, life: list[Turn], name: str) -> None:
    nothing: dict[str, Any] = {"stop_signal": "", "no_progress_threshold": 0}
    freer = replace(loop, delay_seconds=0, **{name: nothing.get(name)})

    without = live(freer, life).facts[-1].runs_completed
    assert without >= live(replace(loop, delay_seconds=0), life).facts[-1].runs_completed
