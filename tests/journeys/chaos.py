"""The chaos journey: while loops run, something random dies every second or two; afterwards all must be right.

    python -m tests.journeys.chaos --seed 7 --minutes 5        `script/chaos` calls it

The same seed plans the same loops and the same faults in the same order; what a fault hits depends on the moment.
"""

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.journeys.chaos_faults import Faults
from tests.journeys.chaos_loops import PlannedLoop, Run, planned_loops
from tests.journeys.cluster import Cluster, cluster_in
from tests.journeys.server import wait_for

AGENT = Path(__file__).with_name("chaos_agent.py")
SLOTS = 3
ENDED = ("completed", "completed_with_errors", "stopped", "failed")


@dataclass(frozen=True)
class Size:
    """How much of everything; `seconds` is the time in which things die."""

    seconds: float
    loops: int = 40
    runs: int = 10
    agents: int = 6
    workers: int = 3

    @property
    def run_seconds(self) -> float:
        """So long is a run on average, that the loops last about as long as the faults."""
        side_by_side = min(self.agents * SLOTS, self.loops)
        return max(0.3, 0.6 * self.seconds * side_by_side / (self.loops * self.runs))


@dataclass
class Report:
    """What happened, and what of it was wrong."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    loops: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    lost: int = 0
    faulty_seconds: float = 0.0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        """For people."""
        lines = [f"seed {self.seed}: {sum(self.faults.values())} faults in {self.faulty_seconds:.0f} s"]
        lines += [f"  {count:>4}  {kind}" for kind, count in sorted(self.faults.items())]
        lines += [f"{sum(self.loops.values())} loops ended"]
        lines += [f"  {count:>4}  {ending}" for ending, count in sorted(self.loops.items())]
        lines += [f"{self.runs} runs, {self.lost} of them lost with their runner; {self.seconds:.0f} s in all"]
        lines += [f"WRONG: {sentence}" for sentence in self.wrong] or ["nothing lost, nothing twice, nothing left over"]
        return "\n".join(lines)


def run_chaos(seed: int, size: Size, folder: Path) -> Report:
    """One whole journey in `folder`."""
    report, began = Report(seed), time.monotonic()
    with cluster_in(folder / "home") as cluster:
        Chaos(cluster, seed, size, report).run()
    report.seconds = time.monotonic() - began
    return report


class Chaos:
    """One journey on a cluster that was set up."""

    def __init__(self, cluster: Cluster, seed: int, size: Size, report: Report) -> None:
        self.cluster = cluster
        self.size = size
        self.report = report
        self.trace = cluster.home / "trace.txt"
        chance = random.Random(seed)
        self.agents = [f"agent-{number}" for number in range(size.agents)]
        self.loops = planned_loops(chance, self.agents, size.loops, size.runs, size.run_seconds)
        self.faults = Faults(cluster, random.Random(seed + 1), report.faults)
        self._stopped_calling = threading.Event()

    def run(self) -> None:
        """From the first start to the last look."""
        self.cluster.launch()
        self.cluster.start_workers(self.size.workers)
        self.cluster.wait_for_answers()
        argv = [sys.executable, "-I", "-S", str(AGENT), str(self.trace)]
        for name in self.agents:
            self.cluster.add_agent(name, argv, output="stream-json", max_parallel_tasks=SLOTS)
        with self._people_who_call():
            self._let_things_die()
        self._wait_for_the_end()
        self._look_at_loops()
        self._look_at_processes()

    # --- while it goes ----------------------------------------------------------------------------------

    @contextmanager
    def _people_who_call(self) -> Iterator[None]:
        """They start loops and ask some to stop, and try again until they are answered."""
        caller = threading.Thread(target=self._call, daemon=True)
        caller.start()
        yield
        caller.join(120)
        if caller.is_alive():
            self.report.wrong.append("a request was not answered for two minutes")

    def _call(self) -> None:
        began, started_at = time.monotonic(), dict[int, float]()
        for number, loop in enumerate(self.loops):
            path = f"/api/agents/{loop.agent}/loops"
            loop.loop_id = str(self._answered(path, loop.parameters(), key=f"loop-{number}")["loop_id"])
            started_at[number] = time.monotonic()
            self._ask_to_stop(started_at)
            pace = 0.4 * self.size.seconds * number / len(self.loops)
            time.sleep(max(0.0, began + pace - time.monotonic()))
        while self._ask_to_stop(started_at):
            time.sleep(0.2)

    def _ask_to_stop(self, started_at: dict[int, float]) -> int:
        """Ask those whose time has come; how many are still to be asked."""
        left = 0
        for number in [number for number in started_at if self.loops[number].stop_after is not None]:
            loop = self.loops[number]
            if time.monotonic() < started_at[number] + (loop.stop_after or 0):
                left += 1
                continue
            del started_at[number]
            self._answered(f"/api/loops/{loop.loop_id}/stop", {}, key=f"stop-{number}")
        return left

    def _answered(self, path: str, body: dict[str, object], *, key: str) -> dict[str, object]:
        ends = time.monotonic() + 100
        while True:
            with suppress(OSError):
                status, answer = self.cluster.call("POST", path, body, Idempotency_Key=key)
                if status < 300:
                    return dict(answer)
                assert status >= 500 or status == 409, answer  # 409: the first try is still being answered
            assert time.monotonic() < ends, f"no answer to {path}"
            time.sleep(0.2)

    def _let_things_die(self) -> None:
        began = time.monotonic()
        while time.monotonic() - began < self.size.seconds and not self._all_have_ended():
            self.faults.strike()
        self.faults.make_good(self.size.workers)
        self.report.faulty_seconds = time.monotonic() - began

    def _all_have_ended(self) -> bool:
        with suppress(psycopg.OperationalError):
            ended = self.cluster.rows("SELECT count(*) FROM loops_loop WHERE status = ANY(%s)", list(ENDED))
            return ended == [(len(self.loops),)]
        return False

    # --- afterwards -------------------------------------------------------------------------------------

    def _wait_for_the_end(self) -> None:
        patience = 60 + 4 * self.size.seconds
        try:
            wait_for(self._all_have_ended, seconds=patience, what="all loops to end")
        except AssertionError:
            for row in self.cluster.rows(
                "SELECT l.id, l.status, l.runs_completed, l.next_run_at, e.id, e.status, e.worker, e.lease_until, now()"
                " FROM loops_loop l LEFT JOIN executions_execution e ON e.loop_id = l.id AND e.ended_at IS NULL"
                " WHERE NOT l.status = ANY(%s)",
                list(ENDED),
            ):
                self.report.wrong.append(f"has not ended: {' '.join(map(str, row))}")

    def _look_at_loops(self) -> None:
        endings = {
            str(row[0]): (str(row[1]), str(row[2]))
            for row in self.cluster.rows("SELECT id, status, stop_reason FROM loops_loop")
        }
        if len(endings) != len(self.loops):
            self.report.wrong.append(f"{len(self.loops)} loops were started, {len(endings)} are there")
        for number, loop in enumerate(self.loops):
            status, reason = endings[loop.loop_id]
            runs = self._runs_of(loop)
            self.report.loops[f"{status}, {reason}"] += 1
            self.report.runs += len(runs)
            sentences = [*loop.wrong(status, reason, runs), *self._wrong_in_trace(loop, runs)]
            self.report.wrong += [f"loop {number} ({loop.loop_id}): {sentence}" for sentence in sentences]
        checked = self.cluster.manage("check_loops")
        if checked.returncode:
            self.report.wrong += [f"check_loops: {line}" for line in (checked.stdout + checked.stderr).splitlines()]

    def _runs_of(self, loop: PlannedLoop) -> list[Run]:
        found = self.cluster.rows(
            "SELECT r.run_number, e.id, e.status, e.error_kind, e.cost_nano FROM loops_run r"
            " JOIN executions_execution e ON e.id = r.execution_id WHERE r.loop_id = %s ORDER BY 1",
            loop.loop_id,
        )
        return [Run(*row) for row in found]  # type: ignore[arg-type]

    def _wrong_in_trace(self, loop: PlannedLoop, runs: Sequence[Run]) -> Iterator[str]:
        """Each run left one line; one whose runner was killed at most one, and it is lost."""
        lines = [line.split() for line in self.trace.read_text().splitlines()]
        seen = Counter((int(run), execution) for loop_id, run, execution in lines if loop_id == loop.loop_id)
        for run in runs:
            times = seen.pop((run.number, run.execution_id), 0)
            if run.lost and run.execution_id not in self.faults.killed_runs:
                yield f"run {run.number} ({run.execution_id}) is lost, and nobody killed its runner"
            if times != 1 and not (run.lost and times == 0):
                yield f"run {run.number} ({run.execution_id}) was carried out {times} times"
            self.report.lost += run.lost
        for (number, execution_id), times in seen.items():
            yield f"{execution_id} was carried out {times} times and is no run (as run {number})"

    def _look_at_processes(self) -> None:
        workers = self.cluster.living_workers()
        for worker in workers:
            worker.terminate()
        for worker in workers:
            seconds = worker.wait(20)
            if seconds > 6:
                self.report.wrong.append(f"{worker.name} took {seconds:.1f} s to end")
        with suppress(AssertionError):
            wait_for(lambda: not self.cluster.marked_processes(), seconds=5)
        left = self.cluster.marked_processes()
        if left:
            self.report.wrong.append(f"processes are left over: {left}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="script/chaos",
        description="Kills and cuts parts of an installation while loops run, and says whether anything was lost or "
        "carried out twice. Everything is started here on loopback, and ended.",
    )
    parser.add_argument("--seed", type=int, default=1, help="plans loops and faults; the same seed plans the same")
    parser.add_argument("--minutes", type=float, default=5, help="for how long things die (default: 5)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep logs and runners' files there")
    chosen = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    size = Size(seconds=chosen.minutes * 60)
    print(f"{size.loops} loops of up to {size.runs} runs, {size.agents} agents, {size.workers} workers", flush=True)
    with tempfile.TemporaryDirectory(prefix="trinity-chaos-", ignore_cleanup_errors=True) as own:
        folder = chosen.keep or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        report = run_chaos(chosen.seed, size, folder)
    print(report.in_words())
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
