"""The dashboard: what ended since the reader last looked, what runs, what needs a look, agents and spend."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.pages import member_page
from accounts.services import looked_now
from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import visible_agents
from executions.charts import spend_chart
from executions.models import Execution
from executions.queries import in_flight_count, visible_executions
from executions.timeline import Span, timeline
from loops.attention import concerns
from loops.board import slim, title_of
from loops.models import IS_ACTIVE, Loop
from loops.pages.cards import base_url_of, cards_of, shown_of
from loops.pages.opened import stopped_by
from loops.queries import visible_loops
from loops.sentences import why_ended
from loops.words import loop_words
from trinity.kernel import clock
from trinity.kernel.money import dollars_text
from trinity.kernel.vocabulary import Tone

FIRST_LOOK = dt.timedelta(hours=24)  # how far back somebody sees who never looked
MOST_ENDED, MOST_ACTIVE, MOST_AGENTS = 40, 40, 60
SPEND_DAYS = 14
_WORST_FIRST = [Tone.BAD, Tone.WARN, Tone.NEUTRAL, Tone.OK]


@dataclass(frozen=True, slots=True)
class EndedLoop:
    """One line of "Since you last looked"."""

    id: str
    agent_name: str
    title: str
    badge: str
    tone: Tone
    why: str
    cost: str
    commits: int
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """One line of the agents."""

    name: str
    status: str
    running: bool
    slots_used: int
    slots: int
    active_loops: int


@require_GET
@member_page
def dashboard(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What somebody reads first in the morning."""
    return render(request, "loops/dashboard.html", _board(request, viewer))


@require_GET
@member_page
def board(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The same without its frame."""
    return render(request, "loops/_board.html", _board(request, viewer))


@require_POST
@member_page
def seen(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The reader has looked; what ends from now on is new."""
    assert viewer.user is not None  # noqa: S101 — a page's viewer is a person
    looked_now(viewer.user)
    return redirect("dashboard")


def _board(request: HttpRequest, viewer: Viewer) -> dict[str, Any]:
    now = clock.now()
    assert viewer.user is not None  # noqa: S101 — a page's viewer is a person
    since = viewer.user.last_looked_at or now - FIRST_LOOK
    ended = _ended(visible_loops(viewer), since)
    executions = visible_executions(viewer)
    active = list(slim(visible_loops(viewer).filter(IS_ACTIVE))[:MOST_ACTIVE])
    days = timeline(executions, now, Span.DAY, SPEND_DAYS)
    return {
        "place": "dashboard",
        "since": since,
        "first_look": viewer.user.last_looked_at is None,
        "ended": _lines(ended),
        "concerns": concerns(ended, executions, since=since, now=now),
        "cards": cards_of(viewer, active, shown_of(request), now=now, base_url=base_url_of(request)),
        "named": True,
        "agents": _agents(viewer),
        "spend_chart": spend_chart(days, Span.DAY),
        "spent_today": dollars_text(days[-1].spent_nano),
        "span": Span.DAY,
    }


def _ended(loops: QuerySet[Loop], since: dt.datetime) -> list[Loop]:
    """Loops that ended since then, worst first, the latest first among alike."""
    newest = slim(loops.filter(completed_at__gt=since)).order_by("-completed_at", "-id")[:MOST_ENDED]
    return sorted(newest, key=lambda loop: _WORST_FIRST.index(loop_words(loop.status, loop.stop_reason).tone))


def _lines(ended: list[Loop]) -> list[EndedLoop]:
    commits = dict(
        Execution.objects.filter(loop_id__in=[loop.pk for loop in ended])
        .order_by()
        .values_list("loop_id")
        .annotate(commits=Sum("commits"))
    )
    return [_line(loop, commits.get(loop.pk) or 0) for loop in ended]


def _line(loop: Loop, commits: int) -> EndedLoop:
    words = loop_words(loop.status, loop.stop_reason)
    return EndedLoop(
        id=loop.pk,
        agent_name=loop.agent.name,
        title=title_of(loop),
        badge=words.badge,
        tone=words.tone,
        why=why_ended(loop, stopped_by(loop)),
        cost=dollars_text(loop.spent_nano or None),
        commits=commits,
        ended_at=loop.completed_at,
    )


def _agents(viewer: Viewer) -> list[ListedAgent]:
    agents = list(visible_agents(viewer).annotate(in_flight=in_flight_count()).order_by("name")[:MOST_AGENTS])
    active = dict(
        Loop.objects.filter(IS_ACTIVE, agent__in=agents).order_by().values_list("agent").annotate(count=Count("pk"))
    )
    return [_listed(agent, active.get(agent.pk, 0)) for agent in agents]


def _listed(agent: Agent, active_loops: int) -> ListedAgent:
    return ListedAgent(
        name=agent.name,
        status=str(agent.status),
        running=agent.running,
        slots_used=agent.in_flight,  # type: ignore[attr-defined]
        slots=agent.max_parallel_tasks,
        active_loops=active_loops,
    )
