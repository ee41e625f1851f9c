"""The one clock: rules get `now` from here and from nowhere else, so a test can hold it still."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _system_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


_source: Callable[[], dt.datetime] = _system_now


def now() -> dt.datetime:
    """The present in UTC."""
    return _source()


def monotonic() -> float:
    """Seconds that only grow, for durations; never compared with `now`."""
    return time.monotonic()


def wire_time(at: dt.datetime | None) -> str | None:
    """A moment as JSON shows it everywhere: ISO 8601 in UTC with a `Z`; None stays None."""
    return None if at is None else at.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


@contextmanager
def clock_from(source: Callable[[], dt.datetime]) -> Iterator[None]:
    """Read the time from `source` inside the block (virtual time in scenarios and tests)."""
    global _source
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before
