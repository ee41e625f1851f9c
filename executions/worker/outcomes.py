"""Turns what a runner left in its spool folder into an outcome; starts, kills and stores nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.runtimes.base import Ending, ErrorKind, Outcome, Printed
from agents.runtimes.isolation import MEBIBYTE, isolation_of
from agents.runtimes.registry import runtime
from executions.models import Execution
from executions.runner.outcome import RunnerOutcome
from executions.runner.vocabulary import EndedBy
from executions.worker.calls import call_of
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
        call=call_of(execution),
        ended_at=left.ended_at,
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
    if left.limit is not None:
        outcome = replace(outcome, **_over_its_limit(execution, left.limit), away=None)
    git = left.git
    return replace(
        outcome,
        duration_ms=round(left.duration_seconds * 1000),
        commits=git.commits if git else None,
        lines_added=git.added if git else None,
        lines_removed=git.removed if git else None,
    )


def _over_its_limit(execution: Execution, limit: str) -> dict[str, Any]:
    """A run that the runner ended for what it took; what it said before is kept."""
    wanted = isolation_of(execution.agent.runtime_settings)
    if limit == EndedBy.MEMORY:
        kind = ErrorKind.MEMORY_LIMIT
        what = f"the agent's processes held more than {wanted.memory_bytes // MEBIBYTE:,} MiB of memory together"
        remedy = "Give it a smaller task, or raise `memory_mb` in the agent's `isolation`."
    else:
        kind = ErrorKind.PROCESS_LIMIT
        what = f"the agent had more than {wanted.processes:,} processes at once"
        remedy = "Give it a smaller task, or raise `processes` in the agent's `isolation`."
    return {"ending": Ending.FAILED, "error_kind": kind, "error": f"The run was ended: {what}. {remedy}"}


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


def broken(error: Exception) -> Outcome:
    """Trinity itself failed; the log says more than a person needs to read."""
    return Outcome(
        Ending.FAILED,
        error_kind=ErrorKind.BROKEN,
        error=f"Trinity could not carry this run out ({type(error).__name__}); its log says more.",
    )


def _said_so_far(folder: Path) -> str:
    try:
        with (folder / "stdout").open("rb") as file:
            printed = file.read(SAID_SO_FAR * 4)
    except OSError:
        return ""
    return clean(printed.decode("utf-8", "replace"), SAID_SO_FAR)
