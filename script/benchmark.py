"""Measures Trinity section by section on throwaway servers, and prints one table; fails nobody because of noise.

`script/bench` calls it with the environment made. docs/performance.md says how to read what it prints.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from bench_parts import full_tables, grading, live, memory, recovery, runner, starting, steps
from bench_parts.bench import Bench, Section
from bench_parts.contending import CONTENDERS
from bench_parts.programs import ROOT
from bench_parts.report import Figure, table, write_json
from packages import Unavailable
from throwaway import bring_programs, memory_folder, throwaway_servers

SECTIONS: dict[str, Section] = {
    "steps": steps.measure,
    "start": starting.measure,
    "full-tables": full_tables.measure,
    "recovery": recovery.measure,
    "live": live.measure,
    "memory": memory.measure,
    "runner": runner.measure,
    "graders": grading.measure,
}


def main(arguments: Sequence[str]) -> int:
    """Measure what was asked for; the exit code is 0 unless nothing could be measured at all."""
    chosen = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    figures: list[Figure] = []
    before = facts(chosen)
    try:
        bring_programs()
        with ExitStack() as until_the_end:
            bench = _bench(chosen, until_the_end)
            for name in chosen.sections or SECTIONS:
                figures += _measured(bench, name)
    except Unavailable as reason:
        sys.exit(f"bench: nothing can be measured here: {reason}")
    print(_in_words(before), table(figures), *_missing(bench), sep="\n")
    if chosen.json:
        write_json(chosen.json, before | {"load_after": os.getloadavg()[0]}, figures, bench.not_measured)
    return 0 if figures else 1


def _bench(chosen: argparse.Namespace, until_the_end: ExitStack) -> Bench:
    where = ROOT / "var" / "bench" if chosen.disk else memory_folder()
    if where is not None:
        where.mkdir(parents=True, exist_ok=True)
    servers = until_the_end.enter_context(throwaway_servers(folder=where, safe_on_disk=chosen.disk))
    folder = until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="trinity-bench-", dir=where))
    rounds = chosen.rounds or (3 if chosen.quick else 7)
    return Bench(servers, Path(folder), chosen.quick, rounds, frozenset(chosen.only or ()), chosen.soak or 0)


def _measured(bench: Bench, name: str) -> list[Figure]:
    """The figures of one section. What fails is said, and the other sections are measured all the same."""
    bench.say(f"== {name}")
    began, found = time.monotonic(), []
    try:
        with ExitStack() as until_the_end:
            found = list(SECTIONS[name](bench, until_the_end))
    except Exception as error:  # the outermost edge of a section
        bench.leave_out(name, f"{type(error).__name__}: {error}")
    bench.say(f"== {name}: {time.monotonic() - began:.0f} s")
    return found


def facts(chosen: argparse.Namespace) -> dict[str, Any]:
    """What one must know of a run to read it."""
    return {
        "form": "short" if chosen.quick else "long",
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "data": "disk" if chosen.disk else "memory" if memory_folder() else "temporary folder",
        "at": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
    }


def _in_words(known: dict[str, Any]) -> str:
    words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in known.items())
    busy = "" if known["load_before"] < 0.5 else "\nThe machine was busy before: believe the ratios, not the numbers.\n"
    return f"\n{words}{busy}"


def _missing(bench: Bench) -> list[str]:
    return [f"Not measured — {sentence}" for sentence in bench.not_measured]


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/bench",
        allow_abbrev=False,
        description="Measures Trinity against its peers and its own bars, on throwaway PostgreSQL and Redis in memory.",
        epilog="docs/performance.md says how to read the table.",
    )
    add = parser.add_argument
    add("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; by default all")
    add("--quick", action="store_true", help="the short form: fewer rounds and rows, some minutes")
    add("--rounds", type=int, help="how many rounds (by default 3 in the short form, 7 in the long one)")
    add("--only", action="append", choices=CONTENDERS, help="in `steps` only this contender; may be repeated")
    add(
        "--soak",
        type=int,
        nargs="?",
        const=600,
        metavar="SECONDS",
        help="in `live` only the sockets, on either stack for so long (by default 600), and whether memory stays flat",
    )
    add("--disk", action="store_true", help="on the disk, each commit waiting for it: for information")
    add("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser


def _end(_sign: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
