"""The inside of an opened loop: plain values for the template, from what `board` has read; makes no query."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from executions.calls import ShownCall, shown_calls
from executions.detail import Said, said, work_text
from executions.models import Execution, Verdict
from executions.trajectory import steps_of
from executions.vocabulary import TONES, ExecutionStatus
from loops.bars import Bar, bars_of
from loops.board import Insides, run_before
from loops.changes import Changes, changes_between
from loops.models import Loop
from loops.pages.again import curl_of, parameter_words
from loops.pages.shown import Shown
from loops.presenting import refused_tools
from loops.sentences import Line, doing_now, why_ended
from loops.standing import Standing
from loops.strip import Stretch, Strip, strip_of
from trinity.kernel.money import dollars_text
from trinity.kernel.vocabulary import Tone

FIRST_RUNS = 10
FIRST_CALLS = 50


@dataclass(frozen=True, slots=True)
class RunDetail:
    """What a click on a run shows."""

    said: Said
    whole_query: str
    changes: Changes | None
    before: int  # the number of the run it is compared with
    calls: list[ShownCall]
    calls_left: int
    error: str
    notes: list[str]


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of the table of runs."""

    number: int
    execution_id: str
    badge: str
    tone: Tone
    cost: str
    estimated: bool
    duration_ms: int | None
    since: dt.datetime | None
    verdicts: list[tuple[str, bool]]  # summary, and whether it deserves a look
    calls: int  # of tools
    work: str  # commits and lines
    refused_tools: str
    notes: int
    preview: str
    preview_is_error: bool
    toggle: str
    detail: RunDetail | None


@dataclass(frozen=True, slots=True)
class Inside:
    """Everything below the row."""

    ended: bool
    why: str
    now: Line | None
    bars: list[Bar]
    strip: Strip | None
    runs: list[RunRow]
    has_work: bool  # whether the workspace's git said something of any run
    has_calls: bool
    refused_tools: str
    runs_hidden: int
    runs_total: int
    all_toggle: str
    all_shown: bool
    said: Said | None
    message: str
    started_by: str
    parameters: list[tuple[str, str]]
    curl: str


def inside_of(
    loop: Loop, found: Insides, standing: Standing, shown: Shown, *, now: dt.datetime, base_url: str
) -> Inside:
    """The inside of one loop, as open as `shown` says."""
    runs = found.runs[loop.pk]
    all_shown = loop.pk in shown.all
    listed = list(reversed(runs)) if all_shown else list(reversed(runs[-FIRST_RUNS:]))
    opened_beyond = [one for one in runs[: -len(listed) or None] if one.pk in shown.run] if not all_shown else []
    return Inside(
        ended=loop.ended,
        why=why_ended(loop, stopped_by(loop)) if loop.ended else "",
        now=None if loop.ended else doing_now(loop, standing),
        bars=bars_of(loop, now),
        strip=strip_of([_stretch(one) for one in runs if one.started_at], now),
        runs=[_run_row(one, runs, found, standing, shown) for one in [*listed, *opened_beyond]],
        has_work=any(work_text(one) for one in runs),
        has_calls=any(one.tool_calls for one in runs),
        refused_tools=_refused(runs),
        runs_hidden=len(runs) - len(listed),
        runs_total=len(runs),
        all_toggle=shown.toggled("all", loop.pk).query(),
        all_shown=all_shown and len(runs) > FIRST_RUNS,
        said=said(loop.last_response, whole=False) if loop.last_response is not None else None,
        message=loop.message,
        started_by=_starter(loop),
        parameters=parameter_words(loop),
        curl=curl_of(loop, base_url),
    )


def stopped_by(loop: Loop) -> str:
    """Who asked it to stop, by name."""
    if loop.stop_requested_by is not None:
        return loop.stop_requested_by.display_name
    return f"the agent {loop.stop_requested_by_agent.name}" if loop.stop_requested_by_agent is not None else ""


def verdict_words(verdicts: Sequence[Verdict]) -> list[tuple[str, bool]]:
    """Each verdict's summary, and whether it deserves a look: it failed, or the grader itself did."""
    return [(one.summary, one.error or one.passed is False) for one in verdicts]


def _starter(loop: Loop) -> str:
    if loop.source_agent is not None:
        return f"the agent {loop.source_agent.name}"
    return loop.started_by.display_name if loop.started_by is not None else ""


def _stretch(execution: Execution) -> Stretch:
    assert execution.started_at is not None  # noqa: S101 — only runs that began are placed
    status = ExecutionStatus(execution.status)
    return Stretch(execution.run_number or 0, status, execution.started_at, execution.ended_at)


def _refused(runs: Sequence[Execution]) -> str:
    """ "Bash in 3 runs, Write in 1 run": a refused tool looks like success in each of them."""
    counts = refused_tools(runs).items()
    return ", ".join(f"{tool} in {count} run{'' if count == 1 else 's'}" for tool, count in counts)


def _run_row(
    execution: Execution, runs: Sequence[Execution], found: Insides, standing: Standing, shown: Shown
) -> RunRow:
    status = ExecutionStatus(execution.status)
    error = execution.error_start  # type: ignore[attr-defined]
    reply = execution.preview  # type: ignore[attr-defined]
    waits = standing.wait.words if standing.wait is not None and execution.waiting else ""
    return RunRow(
        number=execution.run_number or 0,
        execution_id=execution.pk,
        badge=str(status).replace("_", " "),
        tone=TONES[status],
        cost=dollars_text(execution.cost_nano),
        estimated=execution.cost_estimated,
        duration_ms=execution.duration_ms,
        since=execution.started_at if execution.in_flight else None,
        verdicts=verdict_words(found.verdicts[execution.pk]),
        calls=execution.tool_calls,
        work=work_text(execution),
        refused_tools=", ".join(execution.permission_denials),
        notes=len(execution.notes),
        preview=" ".join((error or reply or execution.activity or waits).split()),
        preview_is_error=bool(error),
        toggle=shown.toggled("run", execution.pk).query(),
        detail=_detail(execution, runs, found, shown) if execution.pk in shown.run else None,
    )


def _detail(execution: Execution, runs: Sequence[Execution], found: Insides, shown: Shown) -> RunDetail:
    reply = found.replies.get(execution.pk, "")
    before = run_before(execution, runs)
    row = found.trajectories.get(execution.pk)
    steps = steps_of(row) if row is not None else []
    calls = shown_calls(steps, FIRST_CALLS)
    return RunDetail(
        said=said(reply, whole=execution.pk in shown.whole),
        whole_query=shown.toggled("whole", execution.pk).query(),
        changes=changes_between(found.replies.get(before.pk, ""), reply) if before is not None and reply else None,
        before=(before.run_number or 0) if before is not None else 0,
        calls=calls,
        calls_left=max(0, execution.tool_calls - len(calls)),
        error=execution.error_start,  # type: ignore[attr-defined]
        notes=list(execution.notes),
    )
