"""What an agent's owner changes on its page: limits, start and stop, who may use it; thin doors over the services."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.pages import member_page
from accounts.viewers import Viewer
from agents import services, sharing
from agents.models import Agent
from agents.queries import agent_for
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

AgentService = Callable[[Viewer, Agent], Agent]


@require_POST
@member_page
def start_agent(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """Let it take executions again."""
    return _then_settings(request, viewer, name, services.start_agent)


@require_POST
@member_page
def stop_agent(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """Let it take nothing new."""
    return _then_settings(request, viewer, name, services.stop_agent)


def _then_settings(request: HttpRequest, viewer: Viewer, name: str, service: AgentService) -> HttpResponse:
    agent = service(viewer, agent_for(viewer, name))
    messages.success(request, f"{agent.name} is {agent.status}.")
    return redirect("agent-settings", name=agent.name)


@require_POST
@member_page
def share_agent(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """Let another member use it; a refusal is said on the page that comes back."""
    agent = agent_for(viewer, name)
    username = request.POST.get("user", "").strip()
    try:
        sharing.share(viewer, agent, username)
        messages.success(request, f"{username} may use {agent.name}.")
    except Refused as refusal:
        if refusal.code is RefusalCode.FORBIDDEN:
            raise
        messages.error(request, refusal.errors.get("user", [refusal.detail])[0])
    return redirect("agent-settings", name=agent.name)


@require_POST
@member_page
def unshare_agent(request: HttpRequest, viewer: Viewer, name: str) -> HttpResponse:
    """End a share."""
    agent = agent_for(viewer, name)
    username = request.POST.get("user", "")
    sharing.unshare(viewer, agent, username)
    messages.success(request, f"{username} may no longer use {agent.name}.")
    return redirect("agent-settings", name=agent.name)
