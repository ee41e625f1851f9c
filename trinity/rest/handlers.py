"""Django's own error pages, told apart by address: a problem under /api/, a page elsewhere. Decides nothing."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt

from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.problems import as_refusal, problem_response

API = "/api/"


@csrf_exempt
def unknown_route(request: HttpRequest) -> HttpResponse:
    """Whatever no route under /api/ takes, with any method and with or without a key."""
    return problem_response(Refused(_nothing_here(request), code=RefusalCode.NOT_FOUND), request)


def _nothing_here(request: HttpRequest) -> str:
    without = request.path.rstrip("/")
    try:
        if without != request.path and resolve(without).func is not unknown_route:
            return "There is nothing here; the address ends without a slash."
    except Resolver404:
        pass
    return "There is nothing here."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler400: what Django itself refuses, such as an unknown host or too many parameters."""
    return _by_address(request, exception, RefusalCode.MALFORMED, defaults.bad_request)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler403."""
    return _by_address(request, exception, RefusalCode.FORBIDDEN, defaults.permission_denied)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler404."""
    return _by_address(request, exception, RefusalCode.NOT_FOUND, defaults.page_not_found)


def _by_address(
    request: HttpRequest,
    exception: Exception,
    code: RefusalCode,
    page: Callable[[HttpRequest, Exception], HttpResponseBase],
) -> HttpResponseBase:
    if not request.path.startswith(API):
        return page(request, exception)
    refusal = as_refusal(exception) or Refused("The request cannot be read.", code=code)
    return problem_response(refusal, request)
