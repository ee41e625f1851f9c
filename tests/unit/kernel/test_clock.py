"""The one clock: it can be held still, and is given back."""

import datetime as dt

import pytest

from tests.conftest import NOON
from trinity.kernel import clock


def test_the_present_has_a_zone_and_is_now() -> None:
    before = dt.datetime.now(dt.UTC)

    assert before <= clock.now() <= dt.datetime.now(dt.UTC)
    assert clock.now().tzinfo is dt.UTC


def test_a_clock_that_is_held_still_tells_what_it_was_told() -> None:
    with clock.clock_from(lambda: NOON):
        assert clock.now() == NOON

    assert clock.now() != NOON


def test_a_clock_inside_a_clock_gives_back_the_outer_one() -> None:
    later = NOON + dt.timedelta(hours=1)

    with clock.clock_from(lambda: NOON):
        with clock.clock_from(lambda: later):
            assert clock.now() == later
        assert clock.now() == NOON


def stop_a_clock_and_fail() -> None:
    with clock.clock_from(lambda: NOON):
        raise ConnectionError


def test_a_clock_is_given_back_after_an_error_too() -> None:
    with pytest.raises(ConnectionError):
        stop_a_clock_and_fail()

    assert clock.now() != NOON


def test_durations_never_run_backwards_with_the_clock() -> None:
    with clock.clock_from(lambda: NOON):
        first = clock.monotonic()

        assert clock.monotonic() >= first


def test_a_moment_goes_over_the_wire_in_utc() -> None:
    in_berlin = NOON.astimezone(dt.timezone(dt.timedelta(hours=1)))

    assert clock.wire_time(in_berlin) == "2026-11-30T12:00:00Z"
    assert clock.wire_time(None) is None
