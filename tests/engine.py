"""Short words for tests that drive the engine: workers, outcomes, loops; knows no rule."""

import datetime as dt
from typing import Any

from accounts.viewers import Viewer
from agents.runtimes.base import Away, Ending, ErrorKind, Outcome
from executions.models import Execution
from executions.services import Claimant, queue_execution
from executions.step import agent_step
from executions.vocabulary import Trigger
from loops.models import Loop
from loops.parameters import read_parameters
from loops.services import start_loop
from trinity.kernel.money import to_nano

WORKER = Claimant(worker="w1", host="h1", spool_id="s1", place="default", lease_seconds=30)
OTHER_WORKER = Claimant(worker="w2", host="h2", spool_id="s1", place="default", lease_seconds=30)


def start(agent: Any, viewer: Viewer, **asked: Any) -> Loop:
    """A loop that would run ten times, replies being equal or not, unless the test asks otherwise."""
    return start_loop(
        viewer, agent, read_parameters({"message": "Go", "max_runs": 10, "no_progress_threshold": 0, **asked})
    )


def queue_chat(agent: Any, prompt: str = "Hello") -> Execution:
    """An execution of another trigger, which no app was told of."""
    with agent_step(agent.pk) as step:
        return queue_execution(step, trigger=Trigger.CHAT, prompt=prompt, timeout_seconds=60)


def success(response: str = "done", dollars: object = None) -> Outcome:
    return Outcome(Ending.COMPLETED, response=response, cost_nano=to_nano(dollars))


def failure(error: str = "no network", dollars: object = None) -> Outcome:
    return Outcome(Ending.FAILED, error_kind=ErrorKind.AGENT_ERROR, error=error, cost_nano=to_nano(dollars))


def timeout() -> Outcome:
    return Outcome(Ending.TIMED_OUT, error_kind=ErrorKind.TIMEOUT, error="It took longer than 60 s.")


def lost(said_so_far: str = "") -> Outcome:
    return Outcome(Ending.FAILED, response=said_so_far, error_kind=ErrorKind.LOST, error="The run was lost.")


def model_away(until: dt.datetime | None = None, dollars: object = None) -> Outcome:
    return Outcome(
        Ending.FAILED,
        error_kind=ErrorKind.RATE_LIMITED,
        error="429 Too Many Requests",
        cost_nano=to_nano(dollars),
        away=Away(ErrorKind.RATE_LIMITED, until),
    )


def again(row: Any) -> Any:
    """The row as the database has it now."""
    return type(row).objects.get(pk=row.pk)
