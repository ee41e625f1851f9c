"""Where the runs of a loop lie on its strip, to scale of time; geometry only, drawn by a template."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from executions.vocabulary import TONES, ExecutionStatus
from trinity.kernel.durations import duration_text
from trinity.kernel.vocabulary import Tone

LEAST_WIDTH = 2.0  # pixels of the shortest run
# Widths at which the strip scrolls inside, matched by classes of the style sheet (`at-least-N`).
WIDTHS = (320, 480, 960, 1920, 3840)


@dataclass(frozen=True, slots=True)
class Stretch:
    """One run in time. `ended_at` is None while it is in flight."""

    run_number: int
    status: ExecutionStatus
    started_at: dt.datetime
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One run on the strip; positions in percent of its width."""

    run_number: int
    x: float
    width: float
    tone: Tone
    failed: bool
    title: str

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)


@dataclass(frozen=True, slots=True)
class Strip:
    """All of them; `step` chooses the least width, `told` is the text alternative."""

    segments: tuple[Segment, ...]
    step: int
    told: str


def strip_of(runs: Sequence[Stretch], now: dt.datetime) -> Strip | None:
    """The strip of the runs that began; None when none did."""
    if not runs:
        return None
    begin = min(run.started_at for run in runs)
    end = max(run.ended_at or now for run in runs)
    total = max((end - begin).total_seconds(), 0.001)
    lengths = [((run.ended_at or now) - run.started_at).total_seconds() for run in runs]
    width, step = _width(total, min(lengths), len(runs))
    placed = _placed([(run.started_at - begin).total_seconds() for run in runs], lengths, width / total)
    full = max(width, placed[-1][0] + placed[-1][1])
    segments = tuple(
        _segment(run, left / full * 100, wide / full * 100, length)
        for run, (left, wide), length in zip(runs, placed, lengths, strict=True)
    )
    return Strip(segments, step, _told(runs, total))


def _width(total: float, shortest: float, runs: int) -> tuple[float, int]:
    """The least width in pixels at which the shortest run still shows, and its step; long waits are not scaled up."""
    needed = max(total * LEAST_WIDTH / max(shortest, 0.001), runs * (LEAST_WIDTH + 1))
    for step, width in enumerate(WIDTHS):
        if needed <= width:
            return width, step
    return WIDTHS[-1], len(WIDTHS) - 1


def _placed(begins: list[float], lengths: list[float], scale: float) -> list[tuple[float, float]]:
    """Left edges and widths in pixels: to scale, but none too narrow to see and none over the next."""
    placed: list[tuple[float, float]] = []
    edge = 0.0
    for begin, length in zip(begins, lengths, strict=True):
        left = max(begin * scale, edge)
        wide = max(length * scale, LEAST_WIDTH)
        placed.append((left, wide))
        edge = left + wide + 0.5
    return placed


def _segment(run: Stretch, x: float, width: float, length: float) -> Segment:
    words = str(run.status).replace("_", " ")
    return Segment(
        run.run_number,
        round(x, 3),
        round(width, 3),
        TONES[run.status],
        failed=TONES[run.status] is Tone.BAD,
        title=f"Run {run.run_number}: {words}, {duration_text(length)}",
    )


def _told(runs: Sequence[Stretch], total: float) -> str:
    failed = [str(run.run_number) for run in runs if TONES[run.status] is Tone.BAD]
    in_flight = [str(run.run_number) for run in runs if run.ended_at is None]
    told = [f"{len(runs)} run{'s' if len(runs) > 1 else ''} over {duration_text(total)}"]
    if failed:
        told.append(f"failed: {', '.join(failed)}")
    if in_flight:
        told.append(f"in flight: {', '.join(in_flight)}")
    return "; ".join(told) + ". The table below says the same."
