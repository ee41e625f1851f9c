"""One execution as its page shows it: plain values; writes nothing."""

import datetime as dt
from dataclasses import dataclass

from django.utils.safestring import SafeString

from accounts.viewers import Viewer
from agents.queries import owns
from executions import trajectory
from executions.calls import ShownCall, shown_calls
from executions.listing import category_class
from executions.models import Execution, Trajectory, Verdict
from executions.vocabulary import CATEGORY_OF, TONES, ExecutionStatus, Trigger
from executions.waiting import Wait, wait_of
from trinity.kernel import clock
from trinity.kernel.durations import limit_text
from trinity.kernel.money import dollars_text
from trinity.kernel.text import first_line
from trinity.kernel.vocabulary import Tone
from trinity.markdown import markdown_html

FIRST_CHARACTERS = 20_000
FIRST_CALLS = 200


@dataclass(frozen=True, slots=True)
class Said:
    """A text that an agent wrote: as HTML when it is short, as plain text when all of a long one is asked for."""

    html: SafeString | str = ""
    plain: str = ""
    characters: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """One grader's verdict."""

    name: str
    badge: str
    tone: Tone
    summary: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything that the page of an execution shows."""

    id: str
    agent_name: str
    title: str
    badge: str
    tone: Tone
    in_flight: bool
    ended: bool
    wait: str
    category: str
    category_class: str
    loop_id: str
    run_number: int | None
    prompt: str
    said: Said
    error: str
    error_kind: str
    activity: str
    since: dt.datetime | None
    facts: list[tuple[str, str]]
    times: list[tuple[str, dt.datetime]]
    verdicts: list[ShownVerdict]
    calls: list[ShownCall]
    calls_left: int
    has_trajectory: bool
    abandonable: bool
    notes: list[str]


def detail_of(viewer: Viewer, execution: Execution, *, whole: bool) -> Detail:
    """The page of an execution that the viewer may see."""
    status = ExecutionStatus(execution.status)
    category = CATEGORY_OF[Trigger(execution.trigger)]
    wait = wait_of(execution, clock.now())
    row = Trajectory.objects.filter(execution=execution).first()
    calls = shown_calls(trajectory.steps_of(row), FIRST_CALLS) if row is not None else []
    return Detail(
        id=execution.pk,
        agent_name=execution.agent.name,
        title=first_line(execution.prompt) or "untitled",
        badge=str(status).replace("_", " "),
        tone=TONES[status],
        in_flight=execution.in_flight,
        ended=execution.ended,
        wait=wait.words if wait else "",
        category=str(category),
        category_class=category_class(category),
        loop_id=execution.loop_id,
        run_number=execution.run_number,
        prompt=execution.prompt,
        said=said(execution.response, whole=whole),
        error=execution.error,
        error_kind=execution.error_kind.replace("_", " "),
        activity=execution.activity,
        since=execution.started_at if execution.in_flight else None,
        facts=_facts(execution, wait),
        times=_times(execution),
        verdicts=[_verdict(one) for one in Verdict.objects.filter(execution=execution)],
        calls=calls,
        calls_left=max(0, execution.tool_calls - len(calls)),
        has_trajectory=row is not None,
        abandonable=execution.in_flight and owns(viewer, execution.agent) and not execution.abandon_requested_at,
        notes=list(execution.notes),
    )


def said(text: str, *, whole: bool) -> Said:
    """A reply for a page. All of a long one is shown as plain text: markdown of a megabyte costs seconds."""
    cut = len(text) > FIRST_CHARACTERS
    if cut and whole:
        return Said(plain=text, characters=len(text))
    return Said(html=markdown_html(text[:FIRST_CHARACTERS]), characters=len(text), cut=cut)


def work_text(execution: Execution) -> str:
    """What the workspace's git says of a run; empty outside a git workspace or when nothing changed."""
    if execution.commits is None:
        return ""
    parts = [f"{execution.commits} commit{'' if execution.commits == 1 else 's'}"] if execution.commits else []
    if execution.lines_added or execution.lines_removed:
        parts.append(f"+{execution.lines_added or 0} −{execution.lines_removed or 0}")
    return " · ".join(parts)


def _verdict(verdict: Verdict) -> ShownVerdict:
    badge, tone = "passed", Tone.OK
    if verdict.error:
        badge, tone = "grader error", Tone.WARN
    elif verdict.passed is False:
        badge, tone = "failed", Tone.BAD
    return ShownVerdict(verdict.name or verdict.type, badge, tone, verdict.summary, verdict.evidence)


def _facts(execution: Execution, wait: Wait | None) -> list[tuple[str, str]]:
    """What there is to say, in a steady order; what is unknown is left out, but for the cost."""
    cost = dollars_text(execution.cost_nano) + (" (an estimate)" if execution.cost_estimated else "")
    tokens = (("in", execution.input_tokens), ("out", execution.output_tokens), ("cached", execution.cache_read_tokens))
    facts = [
        ("Cost", cost),
        ("Tokens", ", ".join(f"{count:,} {name}" for name, count in tokens if count is not None)),
        ("Model", execution.used_model or execution.model),
        ("Allowed tools", ", ".join(execution.allowed_tools or ())),
        ("Refused tools", ", ".join(execution.permission_denials)),
        ("Workspace", work_text(execution)),
        ("Timeout", limit_text(execution.timeout_seconds)),
        ("Attempt", str(execution.attempt) if execution.attempt > 1 else ""),
        ("The model is away", _away(wait)),
        ("Started by", _starter(execution)),
    ]
    return [(name, value) for name, value in facts if value]


def _away(wait: Wait | None) -> str:
    if wait is None or wait.since is None:
        return ""
    times = "once" if wait.asked == 1 else f"{wait.asked} times"
    return f"{wait.why.replace('_', ' ')}, since {wait.since:%H:%M} UTC; called {times} in vain"


def _starter(execution: Execution) -> str:
    if execution.source_agent is not None:
        return f"the agent {execution.source_agent.name}"
    return execution.started_by.display_name if execution.started_by is not None else ""


def _times(execution: Execution) -> list[tuple[str, dt.datetime]]:
    times = (("Queued", execution.queued_at), ("Started", execution.started_at), ("Ended", execution.ended_at))
    return [(name, at) for name, at in times if at is not None]
