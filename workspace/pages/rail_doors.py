"""The rail's doors, for members: both tabs, a loop's card in the transcript, start and stop; thin."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.form_tokens import FORM_TOKEN
from accounts.pages import is_fragment, member_page
from accounts.viewers import Viewer
from agents.queries import agent_for
from loops.board import slim
from loops.models import Loop
from loops.pages.starting import start_once
from loops.parameters import read_parameters
from loops.services import request_stop
from trinity.kernel import clock
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.problems import STATUS_OF
from workspace.pages.people import head_of
from workspace.pages.room import room_page
from workspace.pages.shown_rail import Opened, cards_in, rail_of
from workspace.pages.start_form import PROMISE, StartForm
from workspace.queries import Seat, seat_in
from workspace.rail import agents_in, room_loops


@require_GET
@member_page
def rail(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Both tabs, as open as the page says."""
    return _rail(request, seat_in(viewer, room_id))


@require_GET
@member_page
def loop_card(request: HttpRequest, viewer: Viewer, room_id: str, loop_id: str) -> HttpResponse:
    """A loop's card in the transcript, alone."""
    seat = seat_in(viewer, room_id)
    card = cards_in(seat, [loop_id], clock.now()).get(loop_id)
    if card is None:
        raise _no_loop(loop_id)
    return render(request, "workspace/_loop_card.html", {"room": head_of(seat), "one": card})


@require_POST
@member_page
def stop(request: HttpRequest, viewer: Viewer, room_id: str, loop_id: str) -> HttpResponse:
    """Ask a loop of this room to stop; who sees it there may stop it."""
    seat = seat_in(viewer, room_id)
    request_stop(viewer, _loop_in(seat, loop_id))
    return _rail(request, seat) if is_fragment(request) else redirect("room", room_id=room_id)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def start(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """The form; a POST starts a loop of this room, and a refusal comes back at its field with all that was typed."""
    seat = seat_in(viewer, room_id)
    if request.method != "POST":
        return _form(request, seat, None if "shut" in request.GET else StartForm(agents=agents_in(seat)))
    form = StartForm(request.POST, agents=agents_in(seat))
    try:
        asked = read_parameters(form.given())
        agent = agent_for(viewer, _agent_in(seat, form.agent_name))
        start_once(viewer, agent, asked, request.POST.get(FORM_TOKEN, ""), room_id=seat.room.pk)
    except Refused as refusal:
        form.refuse(refusal)
        status = STATUS_OF[refusal.code][0]
        return _form(request, seat, form, status=400 if status == STATUS_OF[RefusalCode.NOT_FOUND][0] else status)
    if not is_fragment(request):
        return redirect(f"{reverse('room', args=[room_id])}#rail-loops")
    answer = _form(request, seat, None)
    answer["HX-Trigger-After-Swap"] = "trinity:changed"
    return answer


def _rail(request: HttpRequest, seat: Seat) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    context = {"room": head_of(seat), "rail": rail_of(seat, Opened.of(given), clock.now())}
    return render(request, "workspace/_rail_live.html", context)


def _form(request: HttpRequest, seat: Seat, form: StartForm | None, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {"start_form": form, "promise": PROMISE}
    if is_fragment(request):
        context |= {"room": head_of(seat), "another": room_loops(seat).exists()}
        return render(request, "workspace/_start_form.html", context, status=status)
    return room_page(request, seat, status=status, **context)


def _agent_in(seat: Seat, name: str) -> str:
    """The agent's name, if it takes part; a loop of this room runs on nobody else."""
    if name not in {one.name for one in agents_in(seat)}:
        raise refused_field("agent", "Must be an agent that takes part.")
    return name


def _loop_in(seat: Seat, loop_id: str) -> Loop:
    found = slim(room_loops(seat)).filter(pk=loop_id).first()
    if found is None:
        raise _no_loop(loop_id)
    return found


def _no_loop(loop_id: str) -> Refused:
    return Refused(f"There is no loop {loop_id!r} in this room.", code=RefusalCode.NOT_FOUND)
