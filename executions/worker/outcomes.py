"""Turns what a runner left in its spool folder into an outcome; starts, kills and stores nothing."""

from dataclasses import replace
from pathlib import Path

from agents.runtimes.base import Ending, ErrorKind, Outcome, Printed
from agents.runtimes.registry import runtime
from executions.models import Execution
from executions.runner.state import RunnerOutcome
from trinity.kernel.text import clean

SAID_SO_FAR = 20_000  # characters of a lost run's output that are kept


def finished(execution: Execution, folder: Path, left: RunnerOutcome) -> Outcome:
    """The outcome of a run whose runner wrote its end."""
    agent = execution.agent
    printed = Printed(
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        exit_code=left.exit_code,
        signal=left.signal,
        timed_out=left.timed_out,
        terminated=left.terminated,
        hung=left.hung,
        start_error=left.start_error,
        spool_error=left.spool_error,
        truncated_bytes=left.truncated_bytes,
        timeout_seconds=execution.timeout_seconds,
    )
    outcome = runtime(agent.runtime).read(printed, agent.runtime_settings)
    if left.terminated and execution.abandon_requested_at is not None:
        outcome = replace(
            outcome,
            ending=Ending.FAILED,
            error_kind=ErrorKind.ABANDONED,
            error="The run was abandoned: its process and everything that it had started were ended.",
            away=None,
        )
    outcome = replace(outcome, duration_ms=left.duration_ms)
    if left.git is not None:
        outcome = replace(outcome, commits=left.git.commits, lines_added=left.git.added, lines_removed=left.git.removed)
    return outcome


def lost(folder: Path | None, why: str) -> Outcome:
    """Both worker and runner are gone and left no outcome: with what was printed so far (section 3)."""
    return Outcome(
        Ending.FAILED,
        response=_said_so_far(folder) if folder else "",
        error_kind=ErrorKind.LOST,
        error=f"The run was lost: {why} It was not started again, since nobody can tell how far it came.",
    )


def not_started(why: str, kind: ErrorKind = ErrorKind.NOT_STARTED) -> Outcome:
    """Nothing ran; the sentence says what is missing."""
    return Outcome(Ending.FAILED, error_kind=kind, error=why)


def _said_so_far(folder: Path) -> str:
    try:
        with (folder / "stdout").open("rb") as file:
            printed = file.read(SAID_SO_FAR * 4)
    except OSError:
        return ""
    return clean(printed.decode("utf-8", "replace"), SAID_SO_FAR)
