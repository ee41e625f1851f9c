"""How the benchmark asks a contender for a shape, a line of JSON each way; standard library only, measures nothing.

A contender is a program that stays up: it says `ready`, then answers each shape on its standard input with what it
measured, until the input ends.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

READY = "ready"
REPLY = "So the run ended, and this is all that it has to say of the matter. " * 3  # about 200 characters


@dataclass(frozen=True)
class Shape:
    """So many loops side by side, each of so many runs; the whole so many times, one after the other."""

    loops: int
    runs: int
    times: int = 1

    @property
    def steps(self) -> int:
        """How many runs there are in all."""
        return self.loops * self.runs * self.times

    def __str__(self) -> str:
        return f"{self.loops} × {self.runs}"


@dataclass(frozen=True)
class Measured:
    """What came of a shape. A gap is the time from the end of a run to the end of the next one of the same loop:
    the runs themselves take no time."""

    seconds: float
    gap_ms_p50: float
    gap_ms_p99: float


def measured(seconds: float, ends: Iterable[Sequence[float]]) -> Measured:
    """Gaps from the times, in seconds, at which each loop's runs ended."""
    gaps = [(after - before) * 1000 for loop in ends for before, after in pairwise(loop)]
    return Measured(seconds, percentile(gaps, 0.5), percentile(gaps, 0.99))


def percentile(numbers: Sequence[float], part: float) -> float:
    """The smallest number that at least that part of them does not exceed; NaN of none."""
    if not numbers:
        return math.nan
    return sorted(numbers)[max(0, math.ceil(part * len(numbers)) - 1)]


def answer(carry_out: Callable[[Shape], Measured]) -> None:
    """Speak the contender's side until the benchmark closes the line."""
    print(READY, flush=True)
    for line in sys.stdin:
        print(json.dumps(asdict(carry_out(Shape(**json.loads(line))))), flush=True)
