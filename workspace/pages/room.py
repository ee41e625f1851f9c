"""A room's page and the fragments that an open one reads again; doors that write nothing but what was seen."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.form_tokens import new_token
from accounts.pages import person_page
from accounts.viewers import Viewer
from executions.pages import raw_text
from trinity.kernel import clock
from workspace.pages.lines import shown_lines
from workspace.pages.people import head_of, mentionable
from workspace.pages.shown_rail import Opened, cards_in, rail_of, usable_ids
from workspace.pages.sidebar import sidebar_of
from workspace.queries import Page, Seat, line_of, seat_in, transcript
from workspace.rooms import mark_seen
from workspace.underway import shown_turns
from workspace.words import closed_text

MOST_NEW = 200  # lines that an open page is given at once; it asks on while there are more


@require_GET
@person_page
def room(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """The room, with its newest lines or those before a number; reading it marks it as read."""
    seat = seat_in(viewer, room_id)
    if "before" not in request.GET:
        _seen(seat, seat.last_seq)
    return room_page(request, seat)


def room_page(request: HttpRequest, seat: Seat, *, status: int = 200, **more: Any) -> HttpResponse:
    """The whole page; `more` is what a refused form brings along."""
    page = transcript(seat, before=_number(request, "before"))
    context = {
        **_common(seat),
        **_lines(seat, page),
        "tail": seat.last_seq,
        "elsewhere": "before" in request.GET,
        "turns": shown_turns(seat, clock.now()),
        "sidebar": sidebar_of(seat.viewer, here=seat.room.pk),
        "rail": None if seat.outside else rail_of(seat, Opened.of(request.GET), clock.now()),
        **more,
    }
    return render(request, "workspace/room.html", context, status=status)


@require_GET
@person_page
def lines(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """What stands before a line, for a page that scrolls back."""
    seat = seat_in(viewer, room_id)
    page = transcript(seat, before=_number(request, "before"))
    return render(request, "workspace/_lines.html", _common(seat) | _lines(seat, page))


@require_GET
@person_page
def tail(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """What came after the last line that the page shows, and the turns as they are now."""
    seat = seat_in(viewer, room_id)
    after = _number(request, "after") or 0
    page = transcript(seat, since=after, limit=MOST_NEW)
    context = _common(seat) | _lines(seat, page) | {"turns": shown_turns(seat, clock.now())}
    context["tail"] = page.lines[-1].number if page.lines else after
    _seen(seat, context["tail"])
    return render(request, "workspace/_tail.html", context)


@require_GET
@person_page
def line(request: HttpRequest, viewer: Viewer, room_id: str, number: int) -> HttpResponse:
    """One line alone."""
    seat = seat_in(viewer, room_id)
    context = _common(seat) | _lines(seat, Page((line_of(seat, number),), older=False))
    return render(request, "workspace/_lines.html", context)


@require_GET
@person_page
def line_text(request: HttpRequest, viewer: Viewer, room_id: str, number: int) -> HttpResponse:
    """What was said, as it came, as plain text."""
    return raw_text(line_of(seat_in(viewer, room_id), number).message.text)


@require_GET
@person_page
def room_head(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """The head alone: name, who takes part."""
    return room_head_of(request, seat_in(viewer, room_id))


def room_head_of(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The head as it is now."""
    return render(request, "workspace/_head.html", _common(seat))


@require_GET
@person_page
def room_foot(request: HttpRequest, viewer: Viewer, room_id: str) -> HttpResponse:
    """The composer alone, or why there is none."""
    return render(request, "workspace/_foot.html", _common(seat_in(viewer, room_id)))


@require_GET
@person_page
def rooms(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The list of rooms alone; a search narrows it."""
    found = sidebar_of(viewer, here=request.GET.get("here", "")[:40], search=request.GET.get("q", ""))
    return render(request, "workspace/_rooms.html", {"sidebar": found})


def _seen(seat: Seat, number: int) -> None:
    """An open page reads only while somebody looks at it, so what it reads is seen."""
    if number > seat.mine.last_seen_seq:
        mark_seen(seat.viewer, seat.room.pk, number)


def _common(seat: Seat) -> dict[str, Any]:
    head = head_of(seat)
    return {
        "room": head,
        "mentionable": mentionable(head),
        "closed": closed_text(seat.room, outside=seat.outside) if seat.room.closed else "",
        "member": not seat.outside,
        "message_key": new_token(),
    }


def _lines(seat: Seat, page: Page) -> dict[str, Any]:
    cards = cards_in(seat, [one.message.loop_id or "" for one in page.lines], clock.now())
    first = page.lines[0].number if page.lines and page.older else 0
    return {"lines": shown_lines(seat, page.lines, cards, usable_ids(seat.viewer)), "earlier": first}


def _number(request: HttpRequest, name: str) -> int | None:
    """A number of the address; what is none asks for nothing."""
    typed = request.GET.get(name, "")
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else None
