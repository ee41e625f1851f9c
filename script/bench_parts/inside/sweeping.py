"""Times passes of a worker's sweep that find nothing due; `sweeping PASSES` prints their milliseconds as JSON."""

import json
import sys
import time
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402 - Django has to be set up first

from executions.worker.carrier import Carrier  # noqa: E402
from executions.worker.sweep import Sweep  # noqa: E402


def main() -> None:
    carrier = Carrier(Path(settings.TRINITY_HOME))
    carrier.start()
    sweep = Sweep(carrier)
    sweep.once()  # to warm up
    taken = []
    for _ in range(int(sys.argv[1])):
        began = time.perf_counter()
        sweep.once()
        taken.append((time.perf_counter() - began) * 1000)
    carrier.stop()
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
