"""Answers 304 to who has the newest version already; compares weakly, and knows no row."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags


def etag_of(version: int) -> str:
    """`W/"version"` (section 2): what the clock moves by itself, such as `elapsed_seconds`, is outside it."""
    return f'W/"{version}"'


def not_modified(request: HttpRequest, etag: str) -> HttpResponse | None:
    """The 304 for a request whose If-None-Match names this version (or any), else None."""
    known = [tag.removeprefix("W/") for tag in parse_etags(request.headers.get("If-None-Match", ""))]
    if "*" not in known and etag.removeprefix("W/") not in known:
        return None
    return HttpResponseNotModified(headers={"ETag": etag})
