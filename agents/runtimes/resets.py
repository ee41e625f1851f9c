"""Finds the time at which an agent's own words say that a usage limit ends; waits for nothing."""

import datetime as dt
import re
import zoneinfo

FURTHEST = dt.timedelta(days=366)  # what is named beyond is no reset time

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_WEEKDAYS = {name: number for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}

_STAMP = re.compile(r"\|\s*(\d{13}|\d{10})(?!\d)")
_LEAD = re.compile(r"(?:resets?|try again|available again|come back|wait)(?:\s+(?:at|on|after|until|in))?[\s:]+", re.I)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_SPAN = re.compile(r"(\d+)\s*(days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])", re.I)
_SPAN_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DAY = re.compile(
    r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<year>\d{4}))?|(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*)[,\s]*(?:at\s+)?",
    re.I,
)
_TIME = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)?\s*(?P<half>[ap]\.?m\b)?", re.I)
_ZONE = re.compile(r"[\s.]*\(?(?P<zone>[A-Z][A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+|UTC|GMT)\)?")


def stamp_time(stamp: object, now: dt.datetime) -> dt.datetime | None:
    """The time of a Unix stamp in seconds or milliseconds; None when it is none, past or absurd."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or not 0 < stamp < 1e14:
        return None
    return _plausible(dt.datetime.fromtimestamp(stamp / 1000 if stamp > 1e11 else stamp, dt.UTC), now)


def named_time(text: str, now: dt.datetime) -> dt.datetime | None:
    """The time that `text` names: "…|1733000000", "resets 3am (Europe/London)", "try again in 2 hours".

    Times of day are the next ones after `now`, in the zone that is named, else in this machine's. None when
    nothing is named, or only what is past.
    """
    if match := _STAMP.search(text):
        return stamp_time(int(match[1]), now)
    for lead in _LEAD.finditer(text):
        try:
            named = _time_at_start(text[lead.end() : lead.end() + 80], now)
        except (ValueError, OverflowError):  # such as 25:00, February 30, or in a million days
            continue
        if named is not None:
            return named
    return None


def _time_at_start(words: str, now: dt.datetime) -> dt.datetime | None:
    if match := _ISO.match(words):
        named = dt.datetime.fromisoformat(match[0])
        return _plausible(named if named.tzinfo else named.replace(tzinfo=dt.UTC), now)
    if _SPAN.match(words):
        return _plausible(now + _span(words), now)
    return _clock_time(words, now)


def _span(words: str) -> dt.timedelta:
    seconds, at = 0, 0
    while match := _SPAN.match(words, at):
        seconds += min(int(match[1]), 10**6) * _SPAN_SECONDS[match[2][0].lower()]
        rest = re.match(r"[\s,]*(?:and\s+)?", words[match.end() :])
        at = match.end() + (rest.end() if rest else 0)
    return dt.timedelta(seconds=seconds)


def _clock_time(words: str, now: dt.datetime) -> dt.datetime | None:
    day = _DAY.match(words)
    at = day.end() if day else 0
    time = _TIME.match(words, at)
    if not day and (time is None or not (time["half"] or time["minute"])):
        return None  # a bare number is no time of day
    zone = _ZONE.match(words, time.end() if time else at)
    here = now.astimezone(_zone(zone["zone"] if zone else ""))
    minute = int(time["minute"] or 0) if time else 0
    named = here.replace(hour=_hour(time), minute=minute, second=0, microsecond=0)
    if day:
        return _plausible(_on_day(named, day, here), now)
    if named <= here:
        named += dt.timedelta(days=1)
    return _plausible(named, now)


def _hour(time: "re.Match[str] | None") -> int:
    if time is None:
        return 0
    hour = int(time["hour"])
    if not time["half"]:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if time["half"].lower().startswith("p") else 0)


def _on_day(named: dt.datetime, day: "re.Match[str]", here: dt.datetime) -> dt.datetime:
    if day["weekday"]:
        ahead = (_WEEKDAYS[day["weekday"].lower()] - here.weekday()) % 7
        return named + dt.timedelta(days=ahead if ahead or named > here else 7)
    named = named.replace(year=int(day["year"] or here.year), month=_MONTHS[day["month"].lower()], day=int(day["day"]))
    if not day["year"] and named < here - dt.timedelta(days=1):  # "Jan 2", said in December
        named = named.replace(year=named.year + 1)
    return named


def _zone(name: str) -> dt.tzinfo | None:
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # "America" is a folder
        return None


def _plausible(named: dt.datetime, now: dt.datetime) -> dt.datetime | None:
    named = named.astimezone(dt.UTC)
    return named if now < named <= now + FURTHEST else None
