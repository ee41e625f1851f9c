"""Section `steps`: loop steps a second, all included, beside the floor and the peers; and the gap between runs."""

from collections.abc import Iterator
from contextlib import ExitStack

from bench_parts.bench import Bench
from bench_parts.contending import NAMES, Contender, contend, started
from bench_parts.protocol import Measured, Shape
from bench_parts.report import Bar, Figure, of_rounds, paired

ONE = Shape(loops=1, runs=100, times=3)
MANY = Shape(loops=50, runs=20)
# Like with like: one process beside one process, two beside two. The floor is for orientation.
BARS: dict[tuple[str, str], Bar | None] = {
    ("trinity", "dbos"): Bar(least=1.3, aim=2.0),
    ("trinity", "celery"): Bar(least=2.0),
    ("trinity", "langgraph"): Bar(least=0.6, aim=1.0),
    ("trinity", "floor"): None,
    ("trinity-2", "celery-2"): Bar(least=2.0),
    ("trinity-2", "dbos"): None,
    ("trinity-2", "trinity"): None,
    ("embedded", "trinity"): None,
}


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """Every contender on both shapes."""
    contenders = list(started(bench, until_the_end))
    contend(bench, contenders, [ONE, MANY])
    by_name = {one.name: one for one in contenders if one.measured}
    for shape in (ONE, MANY):
        ratios = list(_ratios(by_name, shape))
        told = {figure.what for figure in ratios}
        yield from (figure for figure in _rates(by_name, shape) if figure.what not in told)
        yield from ratios
    for shape in (ONE, MANY):
        yield from _gaps(by_name, shape)
        yield from _processor(by_name, shape)


def _rates(by_name: dict[str, Contender], shape: Shape) -> Iterator[Figure]:
    for name, one in by_name.items():
        yield of_rounds("steps", f"{shape}: {NAMES[name]}", one.steps_per_second(shape), "steps/s")


def _ratios(by_name: dict[str, Contender], shape: Shape) -> Iterator[Figure]:
    for (name, other), bar in BARS.items():
        ours, theirs = by_name.get(name), by_name.get(other)
        if ours is None or theirs is None:
            continue
        rates = ours.steps_per_second(shape)
        against = paired(NAMES[other], rates, theirs.steps_per_second(shape))
        yield of_rounds("steps", f"{shape}: {NAMES[name]}", rates, "steps/s", **against, bar=bar)


def _gaps(by_name: dict[str, Contender], shape: Shape) -> Iterator[Figure]:
    """With 50 loops side by side a gap is mostly the wait for a turn, so the bar is for one loop."""
    for name, one in by_name.items():
        found: list[Measured] = one.measured.get(shape, [])
        bar = Bar(most=3.0) if name == "trinity" and shape is ONE else None
        middle = [each.gap_ms_p50 for each in found]
        yield of_rounds("steps", f"{shape}: gap p50, {NAMES[name]}", middle, "ms", bar=bar)
        yield of_rounds("steps", f"{shape}: gap p99, {NAMES[name]}", [each.gap_ms_p99 for each in found], "ms")


def _processor(by_name: dict[str, Contender], shape: Shape) -> Iterator[Figure]:
    """What a step costs whoever carries it out; of all these numbers the one that a busy machine moves least."""
    dbos = by_name["dbos"].processor_ms(shape) if "dbos" in by_name else []
    for name, one in by_name.items():
        taken = one.processor_ms(shape)
        against = paired(NAMES["dbos"], taken, dbos) if name == "trinity" else {}
        if taken:
            yield of_rounds("steps", f"{shape}: processor per step, {NAMES[name]}", taken, "ms", **against)
