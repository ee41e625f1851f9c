"""How long a model that is away is waited for (section 3)."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executions.decisions import FIRST_WAIT, LONGEST_WAIT, AwayFacts, wait_until
from tests.conftest import NOON

MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)
INSTANT = dt.timedelta(microseconds=1)
FOR_EVER = dt.datetime.max.replace(tzinfo=dt.UTC)


def away(**facts: Any) -> AwayFacts:
    """A model that has been away for a moment, and an agent that waits six hours for it."""
    return AwayFacts(**{"now": NOON, "away_since": NOON, "tries": 1, "patience": 6 * HOUR, **facts})


@pytest.mark.parametrize(
    ("tries", "minutes"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 15), (6, 15), (11, 15), (12, 15), (1_000_000, 15)]
)
def test_each_wait_is_twice_the_one_before_up_to_a_quarter_of_an_hour(tries: int, minutes: int) -> None:
    assert wait_until(away(tries=tries)) == NOON + minutes * MINUTE


def test_a_time_that_was_named_is_kept_to_however_often_it_was_tried() -> None:
    assert wait_until(away(tries=5, named_until=NOON + 3 * HOUR)) == NOON + 3 * HOUR


@pytest.mark.parametrize("named", [NOON, NOON - HOUR], ids=["now", "past"])
def test_a_named_time_that_is_over_is_no_time(named: dt.datetime) -> None:
    assert wait_until(away(named_until=named)) == NOON + FIRST_WAIT


def test_an_agent_without_patience_does_not_wait() -> None:
    assert wait_until(away(patience=dt.timedelta(0))) is None


@pytest.mark.parametrize(("left", "waits"), [(INSTANT, True), (dt.timedelta(0), False), (-INSTANT, False)])
def test_patience_is_over_at_its_very_moment(left: dt.timedelta, waits: bool) -> None:
    since = NOON - 6 * HOUR + left

    assert (wait_until(away(away_since=since)) is not None) == waits


def test_the_last_wait_is_cut_so_that_the_last_try_falls_within_patience() -> None:
    since = NOON - 6 * HOUR + MINUTE

    assert wait_until(away(away_since=since, tries=9)) == NOON + MINUTE


@pytest.mark.parametrize("named", [None, NOON + HOUR])
def test_no_wait_goes_beyond_the_deadline_of_the_loop(named: dt.datetime | None) -> None:
    deadline = NOON + dt.timedelta(seconds=30)

    assert wait_until(away(named_until=named, parent_ends=deadline)) == deadline


def test_at_the_deadline_of_the_loop_waiting_is_over() -> None:
    assert wait_until(away(parent_ends=NOON)) is None


def test_agents_that_wait_for_the_same_model_do_not_come_back_at_the_same_moment() -> None:
    assert wait_until(away(jitter=1.0)) == NOON + 1.2 * MINUTE
    assert wait_until(away(jitter=1.0, named_until=NOON + HOUR)) == NOON + HOUR + 0.5 * MINUTE


def test_jitter_does_not_go_beyond_patience() -> None:
    assert wait_until(away(patience=HOUR, named_until=NOON + HOUR, jitter=1.0)) == NOON + HOUR


@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_a_reset_in_the_year_9999_is_as_good_as_none(jitter: float) -> None:
    assert wait_until(away(named_until=FOR_EVER, jitter=jitter)) == NOON + 6 * HOUR


moments = st.timedeltas(-2 * HOUR, 8 * HOUR).map(lambda later: NOON + later)


@given(
    st.builds(
        AwayFacts,
        now=moments,
        away_since=st.just(NOON),
        tries=st.integers(1, 100),
        named_until=st.none() | moments,
        patience=st.timedeltas(dt.timedelta(0), 7 * HOUR),
        parent_ends=st.none() | moments,
        jitter=st.floats(0, 1),
    )
)
def test_the_next_call_always_lies_ahead_and_within_every_limit(facts: AwayFacts) -> None:
    again = wait_until(facts)

    if again is not None:
        limits = [facts.away_since + facts.patience, *([facts.parent_ends] if facts.parent_ends else [])]
        assert facts.now < again <= min(limits)
        if facts.named_until is not None and facts.named_until > facts.now:
            assert min(facts.named_until, *limits) <= again <= facts.named_until + 0.5 * MINUTE
        else:
            assert again - facts.now <= 1.2 * LONGEST_WAIT
