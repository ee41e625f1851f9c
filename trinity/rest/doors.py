"""What every REST door does alike: JSON in, JSON out, strict body and query; makes no domain call."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http.request import RawPostDataException
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import viewer_of
from accounts.viewers import Viewer
from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.idempotency import HEADER, REPEATED_HEADER, Answer, IdempotencyKey, key_of
from trinity.rest.parsers import MAX_BYTES, malformed, read_json, too_large
from trinity.rest.query import Parameter, read_query


class JsonOnly(BaseContentNegotiation):
    """The answer is JSON whatever the Accept header says: a 406 would hide what the caller needs to read."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser:
        parser: BaseParser = parsers[0]
        return parser

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class Door(APIView):
    """The base of all REST views. `parameters` are the query parameters of its GET; no other method has any."""

    content_negotiation_class = JsonOnly
    metadata_class = None
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    path_parameters: ClassVar[Mapping[str, Parameter]] = {}  # for the schema; whoever looks the row up refuses
    asked: dict[str, Any]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who asks, whether they may, and whether the query is well formed, in this order."""
        super().initial(request, *args, **kwargs)
        known = self.parameters if request.method in ("GET", "HEAD") else {}
        self.asked = read_query(request.query_params, known)

    @property
    def viewer(self) -> Viewer:
        """Who asks."""
        return viewer_of(self.request)

    def body(self) -> Any:
        """The JSON of the request. Refused when there is none, or when it cannot be read."""
        found = _body_of(self.request)
        if not found:
            raise malformed("The body is empty; it must be a JSON object.")
        return read_json(found)

    def expect_no_body(self) -> None:
        """For calls without fields: nothing, or an object without any."""
        found = _body_of(self.request)
        if found:
            fields.read(read_json(found), {})

    def idempotency_key(self, body: Any) -> IdempotencyKey | None:
        """The key that the caller gave for this request, for this method and address."""
        route = f"{self.request.method} {self.request.path}"
        return key_of(self.viewer, route, self.request.headers.get(HEADER), body)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """The methods stand in `Allow`, as on every answer."""
        return Response(status=204)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        found = super().finalize_response(request, response, *args, **kwargs)
        found.setdefault("Cache-Control", "private, no-cache")
        patch_vary_headers(found, ("Authorization", "Cookie"))
        return found


def answered(answer: Answer) -> Response:
    """An answer on the wire; one that was given before says so in a header."""
    headers = dict(answer.headers) | ({REPEATED_HEADER: "true"} if answer.repeated else {})
    return Response(answer.body, status=answer.status, headers=headers)


def location(route: str, **kwargs: str) -> dict[str, str]:
    """The header that says where something new is read."""
    return {"Location": reverse(route, kwargs=kwargs)}


def _body_of(request: Request) -> bytes:
    """The bytes of the body. Refused when they are more than `MAX_BYTES`, or of another type than JSON.

    Not read by DRF, which takes a chunked body, that names no length, for none.
    """
    inner = request._request
    try:
        found: bytes = inner.body
    except RawPostDataException:  # Django's CSRF check has read a form
        raise _no_json(inner.content_type) from None
    if len(found) > MAX_BYTES:
        raise too_large(MAX_BYTES)
    charset = (inner.content_params or {}).get("charset", "utf-8").lower()
    if found and (inner.content_type != "application/json" or charset not in ("utf-8", "utf8", "us-ascii")):
        raise _no_json(inner.content_type)
    return found


def _no_json(content_type: str | None) -> Refused:
    said = f"{fields.clip(content_type)!r} was given" if content_type else "none was given"
    return Refused(
        f"The Content-Type must be application/json in UTF-8; {said}.", code=RefusalCode.UNSUPPORTED_MEDIA_TYPE
    )
