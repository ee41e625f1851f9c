"""Section `full-tables`: a step and a sweep with 100,000 ended and 10,000 parked loops, beside empty tables."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

from bench_parts.bench import Bench
from bench_parts.contending import Contender, contend
from bench_parts.report import Bar, Figure, of_rounds, paired
from bench_parts.stacks import Installation
from bench_parts.steps import MANY, ONE

EMPTY, FULL = "trinity", "trinity-full"


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """The shapes of `steps` on two installations in turn."""
    ended, parked = bench.short_or_long(20_000, 100_000), bench.short_or_long(2_000, 10_000)
    installations = {name: Installation(bench, until_the_end) for name in (EMPTY, FULL)}
    drivers = {name: one.talk_to("trinity_loops", "service") for name, one in installations.items()}
    bench.say(f"Filling the tables with {ended:,} ended and {parked:,} parked loops …")
    installations[FULL].run_inside("filling", str(ended), str(parked))
    yield from _sweeps(bench, installations, parked)
    empty, full = (Contender(name, [drivers[name], *one.start_workers(1)]) for name, one in installations.items())
    contend(bench, [empty, full], [ONE, MANY])
    yield from _steps(empty, full, f"{ended:,} ended, {parked:,} parked")


def _steps(empty: Contender, full: Contender, loops: str) -> Iterator[Figure]:
    for shape in (ONE, MANY):
        times = [1000 / rate for rate in full.steps_per_second(shape)]
        base = [1000 / rate for rate in empty.steps_per_second(shape)]
        against = paired("empty tables", times, base)
        yield of_rounds("full-tables", f"{shape}: a step, {loops}", times, "ms", **against, bar=Bar(most=1.2))
        cost = paired("empty tables", full.processor_ms(shape), empty.processor_ms(shape))
        yield of_rounds("full-tables", f"{shape}: processor per step", full.processor_ms(shape), "ms", **cost)


def _sweeps(bench: Bench, installations: dict[str, Installation], parked: int) -> Iterator[Figure]:
    passes = str(bench.short_or_long(20, 100))
    found = {name: json.loads(one.run_inside("sweeping", passes)) for name, one in installations.items()}
    against = paired("empty tables", found[FULL], found[EMPTY])
    what, bar = f"a pass of the sweep, {parked:,} parked", Bar(most=50)
    yield of_rounds("full-tables", what, found[FULL], "ms", bar=bar, bar_is_for_number=True, **against)
