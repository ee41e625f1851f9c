"""Measures graders: calls per second on one core and peak memory, one JSON line per measure; changes nothing.

`python script/bench_graders.py [CALLS …]`, by default at 1,000, 100,000 and 1,000,000 calls. Each measure runs in a
process of its own, so that its peak memory is its own. `judge` is loop-outcome alone, on steps at hand; `file` is all
that `manage.py grade` does with a file of our own JSON: reading, importing and judging.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from graders.config import read_graders  # noqa: E402
from graders.grading import judge  # noqa: E402
from graders.importers.opening import open_trajectory  # noqa: E402
from graders.trajectory import Call, Step, Trajectory  # noqa: E402

SIZES = (1_000, 100_000, 1_000_000)
SHAPES: dict[str, dict[str, Any]] = {
    "varied": {},
    "identical": {},
    "name": {"match": "name"},
    "observation": {"match": "observation"},
    "tools": {"tools": ["^bash$", "shell"]},
    "cycles": {"max_cycle_period": 10},
}


def calls_of(shape: str, distinct: int = 997) -> list[Call]:
    """Calls as agents make them; all alike for `identical`."""
    return [
        Call(
            "bash",
            {"command": f"make target-{0 if shape == 'identical' else number}", "timeout": 60},
            f"error {number % 5}",
            id=f"call_{number}",
        )
        for number in range(distinct)
    ]


def judged(shape: str, calls: int) -> float:
    """Seconds of processor time to judge so many calls, one a step."""
    graders = read_graders([{"type": "loop-outcome", "config": {"max_acceptable_retries": 3, **SHAPES[shape]}}])
    steps = [Step((call,)) for call in calls_of(shape)]
    trajectory = Trajectory(islice(cycle(steps), calls))
    before = time.process_time()
    judge(graders, trajectory)
    return time.process_time() - before


def read_and_judged(calls: int) -> float:
    """Seconds of processor time to grade a file of so many calls."""
    graders = read_graders([{"type": "loop-outcome", "config": {"max_acceptable_retries": 3}}])
    with tempfile.TemporaryFile() as file:
        for part in written(calls):
            file.write(part)
        file.seek(0)
        before = time.process_time()
        judge(graders, open_trajectory(file))
        return time.process_time() - before


def written(calls: int) -> Iterator[bytes]:
    """Our own JSON, one call a step."""
    yield b'{"format": "trinity-trajectory/1", "steps": ['
    for number, call in enumerate(islice(cycle(calls_of("varied")), calls)):
        step = [{"tool": call.tool, "args": call.args, "result": call.result, "id": call.id}]
        yield b",\n" * (number > 0) + json.dumps(step).encode()
    yield b'], "end_reason": "completed"}'


def measure(bench: str, shape: str, calls: int) -> None:
    """One measure, as one JSON line."""
    seconds = judged(shape, calls) if bench == "judge" else read_and_judged(calls)
    line = {
        "bench": f"graders.{bench}",
        "shape": shape,
        "calls": calls,
        "seconds": round(seconds, 4),
        "calls_per_second": round(calls / seconds) if seconds else None,
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    print(json.dumps(line), flush=True)


def main(argv: list[str]) -> None:
    """All measures at each size, each in a process of its own."""
    if argv[:1] == ["--one"]:
        measure(argv[1], argv[2], int(argv[3]))
        return
    for calls in [int(size) for size in argv] or SIZES:
        for bench, shape in [*(("judge", shape) for shape in SHAPES), ("file", "varied")]:
            one = [sys.executable, __file__, "--one", bench, shape, str(calls)]
            subprocess.run(one, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


if __name__ == "__main__":
    main(sys.argv[1:])
