"""How much of each guardrail is used, for people; a guardrail that was never set has no bar. Decides nothing."""

import datetime as dt
from dataclasses import dataclass

from loops.models import Loop
from loops.vocabulary import OnFailure
from trinity.kernel.durations import duration_text, limit_text
from trinity.kernel.money import dollars_text

HOT_FROM = 0.8  # a bar that deserves a look (section 5, "Look")


@dataclass(frozen=True, slots=True)
class Bar:
    """One guardrail: what is used of it, in words and as a share."""

    name: str
    used: str
    limit: str
    share: float  # 0–1, however far over the limit it went
    since: dt.datetime | None = None  # `used` ticks from here

    @property
    def percent(self) -> int:
        return round(self.share * 100)

    @property
    def hot(self) -> bool:
        return self.share >= HOT_FROM


def bars_of(loop: Loop, now: dt.datetime) -> list[Bar]:
    """The bars of a loop: its runs always; budget and time when set; rows of alike replies and failures once there."""
    found = [_counted("Runs", loop.runs_completed, loop.max_runs)]
    if loop.max_cost_nano is not None:
        share = _share(loop.spent_nano, loop.max_cost_nano)
        found.append(Bar("Budget", dollars_text(loop.spent_nano), dollars_text(loop.max_cost_nano), share))
    if loop.max_duration_seconds is not None:
        found.append(_time(loop, loop.max_duration_seconds, now))
    if loop.no_progress_threshold and loop.repeat_count >= 2:
        found.append(_counted("Identical replies", loop.repeat_count, loop.no_progress_threshold))
    if loop.on_failure == OnFailure.CONTINUE and loop.consecutive_failures:
        found.append(_counted("Failures in a row", loop.consecutive_failures, loop.max_consecutive_failures))
    return found


def _counted(name: str, used: int, limit: int) -> Bar:
    return Bar(name, str(used), str(limit), _share(used, limit))


def _time(loop: Loop, limit: int, now: dt.datetime) -> Bar:
    if loop.started_at is None:
        return Bar("Time", "0 s", limit_text(limit), 0.0)
    used = ((loop.completed_at or now) - loop.started_at).total_seconds()
    ticks = None if loop.ended else loop.started_at
    return Bar("Time", duration_text(used), limit_text(limit), _share(used, limit), ticks)


def _share(used: float, limit: float) -> float:
    return min(1.0, max(0.0, used / limit))
