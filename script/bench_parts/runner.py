"""Section `runner`: what a real run costs from the end of one to the end of the next, beside the bare program."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from bench_parts.bench import Bench
from bench_parts.contending import Contender
from bench_parts.programs import environment
from bench_parts.protocol import Shape
from bench_parts.report import Figure, of_rounds, paired
from bench_parts.stacks import Installation

PROGRAM = ("sh", "-c", "echo this was run $TRINITY_RUN_NUMBER")


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """A loop of runs and as many calls of the program by subprocess, in turn."""
    shape = Shape(loops=1, runs=bench.short_or_long(15, 50))
    installation = Installation(bench, until_the_end)
    workers = installation.start_workers(1)
    trinity = Contender("trinity", [installation.talk_to("trinity_loops", "service", *PROGRAM), *workers])
    trinity.carry_out(Shape(loops=1, runs=3))
    bare: list[float] = []
    for number in range(bench.rounds):
        trinity.take_part(shape)
        bare.append(_bare_ms(shape.runs))
        bench.say(f"round {number + 1} of {bench.rounds}: {trinity.measured[shape][-1].gap_ms_p50:.1f} ms a run")
    taken = [one.gap_ms_p50 for one in trinity.measured[shape]]
    over = [one - other for one, other in zip(taken, bare, strict=True)]
    yield of_rounds("runner", "a run of a small program, p50", taken, "ms", **paired("the bare program", taken, bare))
    yield of_rounds("runner", "over the bare program", over, "ms")
    yield of_rounds("runner", "processor of the worker per run", trinity.processor_ms(shape), "ms")


def _bare_ms(times: int) -> float:
    taken = []
    for number in range(times):
        began = time.perf_counter()
        subprocess.run(PROGRAM, env=environment(TRINITY_RUN_NUMBER=str(number)), stdout=subprocess.PIPE, check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken)
