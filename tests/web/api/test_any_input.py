"""Whatever is sent, what comes back is as the schema says, and no fault of ours (inputs by schemathesis)."""

import json
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from schemathesis.core.parameters import ParameterLocation

from accounts.viewers import Viewer
from executions.services import take
from tests.engine import WORKER, start
from tests.web.api.calling import Caller
from trinity.rest.docs import schema

OPERATIONS = [found.ok() for found in schemathesis.openapi.from_dict(schema()).get_all_operations()]
few = settings(
    max_examples=5,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def known(agent: Any, alice: Any, bob: Any, make_agent: Any) -> dict[str, str]:
    """Rows that a path may lead to; a generated path leads nowhere."""
    make_agent("editor")
    loop = start(agent, Viewer(user=alice))
    run = take(agent.pk, WORKER)
    assert run is not None
    return {"name": "scribe", "username": bob.username, "target": "editor", "loop_id": loop.pk, "execution_id": run.pk}


def send(caller: Caller, case: Any, places: dict[str, str]) -> Any:
    """The generated request as our own caller, to rows that exist where the path names any."""
    found = {name: places.get(name, str(value)) for name, value in (case.path_parameters or {}).items()}
    path = case.operation.path.format(**{name: quote(value, safe="") for name, value in found.items()})
    query = urlencode([(name, one) for name, value in (case.query or {}).items() for one in _each(value)])
    return caller.send(case.method, f"{path}?{query}" if query else path, _body_of(case))


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _body_of(case: Any) -> bytes | None:
    match case.body:
        case NotSet():
            return None
        case bytes():
            return bytes(case.body)
        case _:
            return json.dumps(case.body).encode()


def strays(case: Any) -> bool:
    """Whether its query or its body breaks the schema; its path and headers are replaced by ours.

    A parameter with no value at all is not sent, and so breaks nothing.
    """
    if [] in (case.query or {}).values():
        return False
    parts = case.meta.components
    query = case.query if isinstance(case.query, dict) else {}
    sent = [ParameterLocation.BODY] + [ParameterLocation.QUERY] * bool(urlencode(query, doseq=True))
    return any(parts[one].mode.is_negative for one in sent if one in parts)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_any_request_is_answered_as_the_schema_says(operation: Any, as_admin: Caller, known: dict[str, str]) -> None:
    @few
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def call(case: Any) -> None:
        assert send(as_admin, case, known).status_code < 500

    call()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_a_request_that_strays_from_the_schema_is_refused(
    operation: Any, as_admin: Caller, known: dict[str, str]
) -> None:
    @few
    @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def call(case: Any) -> None:
        status = send(as_admin, case, known).status_code
        assert status < 500
        assert status >= 400 or not strays(case), case.body

    call()
