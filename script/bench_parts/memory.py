"""Section `memory`: what a server and a worker hold when idle and while 60 slow programs run below runners."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress

from bench_parts import usage
from bench_parts.bench import Bench
from bench_parts.programs import wait_until
from bench_parts.report import Figure
from bench_parts.stacks import Installation

SLOW_RUNS = 60
SLOW_SECONDS = 3_600  # longer than the section takes; they are killed at its end


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """Proportional memory (PSS): a page that several processes share counts for each in its part."""
    if not usage.PROC.is_dir():
        bench.leave_out("memory", "it is read from /proc, which is not here")
        return
    installation = Installation(bench, until_the_end)
    web, worker = installation.start_web(), installation.start_workers(1)[0]
    installation.get("/api/loops")
    idle = {name: usage.resident_mib([one]) for name, one in (("web", web), ("worker", worker))}
    until_the_end.callback(_kill_runs, installation)
    _start_slow_runs(installation)
    busy = {name: usage.resident_mib([one]) for name, one in (("web", web), ("worker", worker))}
    for name in ("web", "worker"):
        yield Figure("memory", f"{name}, idle", idle[name] or 0.0, "MiB")
        against, ratio = "idle", (busy[name] or 0.0) / (idle[name] or 1.0)
        yield Figure("memory", f"{name}, {SLOW_RUNS} runs", busy[name] or 0.0, "MiB", against=against, ratio=ratio)
    runs = usage.mib_of(_runs(installation)) / SLOW_RUNS
    yield Figure("memory", "a runner with its program (sleep)", runs, "MiB")


def _start_slow_runs(installation: Installation) -> None:
    argv = ["sleep", str(SLOW_SECONDS)]
    agent = {"name": "slow", "runtime": "command", "runtime_settings": {"argv": argv, "output": "text"}}
    installation.get("/api/agents", agent | {"max_parallel_tasks": SLOW_RUNS})
    for _ in range(SLOW_RUNS):
        installation.get("/api/agents/slow/loops", {"message": "Take your time.", "max_runs": 1})
    spool = installation.home / "spool"
    wait_until(lambda: len(list(spool.glob("*/started"))) >= SLOW_RUNS, f"{SLOW_RUNS} programs", seconds=180)


def _runs(installation: Installation) -> list[int]:
    """Runners and their programs: all that stems from this home and is no process of the installation's own."""
    return usage.mentioning(str(installation.home / "spool"))


def _kill_runs(installation: Installation) -> None:
    for pid in _runs(installation):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
