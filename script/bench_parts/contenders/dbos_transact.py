"""A peer: DBOS Transact, a workflow of steps that do nothing; as its own guide writes it, threads of one process."""

import itertools
import os
import time

from dbos import DBOS  # type: ignore[import-not-found]

from bench_parts.protocol import REPLY, Measured, Shape, answer, measured

_ends: dict[str, list[float]] = {}
_batches = itertools.count()


@DBOS.step()  # type: ignore[untyped-decorator]
def turn(loop: str, number: int, previous: str) -> str:
    """One run."""
    _ends[loop].append(time.perf_counter())
    return REPLY


@DBOS.workflow()  # type: ignore[untyped-decorator]
def chain(loop: str, runs: int) -> str:
    """One loop."""
    reply = ""
    for number in range(1, runs + 1):
        reply = turn(loop, number, reply)
    return reply


def carry_out(shape: Shape) -> Measured:
    """Start the workflows, and wait for their results."""
    _ends.clear()
    began = time.perf_counter()
    for _ in range(shape.times):
        batch = next(_batches)
        loops = [f"{batch}-{number}" for number in range(shape.loops)]
        _ends.update({loop: [] for loop in loops})
        for started in [DBOS.start_workflow(chain, loop, shape.runs) for loop in loops]:
            started.get_result()
    return measured(time.perf_counter() - began, _ends.values())


if __name__ == "__main__":
    url = os.environ["BENCH_DATABASE_URL"]
    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "WARNING", "run_admin_server": False})
    DBOS.launch()
    answer(carry_out)
    DBOS.destroy()
