"""The OpenAPI schema and the page that shows it, both self-hosted; open to all but clients, and without any row."""

from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import MayUseApi
from accounts.viewers import Viewer
from trinity.rest.doors import Door


class MayReadDocs(MayUseApi):
    """Anybody, but to a client the API does not exist."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return super().has_permission(request, view) if isinstance(request.auth, Viewer) else True


@cache
def schema() -> dict[str, Any]:
    """The API as OpenAPI 3.1; made once per process, since nothing in it depends on who asks."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


class Schema(Door):
    """The schema as JSON, which is YAML too."""

    permission_classes = [MayReadDocs]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """Read the schema."""
        return Response(schema())


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Swagger UI over the schema, without inline script; calls made from it act as the logged-in person."""
    if getattr(request.user, "is_client", False):
        raise Http404
    return render(request, "rest/docs.html")
