"""Cards of loops, closed or open as the reader has them; used by every page and fragment that shows one."""

import datetime as dt
from collections.abc import Sequence

from django.http import HttpRequest

from accounts.viewers import Viewer
from agents.queries import owns
from loops.board import insides_of
from loops.models import Loop
from loops.pages.opened import inside_of
from loops.pages.rows import Card, row_of
from loops.pages.shown import Shown
from loops.standing import standings_of


def cards_of(viewer: Viewer, loops: Sequence[Loop], shown: Shown, *, now: dt.datetime, base_url: str) -> list[Card]:
    """A card for each loop, which must be one that the viewer may see; its agent must be loaded."""
    standings = standings_of(loops, now)
    found = insides_of([loop.pk for loop in loops if loop.pk in shown.open], shown.run)
    cards = []
    for loop in loops:
        row = row_of(loop, standings[loop.pk], owned=owns(viewer, loop.agent))
        whole = found.loops.get(loop.pk)
        if whole is None:
            cards.append(Card(row, Shown()))
            continue
        own = shown.of_loop(loop.pk, [one.pk for one in found.runs[loop.pk]])
        inside = inside_of(whole, found, standings[loop.pk], own, now=now, base_url=base_url)
        cards.append(Card(row, own, inside))
    return cards


def shown_of(request: HttpRequest) -> Shown:
    """What the reader has open, from a link, or from the fields that a fragment or a form sends along."""
    return Shown.of(request.POST if request.method == "POST" else request.GET)


def base_url_of(request: HttpRequest) -> str:
    """Where programs reach this server, as the reader does."""
    return request.build_absolute_uri("/").rstrip("/")
