"""Loops as REST, MCP and commands show them: plain functions from rows to JSON; reads no row by itself."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import Any

from accounts.presenting import actor_body
from accounts.viewers import Viewer
from executions.models import Execution
from executions.presenting import verdict_row, wait_body, work_body
from loops.models import Loop, Run
from loops.standing import Standing
from loops.words import loop_words
from trinity.kernel.clock import wire_time
from trinity.kernel.money import to_dollars


def started_body(loop: Loop, agent_name: str) -> dict[str, Any]:
    """What a start is answered (section 2)."""
    return {
        "loop_id": loop.pk,
        "status": str(loop.status),
        "agent_name": agent_name,
        "max_runs": loop.max_runs,
    }


def loop_body(loop: Loop, standing: Standing, viewer: Viewer, now: dt.datetime) -> dict[str, Any]:
    """A loop without its runs and its last response; agent and people must be loaded."""
    return {
        "loop_id": loop.pk,
        "agent_name": loop.agent.name,
        "title": loop.title,
        "status": str(loop.status),
        "stop_reason": loop.stop_reason or None,
        "error": loop.error or None,
        "words": words_body(loop, standing, viewer),
        "version": loop.version,
        **_parameters(loop),
        **_counters(loop),
        "elapsed_seconds": elapsed_seconds(loop, now),
        "current_run": _current_run(standing),
        "waiting": wait_body(standing.wait),
        **_times(loop),
        "started_by": actor_body(loop.started_by, loop.source_agent.name if loop.source_agent else None),
        "stop_requested_by": _stopper(loop),
    }


def loop_detail(
    loop: Loop, runs: Iterable[Run], standing: Standing, viewer: Viewer, now: dt.datetime
) -> dict[str, Any]:
    """Everything of one loop (section 2); runs as `queries.runs_of` gives them."""
    listed = list(runs)
    return loop_body(loop, standing, viewer, now) | {
        "last_response": loop.last_response,
        "refused_tools": refused_tools(run.execution for run in listed),
        "runs": [run_body(run) for run in listed],
    }


def refused_tools(executions: Iterable[Execution]) -> dict[str, int]:
    """Tools that were refused, and in how many of these runs; the most often refused first."""
    counts = Counter(tool for one in executions for tool in one.permission_denials)
    return dict(counts.most_common())


def run_body(run: Run) -> dict[str, Any]:
    """One run; its status is its execution's."""
    execution = run.execution
    return {
        "run_number": run.run_number,
        "execution_id": execution.pk,
        "status": str(execution.status),
        "response_preview": run.preview if execution.ended else None,  # type: ignore[attr-defined]
        "cost_usd": to_dollars(execution.cost_nano),
        "cost_estimated": execution.cost_estimated,
        "duration_ms": execution.duration_ms,
        "error": execution.error or None,
        "error_kind": execution.error_kind or None,
        "notes": execution.notes,
        **work_body(execution),
        "verdicts": [verdict_row(verdict) for verdict in execution.verdicts.all()],
        "started_at": wire_time(execution.started_at),
        "completed_at": wire_time(execution.ended_at),
    }


def words_body(loop: Loop, standing: Standing, viewer: Viewer) -> dict[str, str]:
    """The words of section 2's table for this viewer."""
    words = loop_words(
        loop.status,
        loop.stop_reason,
        stopped_by_viewer=_stopped_by(loop, viewer),
        stopped_by=(_stopper(loop) or {}).get("name", ""),
    )
    return {
        "badge": words.badge,
        "reason": words.reason or standing.words,
        "workspace": words.workspace,
        "tone": str(words.tone),
    }


def elapsed_seconds(loop: Loop, now: dt.datetime) -> float:
    """Seconds since run 1 got its slot, until the end or `now`; 0 before."""
    if loop.started_at is None:
        return 0.0
    return round(max(0.0, ((loop.completed_at or now) - loop.started_at).total_seconds()), 3)


def _parameters(loop: Loop) -> dict[str, Any]:
    return {
        "message": loop.message,
        "max_runs": loop.max_runs,
        "stop_signal": loop.stop_signal or None,
        "delay_seconds": loop.delay_seconds,
        "timeout_per_run": loop.timeout_per_run,
        "max_duration_seconds": loop.max_duration_seconds,
        "no_progress_threshold": loop.no_progress_threshold,
        "max_cost_usd": to_dollars(loop.max_cost_nano),
        "on_failure": str(loop.on_failure),
        "max_consecutive_failures": loop.max_consecutive_failures,
        "model": loop.model or None,
        "allowed_tools": loop.allowed_tools,
    }


def _counters(loop: Loop) -> dict[str, Any]:
    return {
        "runs_completed": loop.runs_completed,
        "failed_runs": loop.failed_runs,
        "consecutive_failures": loop.consecutive_failures,
        "repeat_count": loop.repeat_count,
        "total_cost_usd": to_dollars(loop.spent_nano),
    }


def _times(loop: Loop) -> dict[str, Any]:
    names = ("created_at", "started_at", "completed_at", "deadline_at", "next_run_at", "stop_requested_at")
    return {name: wire_time(getattr(loop, name)) for name in names}


def _current_run(standing: Standing) -> dict[str, Any] | None:
    execution = standing.execution
    if execution is None:
        return None
    return {
        "run_number": execution.run_number,
        "execution_id": execution.pk,
        "status": str(execution.status),
        "started_at": wire_time(execution.started_at),
        "activity": execution.activity or None,
    }


def _stopper(loop: Loop) -> dict[str, Any] | None:
    agent = loop.stop_requested_by_agent
    return actor_body(loop.stop_requested_by, agent.name if agent else None)


def _stopped_by(loop: Loop, viewer: Viewer) -> bool:
    if viewer.user is not None:
        return loop.stop_requested_by_id == viewer.user.pk
    return loop.stop_requested_by_agent_id == viewer.agent_id
