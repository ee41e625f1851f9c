"""A peer: the plain Celery + ORM chain of `celery_app`, with a worker of its own (arguments: its pool and its size)."""

import subprocess
import sys
import time

from django.db import connection

from bench_parts.contenders.celery_app import Loop, Run, turn
from bench_parts.protocol import Measured, Shape, answer, measured

LOOK_SECONDS = 0.05


def worker(pool: str, size: str) -> "subprocess.Popen[bytes]":
    """A Celery worker, as quiet as it can be."""
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR")
    words = ("-A", "bench_parts.contenders.celery_app", "worker", "-P", pool, "-c", size, *quiet)
    return subprocess.Popen([sys.executable, "-m", "celery", *words], stdout=subprocess.DEVNULL)


def carry_out(shape: Shape) -> Measured:
    """Enqueue the first runs, and wait for the last ones."""
    seconds, ends = 0.0, []
    for _ in range(shape.times):
        began = time.time()
        loops = [Loop.objects.create(runs=shape.runs).pk for _ in range(shape.loops)]
        for loop in loops:
            turn.delay(loop, 1, shape.runs)
        while Loop.objects.filter(pk__in=loops, ended_at=None).exists():
            time.sleep(LOOK_SECONDS)
        for loop in loops:
            found = Run.objects.filter(loop=loop).order_by("number").values_list("ended_at", flat=True)
            ends.append([end.timestamp() for end in found if end is not None])
        seconds += max(loop[-1] for loop in ends[-shape.loops :]) - began
    return measured(seconds, ends)


if __name__ == "__main__":
    with connection.schema_editor() as editor:
        editor.create_model(Loop)
        editor.create_model(Run)
    running = worker(*sys.argv[1:3])
    try:
        answer(carry_out)
    finally:
        running.terminate()
        running.wait(15)
