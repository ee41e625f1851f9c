"""Who may see a member's page, and how pages say no; no page of its own stands here."""

import functools
import json
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from accounts.models import User
from accounts.viewers import Viewer
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.problems import STATUS_OF

Rest = ParamSpec("Rest")
MemberView = Callable[Concatenate[HttpRequest, Viewer, Rest], HttpResponse]


def member_page(view: MemberView[Rest]) -> Callable[..., HttpResponseBase]:
    """The one door of member pages: log in first; to a client they do not exist; refusals become pages."""
    guarded = _door(view, clients=False)
    guarded.for_members = True  # type: ignore[attr-defined] # a test asks every route for it
    return guarded


def person_page(view: MemberView[Rest]) -> Callable[..., HttpResponseBase]:
    """The door of the few pages that clients see too; what they may see there is asked by each query."""
    return _door(view, clients=True)


def _door(view: MemberView[Rest], *, clients: bool) -> Callable[..., HttpResponseBase]:
    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_log_in(request)
        viewer = viewer_of_page(request)
        if viewer.is_client and not clients:
            raise Http404
        try:
            return view(request, viewer, *args, **kwargs)
        except Refused as refusal:
            return refusal_page(request, refusal)

    return guarded


def viewer_of_page(request: HttpRequest) -> Viewer:
    """The logged-in person of this request."""
    return Viewer(user=cast(User, request.user))


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx asks, for a part of a page that is already open."""
    return request.headers.get("HX-Request") == "true"


def ask_to_log_in(request: HttpRequest) -> HttpResponseBase:
    """To the login page; an open page whose session ended is told instead, and keeps what was typed."""
    if is_fragment(request):
        return _tell(401, "trinity:logged-out", "You are logged out.")
    return redirect_to_login(request.get_full_path())


def refusal_page(request: HttpRequest, refusal: Refused) -> HttpResponse:
    """A refusal in its own words; what cannot be seen answers like what does not exist."""
    status, title = STATUS_OF[refusal.code]
    if is_fragment(request):
        return _tell(status, "trinity:refused", refusal.detail)
    if refusal.code is RefusalCode.NOT_FOUND:
        raise Http404(refusal.detail)
    context: dict[str, Any] = {"heading": title, "sentence": refusal.detail}
    return render(request, "refused.html", context, status=status)


def _tell(status: int, event: str, sentence: str) -> HttpResponse:
    """An answer that changes nothing on the open page but its red line."""
    told = json.dumps({event: {"sentence": sentence}})  # ASCII, as a header must be
    return HttpResponse(sentence, status=status, headers={"HX-Reswap": "none", "HX-Trigger": told})
