"""Reads the outcome that a runner wrote; believes nothing that is not whole and of the right kind."""

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executions.runner import folder as files
from trinity.kernel.errors import Broken


class OutcomeDamaged(Broken):
    """There is no outcome, or not one that a runner wrote whole."""


@dataclass(frozen=True, slots=True)
class GitChange:
    """What came into the workspace's HEAD during a run; None where git did not say in time."""

    commits: int | None
    added: int | None  # lines
    removed: int | None


@dataclass(frozen=True, slots=True)
class RunnerOutcome:
    """What a runner knows of its ended run; all of it mechanical, nothing of what the agent meant."""

    started_at: dt.datetime
    ended_at: dt.datetime
    duration_seconds: float  # of the monotonic clock, to the end of the whole tree
    start_error: str | None  # the program never ran: a sentence for a person
    agent_pid: int | None
    exit_code: int | None
    signal: int | None  # both None: it never ran, or could not be ended
    timed_out: bool
    terminated: bool  # somebody asked the runner to end it
    hung: bool  # its final object stood there, and it had to be ended
    limit: str | None  # "memory" or "processes", when it was ended for taking more than it may
    stdout_bytes: int  # printed, whether kept or not
    truncated_bytes: int  # of them cut out of the middle
    stderr_bytes: int
    stderr_truncated_bytes: int
    spool_error: str | None  # errno name when not all could be written, such as ENOSPC
    leftovers_killed: int  # descendants that were still there
    leftovers_alive: int  # and that outlived KILL
    cpu_seconds: float
    max_rss_bytes: int  # of the largest descendant
    git: GitChange | None


def read_outcome(path: Path) -> RunnerOutcome:
    """The outcome at `path`. Raises OutcomeDamaged, naming the first thing that does not hold."""
    try:
        with path.open("rb") as file:
            facts = json.loads(_bounded(file.read(files.OUTCOME_BYTES + 1)))
    except (OSError, ValueError, RecursionError) as error:
        raise OutcomeDamaged(f"{path} cannot be read: {error}") from error
    if not isinstance(facts, dict):
        raise OutcomeDamaged(f"{path} is no JSON object.")
    try:
        return _outcome(facts)
    except _WrongKind as wrong:
        raise OutcomeDamaged(f"{path}: {wrong} is missing or of a wrong kind.") from wrong


def _bounded(text: bytes) -> bytes:
    if len(text) > files.OUTCOME_BYTES:
        raise ValueError(f"it is longer than {files.OUTCOME_BYTES} bytes")
    return text


class _WrongKind(Exception):
    """`str()` is the name of the fact."""


def _outcome(facts: Mapping[str, Any]) -> RunnerOutcome:
    return RunnerOutcome(
        started_at=_time(facts, "started_at"),
        ended_at=_time(facts, "ended_at"),
        duration_seconds=_number(facts, "duration_seconds"),
        start_error=_text(facts, "start_error"),
        agent_pid=_integer(facts, "agent_pid"),
        exit_code=_integer(facts, "exit_code"),
        signal=_integer(facts, "signal"),
        timed_out=_flag(facts, "timed_out"),
        terminated=_flag(facts, "terminated"),
        hung=_flag(facts, "hung"),
        limit=_text({"limit": None, **facts}, "limit"),  # an earlier release's runner, still under way, writes none
        stdout_bytes=_count(facts, "stdout_bytes"),
        truncated_bytes=_count(facts, "truncated_bytes"),
        stderr_bytes=_count(facts, "stderr_bytes"),
        stderr_truncated_bytes=_count(facts, "stderr_truncated_bytes"),
        spool_error=_text(facts, "spool_error"),
        leftovers_killed=_count(facts, "leftovers_killed"),
        leftovers_alive=_count(facts, "leftovers_alive"),
        cpu_seconds=_number(facts, "cpu_seconds"),
        max_rss_bytes=_count(facts, "max_rss_bytes"),
        git=_git_change(facts),
    )


def _git_change(facts: Mapping[str, Any]) -> GitChange | None:
    change = _of_kind(facts, "git", dict, type(None))
    if change is None:
        return None
    return GitChange(*(_integer(change, name) for name in ("commits", "added", "removed")))


def _of_kind(facts: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """The fact `name`; type and not isinstance, for JSON's true is no number."""
    if name not in facts or type(facts[name]) not in kinds:
        raise _WrongKind(name)
    return facts[name]


def _flag(facts: Mapping[str, Any], name: str) -> bool:
    return bool(_of_kind(facts, name, bool))


def _text(facts: Mapping[str, Any], name: str) -> str | None:
    text: str | None = _of_kind(facts, name, str, type(None))
    return text


def _integer(facts: Mapping[str, Any], name: str) -> int | None:
    number: int | None = _of_kind(facts, name, int, type(None))
    return number


def _count(facts: Mapping[str, Any], name: str) -> int:
    return int(_of_kind(facts, name, int))


def _number(facts: Mapping[str, Any], name: str) -> float:
    number = float(_of_kind(facts, name, int, float))
    if not math.isfinite(number):
        raise _WrongKind(name)
    return number


def _time(facts: Mapping[str, Any], name: str) -> dt.datetime:
    try:
        return dt.datetime.fromtimestamp(_number(facts, name), dt.UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise _WrongKind(name) from error
