"""Section `graders`: the figures of bench_graders.py, which measures them by itself."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from bench_parts.bench import Bench
from bench_parts.programs import ROOT, environment, run
from bench_parts.report import Figure


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """Each measure is one core's, in a process of its own."""
    calls = str(bench.short_or_long(1_000, 100_000))
    printed = run([sys.executable, str(ROOT / "script" / "bench_graders.py"), calls], environment())
    for line in printed.splitlines():
        found = json.loads(line)
        what = f"{found['bench'].removeprefix('graders.')}, {found['shape']}, {found['calls']:,} calls"
        yield Figure("graders", what, float(found["calls_per_second"] or "nan"), "calls/s")
        yield Figure("graders", f"{what}: peak memory", found["peak_mib"], "MiB")
