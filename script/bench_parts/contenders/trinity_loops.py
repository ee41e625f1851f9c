"""Trinity as it is used: loops started by its service (or REST, embedded), carried out by its own workers.

`trinity_loops service|rest [PROGRAM ARGUMENT …]`: it starts loops, waits, and reads the rows that the workers wrote; it
carries nothing out itself.
"""

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

from bench_parts.protocol import REPLY, Measured, Shape, answer, measured

django.setup()

from django.conf import settings  # noqa: E402 - Django has to be set up before its models can be read
from django.db.models import Max  # noqa: E402

from accounts.models import User  # noqa: E402
from accounts.viewers import Viewer  # noqa: E402
from agents.models import Agent  # noqa: E402
from agents.services import create_agent  # noqa: E402
from executions.models import Execution  # noqa: E402
from executions.vocabulary import ExecutionStatus  # noqa: E402
from loops.models import Loop  # noqa: E402
from loops.parameters import read_parameters  # noqa: E402
from loops.services import start_loop  # noqa: E402

AGENTS, SLOTS = 10, 5
LOOK_SECONDS = 0.05
Start = Callable[[Agent, int], str]


def make_agents(viewer: Viewer, runtime: str, settings: dict[str, Any]) -> list[Agent]:
    """The agents that loops are spread over."""
    given = {"runtime": runtime, "runtime_settings": settings, "max_parallel_tasks": SLOTS}
    return [create_agent(viewer, {**given, "name": f"bench-{number}"}) for number in range(AGENTS)]


def scripted() -> tuple[str, dict[str, Any]]:
    """A runtime whose every reply is another one, so that all guardrails can stay on."""
    return "scripted", {"replies": [{"response": f"{number}. {REPLY}"} for number in range(1, 101)]}


def asked(runs: int) -> dict[str, Any]:
    """The parameters of a loop."""
    return {"message": "This is run {{run}}. The last reply was: {{previous_response}}", "max_runs": runs}


def by_service(viewer: Viewer) -> Start:
    """Start a loop here; the workers are told by message."""

    def start(agent: Agent, runs: int) -> str:
        return start_loop(viewer, agent, read_parameters(asked(runs))).pk

    return start


def by_rest() -> Start:
    """Start a loop as a caller from outside does."""
    key = (Path(settings.TRINITY_HOME) / "admin-api-key").read_text(encoding="ascii").strip()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def start(agent: Agent, runs: int) -> str:
        url = f"http://127.0.0.1:{settings.PORT}/api/agents/{agent.name}/loops"
        request = urllib.request.Request(url, json.dumps(asked(runs)).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
            return str(json.load(reply)["loop_id"])

    return start


def carry_out(agents: list[Agent], start: Start, shape: Shape) -> Measured:
    """Start the loops, spread over the agents, and wait until all have ended."""
    seconds, ends = 0.0, []
    for _ in range(shape.times):
        began = time.time()
        loops = [start(agents[number % len(agents)], shape.runs) for number in range(shape.loops)]
        while Loop.objects.filter(pk__in=loops, completed_at=None).exists():
            time.sleep(LOOK_SECONDS)
        last = Loop.objects.filter(pk__in=loops).aggregate(last=Max("completed_at"))["last"]
        seconds += last.timestamp() - began
        ends += [_ends(loop, shape.runs) for loop in loops]
    return measured(seconds, ends)


def _ends(loop: str, runs: int) -> list[float]:
    """When its runs ended; a loop that did not do all its work is no measure."""
    found = Execution.objects.filter(loop_id=loop, status=ExecutionStatus.COMPLETED).order_by("run_number")
    ends = [end.timestamp() for end in found.values_list("ended_at", flat=True) if end]
    if len(ends) != runs:
        raise SystemExit(f"{loop} ended after {len(ends)} of {runs} runs")
    return ends


def main() -> None:
    admin = Viewer(user=User.objects.get(username="admin"))
    argv = sys.argv[2:]  # of a real program; else agents are scripted
    agents = make_agents(admin, *(("command", {"argv": argv, "output": "text"}) if argv else scripted()))
    start = by_rest() if sys.argv[1:2] == ["rest"] else by_service(admin)
    answer(lambda shape: carry_out(agents, start, shape))


if __name__ == "__main__":
    main()
