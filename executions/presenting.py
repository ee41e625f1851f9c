"""Executions as REST shows them: plain functions from rows to JSON; reads no row by itself."""

from typing import Any

from accounts.presenting import actor_body
from executions.models import Execution, Verdict
from executions.vocabulary import CATEGORY_OF, Trigger
from executions.waiting import Wait
from graders.vocabulary import VerdictStatus
from trinity.kernel.clock import wire_time
from trinity.kernel.money import to_dollars


def called_body(execution: Execution) -> dict[str, Any]:
    """What a call of an agent is answered."""
    return {
        "execution_id": execution.pk,
        "status": str(execution.status),
        "agent_name": execution.agent.name,
    }


def execution_body(execution: Execution, wait: Wait | None) -> dict[str, Any]:
    """An execution without its texts; agent, starter and source agent must be loaded."""
    return {
        "execution_id": execution.pk,
        "agent_name": execution.agent.name,
        "trigger": str(execution.trigger),
        "category": str(CATEGORY_OF[Trigger(execution.trigger)]),
        "loop_id": execution.loop_id or None,
        "run_number": execution.run_number,
        "status": str(execution.status),
        "waiting": wait_body(wait),
        "model": execution.model or None,
        "used_model": execution.used_model or None,
        "allowed_tools": execution.allowed_tools,
        "timeout_seconds": execution.timeout_seconds,
        "error_kind": execution.error_kind or None,
        "error": execution.error or None,
        "cost_usd": to_dollars(execution.cost_nano),
        "cost_estimated": execution.cost_estimated,
        "tokens": {
            "input": execution.input_tokens,
            "output": execution.output_tokens,
            "cache_read": execution.cache_read_tokens,
            "cache_write": execution.cache_write_tokens,
        },
        "notes": execution.notes,
        **work_body(execution),
        "attempt": execution.attempt,
        "duration_ms": execution.duration_ms,
        "queued_at": wire_time(execution.queued_at),
        "started_at": wire_time(execution.started_at),
        "completed_at": wire_time(execution.ended_at),
        "abandon_requested_at": wire_time(execution.abandon_requested_at),
        "started_by": starter_body(execution),
    }


def work_body(execution: Execution) -> dict[str, Any]:
    """What it did or does: its tools, and what the workspace's git says."""
    return {
        "tool_calls": execution.tool_calls,
        "permission_denials": execution.permission_denials,
        "activity": execution.activity or None,
        "commits": execution.commits,
        "lines_added": execution.lines_added,
        "lines_removed": execution.lines_removed,
    }


def execution_row_body(execution: Execution, wait: Wait | None) -> dict[str, Any]:
    """The same for lists, with the beginnings of its texts, annotated as `prompt_begins` and `response_begins`."""
    return execution_body(execution, wait) | {
        "prompt_preview": execution.prompt_begins,  # type: ignore[attr-defined]
        "response_preview": execution.response_begins if execution.ended else None,  # type: ignore[attr-defined]
    }


def execution_detail(execution: Execution, wait: Wait | None) -> dict[str, Any]:
    """Everything of one execution but its trajectory."""
    return execution_body(execution, wait) | {
        "prompt": execution.prompt,
        "response": execution.response if execution.ended else None,
        "verdicts": [verdict_body(verdict) for verdict in execution.verdicts.all()],
    }


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict in a few words, for tables."""
    return {"type": verdict.type, "passed": verdict.passed, "summary": verdict.summary}


def verdict_body(verdict: Verdict) -> dict[str, Any]:
    """What a grader said; `passed` is null when it could not judge."""
    return {
        "type": verdict.type,
        "name": verdict.name or None,
        "status": str(VerdictStatus.ERROR if verdict.error else VerdictStatus.OK),
        "passed": verdict.passed,
        "score": verdict.score,
        "summary": verdict.summary,
        "evidence": verdict.evidence,
        "details": verdict.details,
    }


def wait_body(wait: Wait | None) -> dict[str, Any] | None:
    """Why it has not begun, in a word and for people."""
    if wait is None:
        return None
    return {
        "reason": str(wait.reason),
        "words": wait.words,
        "place_in_line": wait.place_in_line,
        "until": wire_time(wait.until),
        "why": wait.why or None,
        "since": wire_time(wait.since),
    }


def starter_body(execution: Execution) -> dict[str, Any] | None:
    """Who started it."""
    return actor_body(execution.started_by, execution.source_agent.name if execution.source_agent else None)
