"""What is no JSON object, too large, too deep, ambiguous or of another type is refused wherever a body is taken."""

import io
import json
import time
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.test import Client

from accounts.models import ApiKey
from accounts.services import create_key
from agents.models import Agent
from tests.web.api.calling import Caller, check, nothing_was_made

WITH_BODY = [
    ("POST", "/api/agents/scribe/loops"),
    ("POST", "/api/agents/scribe/executions"),
    ("POST", "/api/agents"),
    ("PATCH", "/api/agents/scribe"),
    ("POST", "/api/agents/scribe/shares"),
    ("POST", "/api/agents/scribe/permissions"),
    ("POST", "/api/agents/scribe/keys"),
    ("POST", "/api/keys"),
    ("POST", "/api/graders/grade"),
]
MAX_BYTES = 2 * 1024 * 1024
DEEP = b"[" * 51 + b"]" * 51
FAULTS = [
    ("nothing", b"", 400, "The body is empty"),
    ("no JSON", b"message=Go", 400, "not JSON: Expecting value at line 1, column 1"),
    ("half", b'{"message": "Go"', 400, "not JSON"),
    ("trailing comma", b'{"message": "Go",}', 400, "not JSON"),
    ("two values", b"{} {}", 400, "not JSON: Extra data"),
    ("a newline in a string", b'{"message": "a\nb"}', 400, "not JSON: Invalid control character"),
    ("NaN", b'{"max_cost_usd": NaN}', 400, "NaN is not JSON"),
    ("Infinity", b'{"max_cost_usd": Infinity}', 400, "Infinity is not JSON"),
    ("minus Infinity", b'{"max_cost_usd": -Infinity}', 400, "-Infinity is not JSON"),
    ("a twin", b'{"name": "a", "name": "b"}', 400, "'name' stands twice"),
    ("a twin within", b'{"a": [{"b": 1, "b": 1}]}', 400, "'b' stands twice"),
    ("a twin by escape", rb'{"name": "a", "n\u0061me": "b"}', 400, "'name' stands twice"),
    ("not UTF-8", b'{"name": "\xff"}', 400, "not UTF-8: byte 10"),
    ("UTF-16", '{"name": "a"}'.encode("utf-16"), 400, "not UTF-8"),
    ("too deep", DEEP, 400, "deeper than 50 levels"),
    ("far too deep", b"[" * 1_000_000, 400, "deeper than 50 levels"),
    ("deep in a field", b'{"name": ' + b'{"a":' * 50 + b"1" + b"}" * 51, 400, "deeper than 50 levels"),
    ("a list", b"[]", 400, "must be a JSON object; a list was given"),
    ("a string", b'"Go"', 400, 'must be a JSON object; "Go" was given'),
    ("null", b"null", 400, "must be a JSON object; null was given"),
    ("a number", b"1e400", 400, "must be a JSON object; Infinity was given"),
    ("too large", b'"' + b"x" * MAX_BYTES + b'"', 413, "larger than 2,097,152 bytes"),
    ("one byte too large", b"[" + b" " * (MAX_BYTES - 1) + b"]", 413, "larger than 2,097,152 bytes"),
]


@pytest.fixture
def counted(agent: Any) -> Any:
    """The rows that a refused call must not have changed."""
    return lambda: (list(Agent.objects.values()), ApiKey.objects.count(), nothing_was_made())


@pytest.mark.parametrize(("fault", "body", "status", "sentence"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_body_that_is_no_object_is_refused_everywhere(
    counted: Any, as_admin: Caller, fault: str, body: bytes, status: int, sentence: str
) -> None:
    before = counted()

    for method, path in WITH_BODY:
        response = as_admin.send(method, path, body)

        assert response.status_code == status, (method, path, response.content)
        assert sentence in response.json()["detail"]
    assert counted() == before


def test_a_body_of_exactly_two_megabytes_is_read(agent: Any, as_admin: Caller) -> None:
    start = b'{"message": "Go", "max_runs": 1}'

    assert as_admin.post("/api/agents/scribe/loops", start.ljust(MAX_BYTES)).status_code == 202


def test_fifty_levels_are_read(agent: Any, as_admin: Caller) -> None:
    response = as_admin.post("/api/agents/scribe/loops", b"[" * 50 + b"]" * 50)

    assert "must be a JSON object" in response.json()["detail"]


def test_brackets_in_a_string_are_no_levels(agent: Any, as_admin: Caller) -> None:
    message = "[{" * 1000 + '"\\' * 1000

    assert as_admin.post("/api/agents/scribe/loops", {"message": message, "max_runs": 1}).status_code == 202


@pytest.mark.parametrize(
    "body",
    [
        b'"' + b'\\"' * 1_000_000,
        b"{" + b'"a":' * 400_000,
        b'{"a":' + b'"' * 2_000_000,
        ("{" + ",".join(f'"field{number}": 1' for number in range(100_000)) + "}").encode(),
        ("{" + ",".join(f'"f{number}": 1' for number in range(100_000)) + ', "f99999": 1}').encode(),
        b'{"max_runs": ' + b"9" * 2_000_000 + b"}",
        b'{"max_cost_usd": 0.' + b"1" * 2_000_000 + b"}",
    ],
    ids=["escapes", "colons", "quotes", "unknown fields", "a late twin", "a long integer", "a long fraction"],
)
def test_a_hostile_body_is_refused_in_little_time(agent: Any, as_admin: Caller, body: bytes) -> None:
    began = time.process_time()

    response = as_admin.post("/api/agents/scribe/loops", body)

    assert response.status_code == 400
    assert len(response.content) < 10_000
    assert time.process_time() - began < 4, "the square of its length would take minutes"
    assert nothing_was_made()


TYPES = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "application/merge-patch+json",
    "application/json; charset=utf-16",
    "application/json; charset=latin-1",
    "text/json",
    "json",
    "a" * 1000,
]


@pytest.mark.parametrize("content_type", TYPES)
def test_another_content_type_than_json_is_refused(counted: Any, as_admin: Caller, content_type: str) -> None:
    before = counted()

    for method, path in WITH_BODY:
        response = as_admin.send(method, path, b'{"name": "a"}', content_type)

        assert response.status_code == 415, (method, path, response.content)
        assert "application/json" in response.json()["detail"]
    assert counted() == before


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON", 'application/json; charset="UTF-8"'])
def test_json_is_known_however_it_is_written(agent: Any, as_alice: Caller, content_type: str) -> None:
    body = b'{"message": "Go", "max_runs": 1}'

    assert as_alice.send("POST", "/api/agents/scribe/loops", body, content_type).status_code == 202


def test_a_body_without_a_content_type_is_refused(agent: Any, as_alice: Caller) -> None:
    response = as_alice.send("POST", "/api/agents/scribe/loops", b'{"message": "Go", "max_runs": 1}', "")

    assert response.status_code == 415
    assert "none was given" in response.json()["detail"]


def test_a_form_of_a_logged_in_person_is_refused_as_such(agent: Any, alice: Any) -> None:
    """The CSRF check has read the form by then; that must not show as a fault of ours."""
    client = Client(raise_request_exception=False)
    client.force_login(alice)

    response = check(client.post("/api/agents/scribe/loops", {"message": "Go"}))

    assert response.status_code == 415


@pytest.mark.parametrize("path", ["loops/{loop_id}/stop", "agents/scribe/start", "agents/scribe/stop"])
def test_a_call_without_fields_takes_an_empty_object_and_nothing_else(agent: Any, as_alice: Caller, path: str) -> None:
    loop_id = as_alice.post("/api/agents/scribe/loops", {"message": "Go", "max_runs": 1}).json()["loop_id"]
    path = "/api/" + path.format(loop_id=loop_id)

    assert as_alice.post(path, {"now": True}).status_code == 400
    assert as_alice.post(path, b"[]").status_code == 400
    assert as_alice.send("POST", path, b"now=1", "application/x-www-form-urlencoded").status_code == 415
    assert as_alice.send("POST", path, b"", "application/x-www-form-urlencoded").status_code == 200
    assert as_alice.post(path, {}).status_code == 200
    assert as_alice.post(path).status_code == 200


def test_a_chunked_body_names_no_length_and_is_read_all_the_same(agent: Any, alice: Any) -> None:
    headers = [
        (b"host", b"localhost"),
        (b"authorization", f"Bearer {create_key(user=alice).secret}".encode()),
        (b"content-type", b"application/json"),
        (b"transfer-encoding", b"chunked"),
    ]
    scope = {"type": "http", "method": "POST", "path": WITH_BODY[0][1], "query_string": b"", "headers": headers}
    body = io.BytesIO(json.dumps({"message": "Go", "max_runs": 1}).encode())
    handler = BaseHandler()
    handler.load_middleware()

    response = handler.get_response(ASGIRequest(scope, body))

    assert response.status_code == 202, response.content
