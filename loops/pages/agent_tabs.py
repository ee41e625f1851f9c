"""The tabs of an agent's page besides Loops: Overview, Executions and Settings; thin doors."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from accounts.pages import member_page
from accounts.viewers import Viewer
from agents.forms import AgentForm, agent_form
from agents.models import Agent
from agents.pages import settings_of
from agents.queries import agent_for
from agents.services import change_agent
from executions.charts import executions_chart, spend_chart
from executions.listing import listing
from executions.models import Execution
from executions.timeline import Span, timeline
from loops.board import slim
from loops.models import IS_ACTIVE, Loop
from loops.pages.agent import agent_head_of
from loops.pages.cards import base_url_of, cards_of, shown_of
from trinity.kernel import clock
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

MOST_ACTIVE = 20


@require_GET
@member_page
def overview_tab(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """What the agent has done, by category, and what it cost; its active loops on top."""
    return _overview(request, viewer, name, "agents/overview.html")


@require_GET
@member_page
def overview(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The same without its frame."""
    return _overview(request, viewer, name, "agents/_overview.html")


def _overview(request: HttpRequest, viewer: Viewer, name: str, template: str) -> HttpResponse:
    agent = agent_for(viewer, name, archived=True)
    now = clock.now()
    span = Span.DAY if request.GET.get("span") == Span.DAY else Span.HOUR
    buckets = timeline(Execution.objects.filter(agent=agent), now, span)
    active = list(slim(Loop.objects.filter(IS_ACTIVE, agent=agent))[:MOST_ACTIVE])
    context = {
        "agent": agent_head_of(viewer, agent),
        "tab": "overview",
        "span": span,
        "executions_chart": executions_chart(buckets, span),
        "spend_chart": spend_chart(buckets, span),
        "cards": cards_of(viewer, active, shown_of(request), now=now, base_url=base_url_of(request)),
    }
    return render(request, template, context)


@require_GET
@member_page
def executions_tab(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The agent's executions, filtered by the address."""
    return _executions(request, viewer, name, "agents/executions.html")


@require_GET
@member_page
def executions_rows(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The list alone."""
    return _executions(request, viewer, name, "executions/_rows.html")


def _executions(request: HttpRequest, viewer: Viewer, name: str, template: str) -> HttpResponse:
    agent = agent_for(viewer, name, archived=True)
    found = listing(viewer, request.GET, agent=agent)
    context = {
        "agent": agent_head_of(viewer, agent),
        "tab": "executions",
        "listing": found,
        "query": request.GET.urlencode(),
        "rows_url": reverse("agent-execution-rows", args=[agent.name]),
    }
    return render(request, template, context, status=200 if found.valid else 400)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def settings_tab(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """How it is called and who may use it; its owner changes limits here."""
    if request.method != "POST":
        agent = agent_for(viewer, name, archived=True)
        return _settings(request, viewer, agent, agent_form(agent))
    agent = agent_for(viewer, name)
    form = AgentForm(request.POST)
    try:
        change_agent(viewer, agent, form.given())
    except Refused as refusal:
        if refusal.code is RefusalCode.FORBIDDEN:
            raise
        form.refuse(refusal)
        return _settings(request, viewer, agent, form, status=400)
    messages.success(request, "Saved.")
    return redirect("agent-settings", name=agent.name)


@require_GET
@member_page
def settings(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """What the tab shows beside its form."""
    return render(request, "agents/_settings.html", _shown(viewer, agent_for(viewer, name, archived=True)))


@require_GET
@member_page
def settings_form(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The form with what is set now: whoever saves an old page must not undo what somebody else has set since."""
    agent = agent_for(viewer, name, archived=True)
    context = {"agent": agent_head_of(viewer, agent), "form": agent_form(agent)}
    return render(request, "agents/_change.html", context)


def _settings(
    request: HttpRequest, viewer: Viewer, agent: Agent, form: AgentForm, *, status: int = 200
) -> HttpResponse:
    context = {**_shown(viewer, agent), "tab": "settings", "form": form}
    return render(request, "agents/settings.html", context, status=status)


def _shown(viewer: Viewer, agent: Agent) -> dict[str, Any]:
    return {"agent": agent_head_of(viewer, agent), "settings": settings_of(viewer, agent)}
