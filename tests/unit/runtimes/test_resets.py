"""The time at which a limit ends is found in the words in which agents tell it."""

import datetime as dt

import pytest

from agents.runtimes.resets import named_time, stamp_time

NOW = dt.datetime(2026, 11, 30, 20, 32, tzinfo=dt.UTC)  # a Monday


def utc(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("words", "time"),
    [
        ("Claude AI usage limit reached|1796080000", utc(2026, 11, 30, 23, 6, 40)),
        ("Claude AI usage limit reached|1796080000000", utc(2026, 11, 30, 23, 6, 40)),
        ("You've hit your session limit · resets 10:31pm (Europe/London)", utc(2026, 11, 30, 22, 31)),
        ("5-hour limit reached ∙ resets 3am (UTC)", utc(2026, 12, 1, 3)),
        ("5-hour limit reached ∙ resets 9 pm (UTC)", utc(2026, 11, 30, 21)),
        ("resets 12am (UTC)", utc(2026, 12, 1, 0)),
        ("resets 12pm (UTC)", utc(2026, 12, 1, 12)),
        ("Your limit will reset at 4am (America/New_York).", utc(2026, 12, 1, 9)),
        ("resets 3am (Asia/Kolkata)", utc(2026, 11, 30, 21, 30)),
        ("resets Dec 3, 10am (UTC)", utc(2026, 12, 3, 10)),
        ("resets Dec 3 at 10:30am (UTC)", utc(2026, 12, 3, 10, 30)),
        ("resets Jan 2, 10am (UTC)", utc(2027, 1, 2, 10)),
        ("resets Jan 2, 2027, 10am (UTC)", utc(2027, 1, 2, 10)),
        ("resets Dec 3 (UTC)", utc(2026, 12, 3)),
        ("resets Wed 9:00 AM (UTC)", utc(2026, 12, 2, 9)),
        ("resets Monday 9am (UTC)", utc(2026, 12, 7, 9)),
        ("resets Monday 9pm (UTC)", utc(2026, 11, 30, 21)),
        ("visit https://example.org to buy credits or try again at 10:33 PM UTC.", utc(2026, 11, 30, 22, 33)),
        ("Try again at Dec 1st, 2026 3:05 PM UTC.", utc(2026, 12, 1, 15, 5)),
        ("try again in 2 hours 5 minutes.", utc(2026, 11, 30, 22, 37)),
        ("Please try again in 1 day, 3 hours and 10 minutes", utc(2026, 12, 1, 23, 42)),
        ("resets in 45m", utc(2026, 11, 30, 21, 17)),
        ("resets in 1h30m", utc(2026, 11, 30, 22, 2)),
        ("try again in 20s", utc(2026, 11, 30, 20, 32, 20)),
        ("resets at 2026-12-01T03:00:00Z", utc(2026, 12, 1, 3)),
        ("resets at 2026-12-01 03:00+02:00", utc(2026, 12, 1, 1)),
        ("resets at 23:15 (UTC)", utc(2026, 11, 30, 23, 15)),
        ("This resets nothing. Usage resets 3am (UTC)", utc(2026, 12, 1, 3)),
    ],
)
def test_the_words_name_a_time(words, time):
    assert named_time(words, NOW) == time


def test_a_time_without_a_zone_is_meant_in_this_machines(monkeypatch):
    here = NOW.astimezone()
    hour = (here.hour + 2) % 24

    named = named_time(f"resets {hour}:00", NOW)

    assert (named.astimezone().hour, named.astimezone().minute) == (hour, 0)
    assert dt.timedelta(hours=1) < named - NOW < dt.timedelta(hours=3)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "rate limited",
        "try again later",
        "try again at your leisure",
        "resets 3",
        "resets 25:00 (UTC)",
        "resets 13pm (UTC)",
        "resets 0am (UTC)",
        "resets Feb 30, 10am (UTC)",
        "resets 2026-11-30T20:00:00Z",
        "resets 2026-99-99T99:99:99Z",
        "limit reached|1700000000",
        "limit reached|99999999999999999999",
        "limit reached|12345",
        "try again in 99999999 days",
        "resets Dec 3, 9999, 10am (UTC)",
        "resets Dec 3, 0000, 10am (UTC)",
        "try again in 999999 days 999999 days 999999 days 999999 days 999999 days",
        "the limit resets",
    ],
)
def test_the_words_name_no_time_to_wait_for(words):
    assert named_time(words, NOW) is None


def test_an_unknown_zone_is_this_machines():
    assert named_time("resets 11:59pm (Mars/Olympus)", NOW) == named_time("resets 11:59pm", NOW)


def test_a_day_in_the_zones_calendar_is_meant():
    late = utc(2026, 11, 30, 23, 30)  # 2026-12-01 in Tokyo

    assert named_time("resets 9am (Asia/Tokyo)", late) == utc(2026, 12, 1, 0)


@pytest.mark.parametrize("stamp", [None, True, "1796080000", 0, -5, float("nan"), float("inf"), 1e30, 1, [], 1.5e14])
def test_what_is_no_coming_stamp_is_no_time(stamp):
    assert stamp_time(stamp, NOW) is None


@pytest.mark.parametrize("stamp", [1796080000, 1796080000.0, 1796080000000])
def test_stamps_are_in_seconds_or_milliseconds(stamp):
    assert stamp_time(stamp, NOW) == utc(2026, 11, 30, 23, 6, 40)
