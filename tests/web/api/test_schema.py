"""The OpenAPI schema: whole, fresh, and saying the bounds that the API keeps."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from tests.web.api.calling import Caller
from tests.web.api.test_access import TABLE
from tests.web.api.test_executions import WELL as CALL_WELL
from tests.web.api.test_executions import WRONG as CALL_WRONG
from tests.web.api.test_start_loop_fields import WELL, WRONG
from trinity.rest.docs import schema

ROOT = Path(__file__).parents[3]
# What only strict reading or the agent itself can refuse; JSON Schema has no words for it.
BEYOND_SCHEMA = ("NUL", "lone surrogate", "blank", "at least the timeout", "finite")


def test_the_schema_in_docs_is_fresh(tmp_path: Path) -> None:
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(fresh), validate=True, fail_on_warn=True)

    assert (ROOT / "docs" / "openapi.yaml").read_text() == fresh.read_text(), (
        "run: manage.py spectacular --file docs/openapi.yaml"
    )


def test_the_schema_is_served_as_json(as_nobody: Caller) -> None:
    response = as_nobody.get("/api/schema/", Accept="text/html")

    assert response["Content-Type"] == "application/json"
    assert response.json() == json.loads(json.dumps(schema()))
    assert response.json() == yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())
    validate_schema(response.json())


def test_every_route_is_described() -> None:
    described = {
        (method.upper(), path.removeprefix("/api/"))
        for path, methods in schema()["paths"].items()
        for method in methods
    }
    undescribed = {"", "^", "docs", "docs/", "schema", "schema/", "graders"}

    assert described == {one for one in TABLE if one[1] not in undescribed}


def test_every_operation_has_a_name_a_sentence_and_its_problems() -> None:
    operations = [one for methods in schema()["paths"].values() for one in methods.values()]

    assert len({one["operationId"] for one in operations}) == len(operations)
    for one in operations:
        assert one["summary"]
        assert one["tags"][0] in ("Agents", "Executions", "Loops", "Rooms", "Keys", "Graders")
        assert {"bearer": []} in one["security"]
        assert {"400", "401", "403", "404", "503", "default"} <= set(one["responses"])


def request_of(path: str) -> Draft202012Validator:
    reference = schema()["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return Draft202012Validator({**reference, "components": schema()["components"]})


def refuses(described: Draft202012Validator, base: dict[str, Any], field: str, text: str) -> bool:
    return not described.is_valid(base | {field: json.loads(text)})


LOOP, CALL = "/api/agents/{name}/loops", "/api/agents/{name}/executions"
CASES = [(LOOP, {"message": "Go", "max_runs": 1}, *one) for one in WRONG] + [
    (CALL, {"prompt": "Go"}, *one) for one in CALL_WRONG
]


@pytest.mark.parametrize(
    ("path", "base", "field", "text", "sentence"),
    [one for one in CASES if not any(words in one[-1] for words in BEYOND_SCHEMA)],
    ids=lambda value: str(value)[:20],
)
def test_the_schema_refuses_what_the_api_refuses(
    path: str, base: dict[str, Any], field: str, text: str, sentence: str
) -> None:
    assert refuses(request_of(path), base, field, text)


@pytest.mark.parametrize(
    ("path", "base", "field", "text"),
    [(LOOP, {"message": "Go", "max_runs": 1}, *one[:2]) for one in WELL if "  " not in one[1]]
    + [(CALL, {"prompt": "Go"}, *one[:2]) for one in CALL_WELL],
    ids=lambda value: str(value)[:20],
)
def test_the_schema_takes_what_the_api_takes(path: str, base: dict[str, Any], field: str, text: str) -> None:
    assert not refuses(request_of(path), base, field, text)
