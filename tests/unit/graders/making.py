"""Makes trajectories and verdicts for the tests of graders, in few words."""

import json
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from graders.grading import grade
from graders.importers.opening import open_trajectory
from graders.trajectory import Call, Step, Trajectory

DATA = Path(__file__).parents[2] / "data"
FIXTURES = DATA / "fixtures"

MAKE = {"tool": "bash", "args": {"command": "make"}, "result": "error 2", "error": True}
LIST = {"tool": "bash", "args": {"command": "ls"}, "result": "a.txt"}
READ = {"tool": "read_file", "args": {"path": "x.py"}, "result": "1"}
EDIT = {"tool": "edit", "args": {"path": "a.py"}, "result": "ok"}


def own(*steps: Any, **members: Any) -> dict[str, Any]:
    """Our own JSON of these steps; a call that stands alone is a step of one."""
    return {
        "format": "trinity-trajectory/1",
        "steps": [[step] if isinstance(step, dict) and "tool" in step else step for step in steps],
        "end_reason": "completed",
        **members,
    }


def verdict(trajectory: Any, retries: int = 0, **config: Any) -> dict[str, Any]:
    """The one result of loop-outcome with that limit."""
    [result] = grade([loop_outcome(retries, **config)], trajectory)["results"]
    return result


def details(trajectory: Any, retries: int = 0, **config: Any) -> dict[str, Any]:
    return verdict(trajectory, retries, **config)["details"]


def retries(*steps: Any, **config: Any) -> int:
    """The most retries in a row that loop-outcome finds."""
    return details(own(*steps), **config)["retries"]


def loop_outcome(limit: int = 3, **config: Any) -> dict[str, Any]:
    return {"type": "loop-outcome", "config": {"max_acceptable_retries": limit, **config}}


def opened(content: str | bytes) -> Trajectory:
    """The trajectory in a file of that content."""
    return open_trajectory(BytesIO(content.encode() if isinstance(content, str) else content))


def steps_in(content: str | bytes) -> list[Step]:
    return list(opened(content).steps)


def jsonl(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def tools_of(steps: Iterable[Step]) -> list[list[str]]:
    return [[call.tool for call in step.calls] for step in steps]


def recorded(name: str) -> tuple[list[Step], Trajectory]:
    """The steps of a recorded file, and the trajectory that was walked for them."""
    trajectory = opened((FIXTURES / name).read_bytes())
    return list(trajectory.steps), trajectory


def calls_of(steps: Iterable[Step]) -> list[Call]:
    return [call for step in steps for call in step.calls]
