"""Pure rules of executions: how long a model that is away is waited for; touches no row and no clock."""

import datetime as dt
from dataclasses import dataclass

FIRST_WAIT = dt.timedelta(minutes=1)
LONGEST_WAIT = dt.timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class AwayFacts:
    """A call that met a model which was away, before the agent had used a tool."""

    now: dt.datetime
    away_since: dt.datetime
    tries: int  # calls so far that met the model away, this one included
    named_until: dt.datetime | None = None  # the reset time that the answer named
    patience: dt.timedelta = dt.timedelta(0)
    parent_ends: dt.datetime | None = None  # the loop's deadline
    jitter: float = 0.0  # 0–1; spreads agents that wait for the same model


def wait_until(away: AwayFacts) -> dt.datetime | None:
    """When to call again; None when it is over: patience or the parent's time has run out (section 3).

    A named time is kept to, give or take the jitter of half a minute behind it; else 1, 2, 4 … 15 minutes.
    """
    ends = away.away_since + away.patience
    if away.parent_ends is not None:
        ends = min(ends, away.parent_ends)
    if away.now >= ends:
        return None
    if away.named_until is not None and away.named_until > away.now:
        again = min(away.named_until, ends) + dt.timedelta(seconds=30 * away.jitter)  # it may be the year 9999
    else:
        pause = min(FIRST_WAIT * 2 ** min(away.tries - 1, 10), LONGEST_WAIT)
        again = away.now + pause * (1 + 0.2 * away.jitter)
    return min(again, ends)
