"""The one translator from errors to `application/problem+json` (section 2); raises nothing of its own."""

from typing import Any

import structlog
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.parsers import MAX_BYTES

log = structlog.get_logger(__name__)
MEDIA_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="trinity"'
RETRY_AFTER_SECONDS = 5

STATUS_OF: dict[RefusalCode, tuple[int, str]] = {
    RefusalCode.INVALID: (400, "The request is not valid"),
    RefusalCode.MALFORMED: (400, "The request cannot be read"),
    RefusalCode.UNAUTHENTICATED: (401, "Who are you?"),
    RefusalCode.FORBIDDEN: (403, "Not allowed"),
    RefusalCode.NOT_FOUND: (404, "Not found"),
    RefusalCode.METHOD_NOT_ALLOWED: (405, "Method not allowed"),
    RefusalCode.CONFLICT: (409, "Not in this state"),
    RefusalCode.TOO_LARGE: (413, "Too large"),
    RefusalCode.UNSUPPORTED_MEDIA_TYPE: (415, "Unsupported media type"),
    RefusalCode.KEY_REUSED: (422, "The idempotency key was used for another request"),
    RefusalCode.TOO_MANY: (429, "Too many requests"),
    RefusalCode.UNAVAILABLE: (503, "Not available now"),
}

# The first kind that fits decides, so that the particular stands before the general.
_CODE_OF: tuple[tuple[tuple[type[Exception], ...], RefusalCode], ...] = (
    ((Http404, exceptions.NotFound), RefusalCode.NOT_FOUND),
    ((PermissionDenied, exceptions.PermissionDenied), RefusalCode.FORBIDDEN),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), RefusalCode.UNAUTHENTICATED),
    ((exceptions.MethodNotAllowed,), RefusalCode.METHOD_NOT_ALLOWED),
    ((exceptions.UnsupportedMediaType,), RefusalCode.UNSUPPORTED_MEDIA_TYPE),
    ((exceptions.Throttled,), RefusalCode.TOO_MANY),
    ((RequestDataTooBig,), RefusalCode.TOO_LARGE),
    ((exceptions.ParseError, SuspiciousOperation), RefusalCode.MALFORMED),
    ((OperationalError, InterfaceError), RefusalCode.UNAVAILABLE),
)
_WORDS: dict[RefusalCode, str] = {
    RefusalCode.NOT_FOUND: "There is nothing here.",
    RefusalCode.TOO_LARGE: f"The body is larger than {MAX_BYTES:,} bytes.",
    RefusalCode.UNAVAILABLE: "The database does not answer; nothing was changed. Try again soon.",
}


def as_refusal(error: Exception) -> Refused | None:
    """Any error that a caller can do something about as a refusal; None when it is a fault of ours."""
    if isinstance(error, Refused):
        return error
    for kinds, code in _CODE_OF:
        if isinstance(error, kinds):
            return Refused(_said(error, code), code=code)
    return None


def _said(error: Exception, code: RefusalCode) -> str:
    """Our words where the error's own would name settings of ours, or say nothing."""
    if code in _WORDS:
        return _WORDS[code]
    match error:
        case exceptions.NotAuthenticated():
            return "No key was given: send `Authorization: Bearer <key>`."
        case DisallowedHost():
            return "The Host header names a host that this server does not serve."
        case TooManyFieldsSent():
            return "There are too many query parameters."
        case SuspiciousOperation():
            return "The request cannot be read."
    return str(error) or "You may not do this."


def problem_for(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. None lets an error of ours reach the 500 handler, which logs it."""
    refusal = as_refusal(error)
    if refusal is None:
        return None
    set_rollback()
    if refusal.code is RefusalCode.UNAVAILABLE:
        log.error("the database does not answer", error=repr(error))
    status, body = problem_of(refusal, _id_of(context.get("request")))
    return Response(body, status=status, headers=_headers_of(refusal), content_type=MEDIA_TYPE)


def problem_of(refusal: Refused, request_id: str) -> tuple[int, dict[str, Any]]:
    """Status and body of a refusal; `facts` stand beside the fixed members."""
    status, title = STATUS_OF[refusal.code]
    body: dict[str, Any] = {
        "title": title,
        "status": status,
        "detail": refusal.detail,
        "code": str(refusal.code),
        "request_id": request_id,
    }
    if refusal.errors:
        body["errors"] = refusal.errors
    return status, refusal.facts | body


def problem_response(refusal: Refused, request: HttpRequest) -> JsonResponse:
    """The same for errors outside DRF's views: unknown routes under /api/, what middleware refuses."""
    status, body = problem_of(refusal, _id_of(request))
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE, headers=_headers_of(refusal))


def our_fault(request: HttpRequest) -> JsonResponse:
    """A 500 under /api/: it names the request id that stands in the log, and no detail of ours."""
    body = {
        "title": "Something broke on our side",
        "status": 500,
        "detail": "The error was logged; give the request id to who runs this server.",
        "code": "internal_error",
        "request_id": _id_of(request),
    }
    return JsonResponse(body, status=500, content_type=MEDIA_TYPE)


def _headers_of(refusal: Refused) -> dict[str, str]:
    match refusal.code:
        case RefusalCode.UNAUTHENTICATED:
            return {"WWW-Authenticate": CHALLENGE}
        case RefusalCode.UNAVAILABLE:
            return {"Retry-After": str(RETRY_AFTER_SECONDS)}
        case _:
            return {}


def _id_of(request: Any) -> str:
    inner = getattr(request, "_request", request)
    return getattr(inner, "request_id", "")
