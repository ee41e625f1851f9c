"""The executions page, one execution's page, and its raw texts; thin doors."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.pages import is_fragment, member_page
from accounts.viewers import Viewer
from executions import trajectory
from executions.detail import detail_of
from executions.listing import listing
from executions.pages import raw_text
from executions.queries import execution_for
from executions.requests import abandon


@require_GET
@member_page
def executions(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """All that the viewer may see, filtered by the address."""
    return render(request, "executions/executions.html", *_listed(request, viewer))


@require_GET
@member_page
def execution_rows(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The list alone."""
    return render(request, "executions/_rows.html", *_listed(request, viewer))


def _listed(request: HttpRequest, viewer: Viewer) -> tuple[dict[str, Any], None, int]:
    found = listing(viewer, request.GET)
    context = {"listing": found, "query": request.GET.urlencode(), "place": "executions"}
    return context, None, 200 if found.valid else 400


@require_GET
@member_page
def execution(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """Everything of one execution."""
    return render(request, "executions/execution.html", _detail(request, viewer, execution_id))


@require_GET
@member_page
def execution_card(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """The same without its frame."""
    return render(request, "executions/_execution.html", _detail(request, viewer, execution_id))


def _detail(request: HttpRequest, viewer: Viewer, execution_id: str) -> dict[str, Any]:
    found = execution_for(viewer, execution_id)
    return {"one": detail_of(viewer, found, whole="whole" in request.GET), "place": "executions"}


@require_GET
@member_page
def execution_response(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """The response as it came."""
    return raw_text(execution_for(viewer, execution_id).response)


@require_GET
@member_page
def execution_trajectory(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """The tool calls as stored, in the neutral JSON of section 4."""
    found = trajectory.read(execution_for(viewer, execution_id))
    return JsonResponse(found or {"format": trajectory.FORMAT, "steps": []})


@require_POST
@member_page
def abandon_execution(request: HttpRequest, viewer: Viewer, execution_id: str) -> HttpResponse:
    """End a hung run; the page has asked first."""
    found = execution_for(viewer, execution_id)
    abandon(viewer, found)
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Trigger": "trinity:changed"})
    if request.POST.get("back") == "loop" and found.loop_id:
        return redirect("loop", loop_id=found.loop_id)
    return redirect("execution", execution_id=found.pk)
