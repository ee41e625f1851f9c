"""The page for errors of ours: it asks no database and holds no part that could break again."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from trinity.rest.problems import our_fault

API = "/api/"


def server_error(request: HttpRequest) -> HttpResponseBase:
    """handler500: the error is in the log, under the request id that the red line names."""
    if request.path.startswith(API):
        return our_fault(request)
    page = render_to_string("500.html", {"request_id": getattr(request, "request_id", "")})
    return HttpResponse(page, status=500)
