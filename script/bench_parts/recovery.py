"""Section `recovery`: 1,000 loops in the middle of their work, their worker killed, another one started."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg

from bench_parts.bench import Bench
from bench_parts.programs import wait_until
from bench_parts.report import Figure
from bench_parts.stacks import Installation

RUNS = 2
LOOK_SECONDS = 0.05
ENDED_RUNS = "select count(*) from executions_execution where ended_at is not null"
OPEN_LOOPS = "select count(*) from loops_loop where completed_at is null"


def measure(bench: Bench, until_the_end: ExitStack) -> Iterator[Figure]:
    """One pass, since it is long; the pace before the kill is what the pace after it is compared with."""
    loops = bench.short_or_long(200, 1_000)
    half = loops * RUNS // 2
    installation = Installation(bench, until_the_end)
    installation.talk_to("trinity_loops", "service")  # makes the agents
    installation.run_inside("queueing", str(loops), str(RUNS))
    count = _counting(installation, until_the_end)
    [worker] = installation.start_workers(1)
    before = _pace(lambda: count(ENDED_RUNS), until=half)
    worker.end(signal.SIGKILL)
    left = loops * RUNS - count(ENDED_RUNS)
    began = time.monotonic()
    installation.start_workers(1)
    wait_until(lambda: count(ENDED_RUNS) > loops * RUNS - left, "the first run after the restart", every=LOOK_SECONDS)
    first = time.monotonic() - began
    after = _pace(lambda: count(ENDED_RUNS), until=loops * RUNS)
    wait_until(lambda: not count(OPEN_LOOPS), "the loops to end", every=LOOK_SECONDS)
    installation.manage("check_loops")  # fails when anything is wrong with any of them
    yield Figure("recovery", "from starting a worker to its first run", first, "s")
    against, ratio = f"before the kill ({before:,.0f})", after / before
    yield Figure("recovery", f"{loops:,} loops go on after kill -9", after, "runs/s", against=against, ratio=ratio)
    yield Figure("recovery", f"{loops:,} loops, all ended and checked", time.monotonic() - began, "s")


def _counting(installation: Installation, until_the_end: ExitStack) -> Callable[[str], int]:
    connection = until_the_end.enter_context(psycopg.connect(installation.database_url, autocommit=True))

    def count(question: str) -> int:
        [answer] = connection.execute(question.encode()).fetchone() or [0]
        return int(answer)

    return count


def _pace(ended: Callable[[], int], *, until: int) -> float:
    """Runs per second from the first one that is seen to end until so many have."""
    first = ended()
    wait_until(lambda: ended() > first, "a run to end", every=LOOK_SECONDS)
    first, began = ended(), time.monotonic()
    wait_until(lambda: ended() >= until, f"{until} runs to end", seconds=900, every=LOOK_SECONDS)
    return (until - first) / (time.monotonic() - began)
