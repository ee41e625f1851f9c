"""Calls the REST API as somebody: each answer is checked against the schema, so a body that strays from it fails."""

import copy
import functools
import json
import re
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator

from trinity.rest.docs import schema

Response = Any
# Their descriptions say that further members may follow.
OPEN = ("Problem", "GraderOption")


@functools.cache
def strict_schema() -> dict[str, Any]:
    """The schema in which no answer may hold what is not named."""
    found = copy.deepcopy(schema())
    for name, component in found["components"]["schemas"].items():
        if component.get("type") == "object" and name not in OPEN:
            component.setdefault("additionalProperties", False)
    return found


@functools.cache
def validator(path: str, method: str, status: str) -> tuple[str, Draft202012Validator] | None:
    """Content type and validator of one operation's answer; None when it has no body."""
    responses = strict_schema()["paths"][path][method]["responses"]
    content = responses.get(status, responses["default"]).get("content")
    if content is None:
        return None
    ((media_type, body),) = content.items()
    whole = {**body["schema"], "components": strict_schema()["components"]}
    return media_type, Draft202012Validator(whole)


def template_of(response: Response) -> str | None:
    """The path of the schema that this answer belongs to; None when the schema does not describe it."""
    if response.resolver_match is None:
        return None
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", response.resolver_match.route)
    return path if path in schema()["paths"] else None


def check(response: Response) -> Response:
    """Every problem is a whole one, and every answer is as the schema says."""
    method = response.wsgi_request.method.lower()
    if response.status_code >= 400:
        assert response["Content-Type"] == "application/problem+json", response.content
        problem = response.json()
        assert problem["status"] == response.status_code
        assert problem["request_id"] == response["X-Request-ID"]
        assert problem["title"]
        assert problem["detail"]
        assert problem["code"]
    path = template_of(response)
    if path is None or method not in schema()["paths"][path]:
        return response
    found = validator(path, method, str(response.status_code))
    if found is None:
        assert response.content == b""
        return response
    media_type, described = found
    assert response["Content-Type"] == media_type
    described.validate(response.json())
    return response


class Caller:
    """Calls the API as somebody, with a key of theirs or none."""

    def __init__(self, key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = Client(headers=headers, raise_request_exception=False)

    def get(self, path: str, **headers: str) -> Response:
        return check(self.client.get(path, headers=_named(headers)))

    def post(self, path: str, body: Any = None, **headers: str) -> Response:
        return self.send("POST", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Response:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str) -> Response:
        return check(self.client.delete(path))

    def send(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **headers: str
    ) -> Response:
        """Bytes are sent as they are, None as no body at all, anything else as JSON."""
        if body is None:
            return check(self.client.generic(method, path, headers=_named(headers)))
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return check(self.client.generic(method, path, sent, content_type, headers=_named(headers)))


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def errors_of(response: Response) -> dict[str, list[str]]:
    """What a refusal says by field."""
    found: dict[str, list[str]] = response.json().get("errors", {})
    return found


def nothing_was_made() -> bool:
    """No row of a loop or a call exists."""
    from accounts.models import RememberedAnswer
    from executions.models import Execution
    from loops.models import Loop, LoopEvent, Run

    return not any(model.objects.exists() for model in (Loop, Run, LoopEvent, Execution, RememberedAnswer))
