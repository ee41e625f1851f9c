"""Describes the REST API as OpenAPI 3.1: what drf-spectacular cannot see by itself; answers no call."""

from typing import Any, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from trinity.kernel.vocabulary import RefusalCode
from trinity.rest.doors import Door
from trinity.rest.idempotency import HEADER
from trinity.rest.problems import MEDIA_TYPE, STATUS_OF

IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$"},
    OpenApiParameter.HEADER,
    description="The same key with the same body gives the first answer again, for 24 hours; another body is a 422.",
)
LOCATION = OpenApiParameter(
    "Location", {"type": "string"}, OpenApiParameter.HEADER, response=["201", "202"], description="Where it is read."
)
Direction = Literal["request", "response"]
Place = Literal["path", "query"]


class Problem(serializers.Serializer[Any]):
    """Any error (RFC 9457). Further members name bare values, such as `agent_cap_seconds`."""

    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="A sentence for a person; it names the bound.")
    code = serializers.CharField(help_text="A word for a program.")
    request_id = serializers.CharField(help_text="Stands in the server's log too.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="What is wrong, by field.",
    )


class ProblemSchema(AutoSchema):
    """Adds to each operation its query parameters, its problems, and a summary from its docstring."""

    def get_tags(self) -> list[str]:
        return [getattr(self.view, "tag", "Trinity")]

    def get_summary(self) -> str:
        """The first sentence of the handler's docstring."""
        return str(super().get_description()).split("\n")[0].split(". ")[0].rstrip(".")

    def get_override_parameters(self) -> list[Any]:
        if not isinstance(self.view, Door):
            return []
        query = self.view.parameters if self.method == "GET" else {}
        places: tuple[tuple[Place, Any], ...] = (("path", self.view.path_parameters), ("query", query))
        return [
            OpenApiParameter(name, dict(one.schema), place, description=one.says, required=place == "path")
            for place, parameters in places
            for name, one in parameters.items()
        ]

    def get_serializer_name(self, serializer: Any, direction: Direction) -> str:
        """`LoopShape` describes a Loop."""
        return str(super().get_serializer_name(serializer, direction)).removesuffix("Shape")

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> dict[str, Any]:
        """A request takes no field that is not named."""
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        return schema | {"additionalProperties": False} if direction == "request" else schema

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        responses: dict[str, Any] = super()._get_response_bodies(direction)
        problem = self.resolve_serializer(Problem(), "response").ref
        for status, title in sorted({STATUS_OF[code] for code in self._refusals()}):
            responses[str(status)] = _problem(title, problem)
        responses["default"] = _problem("Any other error", problem)
        return responses

    def _refusals(self) -> list[RefusalCode]:
        """What any operation of this kind may be refused with."""
        codes = [
            RefusalCode.INVALID,
            RefusalCode.UNAUTHENTICATED,
            RefusalCode.FORBIDDEN,
            RefusalCode.NOT_FOUND,
            RefusalCode.UNAVAILABLE,
        ]
        if self.method != "GET":
            codes += [RefusalCode.CONFLICT]
        if self.method in ("POST", "PATCH"):
            codes += [RefusalCode.TOO_LARGE, RefusalCode.UNSUPPORTED_MEDIA_TYPE]
        if IDEMPOTENCY_KEY in self.get_override_parameters():
            codes += [RefusalCode.KEY_REUSED]
        return codes


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A key of a user, of an agent, or of a running execution."""

    target_class = "accounts.authentication.BearerKey"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer trk_…`"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A logged-in person."""

    target_class = "accounts.authentication.Session"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


def _problem(title: str, ref: dict[str, str]) -> dict[str, Any]:
    return {"description": title, "content": {MEDIA_TYPE: {"schema": ref}}}
