"""Gives each request an id that stands in its answer, its errors and its log lines; keeps nothing."""

import re
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

from trinity.kernel.ids import new_id

_WELL_FORMED = re.compile(r"[A-Za-z0-9_.:-]{1,64}\Z")


class RequestId:
    """Takes a caller's well-formed X-Request-ID, else makes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _WELL_FORMED.match(given) else new_id("req")
        request.request_id = request_id  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response
