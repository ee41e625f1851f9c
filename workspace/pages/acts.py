"""What people do in rooms, by forms: open, write, cancel, try again, star, rename, close, add, remove; thin doors."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.form_tokens import key_of_form, new_token
from accounts.pages import is_fragment, person_page
from accounts.viewers import Viewer
from agents.queries import visible_agents
from trinity.kernel.errors import Refused
from trinity.kernel.text import clean
from trinity.kernel.typed import as_sent
from trinity.rest.idempotency import Answer, once
from trinity.rest.problems import STATUS_OF
from workspace import rooms, services
from workspace.pages.open_form import OpenForm
from workspace.pages.people import usable_agents_of
from workspace.pages.room import room_head_of, room_page
from workspace.pages.sidebar import sidebar_of
from workspace.parameters import read_room, read_text, read_title
from workspace.queries import line_of, participants_in, seat_in
from workspace.record import room_step, seat_under_lock


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def workspace(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The rooms, and the form that opens one; a POST opens it, and a refusal comes back at its field."""
    agents = usable_agents_of(viewer)
    if request.method != "POST":
        return _workspace(request, viewer, OpenForm(agents=agents))
    if viewer.is_client:
        raise Http404  # to a client nothing can be opened
    form = OpenForm(request.POST, agents=agents)
    try:
        room_id = _open_once(viewer, form, request.POST.get("key", ""))
    except Refused as refusal:
        form.refuse(refusal)
        return _workspace(request, viewer, form, status=STATUS_OF[refusal.code][0])
    return redirect("room", room_id=room_id)


@require_POST
@person_page
def post_message(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Write in the room; the same text with the same key, sent again by a bad line, is one message."""
    seat = seat_in(viewer, room_id)
    typed = as_sent(request.POST.get("text", ""))
    try:
        _post_once(viewer, room_id, read_text({"text": typed}), request.POST.get("key", ""))
    except Refused as refusal:
        if is_fragment(request):
            raise
        return room_page(request, seat, status=STATUS_OF[refusal.code][0], refused=refusal.detail, typed=typed)
    return _done(request, room_id)


@require_POST
@person_page
def cancel_turn(request: HttpRequest, viewer: Viewer, room_id: str, turn_id: int) -> HttpResponse:
    """Take back a turn that has not begun."""
    services.cancel_turn(viewer, room_id, turn_id)
    return _done(request, room_id)


@require_POST
@person_page
def retry_turn(request: HttpRequest, viewer: Viewer, room_id: str, number: int) -> HttpResponse:
    """Try a failed turn again."""
    services.retry(viewer, room_id, line_of(seat_in(viewer, room_id), number))
    return _done(request, room_id)


@require_POST
@person_page
def star_room(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Mark the room for oneself, or no more."""
    rooms.star(viewer, room_id, starred=request.POST.get("starred") == "yes")
    return _head(request, viewer, room_id)


@require_POST
@person_page
def rename_room(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Give the room another name."""
    return _changed(request, viewer, room_id, lambda: rooms.rename_room(viewer, room_id, _title(request)))


@require_POST
@person_page
def close_room(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Take no more messages."""
    return _changed(request, viewer, room_id, lambda: rooms.close_room(viewer, room_id))


@require_POST
@person_page
def add_to_room(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """Let an agent that one may use, or a person, take part."""
    name = request.POST.get("name", "").strip().removeprefix("@")
    is_agent = visible_agents(viewer).filter(name=clean(name, 200)).exists()
    who = {"agent": name} if is_agent else {"user": name}
    return _changed(request, viewer, room_id, lambda: rooms.add_participant(viewer, room_id, **who))


@require_POST
@person_page
def remove_from_room(request: HttpRequest, viewer: Viewer, room_id: str, participant_id: int) -> HttpResponse:
    """Let somebody take part no longer; oneself: leave."""
    seat = seat_in(viewer, room_id)
    found = next((one for one in participants_in(room_id) if one.pk == participant_id), None)
    if found is None:
        raise Http404
    who = {"agent": found.name} if found.agent is not None else {"user": found.name}
    if found.pk != seat.mine.pk:
        return _changed(request, viewer, room_id, lambda: rooms.remove_participant(viewer, room_id, **who))
    rooms.remove_participant(viewer, room_id, **who)
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("workspace")})
    return redirect("workspace")


def _workspace(request: HttpRequest, viewer: Viewer, form: OpenForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "member": not viewer.is_client,
        "sidebar": sidebar_of(viewer, search=request.GET.get("q", "")),
        "message_key": new_token(),
    }
    return render(request, "workspace/workspace.html", context, status=status)


def _open_once(viewer: Viewer, form: OpenForm, key: str) -> str:
    given = form.given()
    with rooms.opening(viewer, read_room(given)) as found:
        remembered = key_of_form(viewer, "form rooms", key, given)
        answer = once(remembered, lambda: Answer(201, {"room_id": found.open().room.pk}))
    room_id: str = answer.body["room_id"]
    return room_id


def _post_once(viewer: Viewer, room_id: str, text: str, key: str) -> None:
    with room_step(room_id) as record:
        seat = seat_under_lock(record, viewer)
        remembered = key_of_form(viewer, f"form messages {room_id}", key, {"text": text})
        once(remembered, lambda: Answer(201, {"seq": services.post_in(record, seat, text).seq}))


def _changed(request: HttpRequest, viewer: Viewer, room_id: str, change: Callable[[], object]) -> HttpResponse:
    """Do it, and show the head as it is now. To who takes no part, no room is there to change."""
    seat_in(viewer, room_id)
    change()
    return _head(request, viewer, room_id)


def _title(request: HttpRequest) -> str:
    return read_title({"title": request.POST.get("title", "")})


def _head(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    if not is_fragment(request):
        return redirect("room", room_id=room_id)
    answer = room_head_of(request, seat_in(viewer, room_id))
    answer["HX-Trigger-After-Swap"] = "trinity:changed"
    return answer


def _done(request: HttpRequest, room_id: str) -> HttpResponse:
    """An open page reads again what changed; one without a script is loaded again."""
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Trigger": "trinity:changed"})
    return redirect("room", room_id=room_id)
