"""The page Add your agent: what is on the machine, the form, and how the check call stands; thin doors for admins."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.pages import member_page
from accounts.services import forbidden
from accounts.viewers import Viewer
from agents.queries import owns
from agents.services import create_agent
from executions.adding.check_call import is_check, look_at, start_check
from executions.adding.forms import AddAgentForm, form_for
from executions.adding.machine import look_around, program_of
from executions.adding.plans import as_typed, plan_for
from executions.models import Execution
from executions.queries import execution_for
from trinity.kernel.errors import Refused


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def add_agent(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The form; sent, it makes the agent and queues its check call."""
    _refuse_unless_admin(viewer)
    if request.method != "POST":
        found = look_around()
        return _page(request, {"found": found, "form": form_for(found)})
    form = AddAgentForm(request.POST)
    try:
        plan = plan_for(form.asked())
        agent = plan.existing or create_agent(viewer, plan.given)
        execution = start_check(viewer, agent)
    except Refused as refusal:
        form.refuse(as_typed(refusal))
        return _page(request, {"found": look_around(), "form": form}, status=400)
    return redirect("agent-check", execution_id=execution.pk)


@require_GET
@member_page
def agent_check(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """The new agent, and what its check call says."""
    context = _checked(viewer, execution_id)
    agent = context["execution"].agent
    seen = program_of(agent) if owns(viewer, agent) else None  # how it is called is for those who may change it
    return render(request, "agents/added.html", context | {"seen": seen})


@require_GET
@member_page
def agent_check_card(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """The check alone; the last one asks no more."""
    return render(request, "agents/_check.html", _checked(viewer, execution_id))


def _checked(viewer: Viewer, execution_id: str) -> dict[str, Any]:
    execution: Execution = execution_for(viewer, execution_id)
    if not is_check(execution):
        raise Http404
    return {"check": look_at(execution), "execution": execution, "agent_name": execution.agent.name}


def _page(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    return render(request, "agents/add.html", context | {"embedded": not settings.DISTRIBUTED}, status=status)


def _refuse_unless_admin(viewer: Viewer) -> None:
    if not viewer.is_admin:
        raise forbidden("Only admins add agents: an agent runs code on the server.")
