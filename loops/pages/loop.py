"""One loop: its page, its card alone, its last response, and the doors that stop it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.pages import is_fragment, member_page
from accounts.viewers import Viewer
from executions.pages import raw_text
from loops.board import slim
from loops.models import Loop
from loops.pages.cards import base_url_of, cards_of, shown_of
from loops.pages.rows import Card
from loops.pages.shown import Shown
from loops.queries import loop_for
from loops.services import request_stop
from trinity.kernel import clock


@require_GET
@member_page
def loop_page(request: HttpRequest, viewer: Viewer, loop_id: str) -> HttpResponse:
    """One loop, always open, with its runs."""
    loop = loop_for(viewer, loop_id)
    card = _card(request, viewer, loop, shown_of(request).opened(loop.pk))
    return render(request, "loops/loop.html", {"card": card, "name": loop.agent.name})


@require_GET
@member_page
def loop_card(request: HttpRequest, viewer: Viewer, loop_id: str) -> HttpResponse:
    """The loop's card alone, as open as the page says."""
    loop = loop_for(viewer, loop_id)
    return _answer(request, _card(request, viewer, loop, shown_of(request)))


@require_GET
@member_page
def loop_response(request: HttpRequest, viewer: Viewer, loop_id: str) -> HttpResponse:
    """The last response as it came, as plain text."""
    return raw_text(loop_for(viewer, loop_id).last_response or "")


@require_POST
@member_page
def stop_loop(request: HttpRequest, viewer: Viewer, loop_id: str) -> HttpResponse:
    """Ask it to stop; who may read it may stop it. Answers with the card, or goes to the loop's page."""
    loop = loop_for(viewer, loop_id)
    request_stop(viewer, loop)
    if not is_fragment(request):
        return redirect("loop", loop_id=loop.pk)
    fresh = slim(Loop.objects.filter(pk=loop.pk)).get()
    return _answer(request, _card(request, viewer, fresh, shown_of(request)))


def _answer(request: HttpRequest, card: Card) -> HttpResponse:
    """The card alone; among loops of several agents it names its own."""
    named = "named" in request.GET or "named" in request.POST
    return render(request, "loops/_loop.html", {"card": card, "named": named})


def _card(request: HttpRequest, viewer: Viewer, loop: Loop, shown: Shown) -> Card:
    [card] = cards_of(viewer, [loop], shown, now=clock.now(), base_url=base_url_of(request))
    return card
