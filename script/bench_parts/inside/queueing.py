"""Starts loops by the service and leaves them to the workers; `queueing LOOPS RUNS`."""

import sys

import django

django.setup()

from accounts.models import User  # noqa: E402 - Django has to be set up first
from accounts.viewers import Viewer  # noqa: E402
from agents.models import Agent  # noqa: E402
from loops.parameters import read_parameters  # noqa: E402
from loops.services import start_loop  # noqa: E402


def main() -> None:
    loops, runs = map(int, sys.argv[1:3])
    viewer = Viewer(user=User.objects.get(username="admin"))
    agents = list(Agent.objects.filter(name__startswith="bench-"))
    asked = read_parameters({"message": "This is run {{run}}.", "max_runs": runs})
    for number in range(loops):
        start_loop(viewer, agents[number % len(agents)], asked)


if __name__ == "__main__":
    main()
