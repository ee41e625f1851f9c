"""An agent's page: its Loops tab with the form that starts one; the other tabs show what other apps know."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.form_tokens import FORM_TOKEN
from accounts.pages import is_fragment, member_page
from accounts.viewers import Viewer
from agents.models import Agent
from agents.pages import AgentHead, head_of
from agents.queries import agent_for
from executions.slots import slots_used
from loops.board import newest
from loops.foresight import Foresight, foresee
from loops.forms import LoopForm, initial_of
from loops.models import Loop
from loops.pages.cards import base_url_of, cards_of, shown_of
from loops.pages.shown import Shown
from loops.pages.starting import start_once
from loops.pages.wanted import Wanted
from loops.parameters import read_parameters
from loops.queries import loop_for
from trinity.kernel import clock
from trinity.kernel.errors import Refused
from trinity.rest.problems import STATUS_OF

EXAMPLE = {
    "message": "This is run {{run}} of a trial. Say in one sentence what is in your folder, or that it is empty.",
    "max_runs": "3",
}


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def loops_tab(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The tab; a POST starts a loop, and a refusal comes back at its field with all that was typed."""
    agent = agent_for(viewer, name, archived=True)
    shown = shown_of(request)
    if request.method != "POST":
        form = LoopForm(agent=agent, initial=_initial(request, viewer))
        return _tab(request, viewer, agent, form, shown)
    form = LoopForm(request.POST, agent=agent)
    try:
        loop = start_once(viewer, agent, read_parameters(form.given()), request.POST.get(FORM_TOKEN, ""))
    except Refused as refusal:
        form.refuse(refusal)
        return _refused(request, viewer, agent, form, status=STATUS_OF[refusal.code][0])
    return _started(request, viewer, agent, loop, shown)


@require_GET
@member_page
def loop_rows(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The list alone, for a page that is open."""
    agent = agent_for(viewer, name, archived=True)
    return render(request, "loops/_rows.html", _rows(request, viewer, agent, shown_of(request)))


@require_POST
@member_page
def foresight(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """What the form may come to at most, while it is typed."""
    agent = agent_for(viewer, name)
    form = LoopForm(request.POST, agent=agent)
    return render(request, "loops/_foresight.html", {"foresight": _foresight(form, agent)})


@require_GET
@member_page
def agent_head(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The head alone: its status and how many slots are in use."""
    return render(request, "agents/_head.html", {"agent": _known_head(viewer, name)})


@require_GET
@member_page
def form_door(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """Whether a loop may be started, and why not: beside a form that may be half typed and is left alone."""
    return render(request, "loops/_door.html", {"agent": _known_head(viewer, name)})


@require_GET
@member_page
def empty_form(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """The form as it is before anything is typed, for a page that was opened when none could be started."""
    agent = agent_for(viewer, name, archived=True)
    context = _form(LoopForm(agent=agent), agent, opened=False) | {"agent": agent_head_of(viewer, agent)}
    return render(request, "loops/_form.html", context)


def _known_head(viewer: Viewer, name: str) -> AgentHead:
    return agent_head_of(viewer, agent_for(viewer, name, archived=True))


def agent_head_of(viewer: Viewer, agent: Agent) -> AgentHead:
    """The head as every tab shows it."""
    return head_of(viewer, agent, slots_used(agent.pk))


def _initial(request: HttpRequest, viewer: Viewer) -> Any:
    """A loop to run again fills the form."""
    again = request.GET.get("again", "")
    return initial_of(loop_for(viewer, again)) if again else {}


def _tab(
    request: HttpRequest, viewer: Viewer, agent: Agent, form: LoopForm, shown: Shown, *, status: int = 200
) -> HttpResponse:
    context = {
        **_form(form, agent, opened=form.is_bound or bool(form.initial)),
        **_rows(request, viewer, agent, shown),
        "agent": agent_head_of(viewer, agent),
        "tab": "loops",
        "example": EXAMPLE,
    }
    return render(request, "loops/tab.html", context, status=status)


def _refused(request: HttpRequest, viewer: Viewer, agent: Agent, form: LoopForm, *, status: int) -> HttpResponse:
    if is_fragment(request):
        context = _form(form, agent, opened=True) | {"agent": agent_head_of(viewer, agent)}
        return render(request, "loops/_form.html", context, status=status)
    return _tab(request, viewer, agent, form, shown_of(request), status=status)


def _started(request: HttpRequest, viewer: Viewer, agent: Agent, loop: Loop, shown: Shown) -> HttpResponse:
    """The new loop stands open at the top; an open page gets a fresh form and the list."""
    shown = shown.opened(loop.pk)
    if not is_fragment(request):
        return redirect(f"{reverse('agent-loops', args=[agent.name])}{shown.query()}#{loop.pk}")
    context = {
        **_form(LoopForm(agent=agent), agent, opened=False),
        **_rows(request, viewer, agent, shown),
        "agent": agent_head_of(viewer, agent),
        "beside": True,
    }
    return render(request, "loops/_started.html", context)


def _form(form: LoopForm, agent: Agent, *, opened: bool) -> dict[str, Any]:
    return {"form": form, "opened": opened, "foresight": _foresight(form, agent)}


def _foresight(form: LoopForm, agent: Agent) -> Foresight | None:
    asked = form.foreseen()
    return foresee(asked, agent.execution_timeout_seconds) if asked is not None else None


def _rows(request: HttpRequest, viewer: Viewer, agent: Agent, shown: Shown) -> dict[str, Any]:
    wanted = Wanted.of(request.GET)
    loops = newest(Loop.objects.filter(wanted.condition, agent=agent), wanted.limit)
    for loop in loops:
        loop.agent = agent
    cards = cards_of(viewer, loops, shown, now=clock.now(), base_url=base_url_of(request))
    return {
        "cards": cards,
        "name": agent.name,
        "wanted": wanted,
        "more": len(loops) >= wanted.limit and not wanted.older,
        "running": agent.running,
        "example": EXAMPLE,
    }
