"""Whatever stands in an address behind the question mark, a page is shown or refused cleanly; nothing breaks."""

import pytest
from django.test import Client

from tests.web.pages.conftest import Stage
from tests.web.pages.test_loops_tab import TAB

RUBBISH = [
    "%00",
    "a%00b",
    "loop_0123456789abcde%00",
    "%F0%28%8C%28",
    "%ED%A0%80",
    "..%2f",
    "%0a",
    "x" * 3_000,
    "[]",
    "-1",
]
PAGES = {
    TAB: ["again", "open", "all", "run", "whole", "older", "status", "named"],
    f"{TAB}rows/": ["open", "run", "older", "status"],
    "/agents/scribe/": ["span", "open"],
    "/agents/scribe/executions/": ["before", "trigger", "status", "loop_id"],
    "/executions/": ["agent", "before", "trigger", "status", "loop_id"],
    "/": ["open", "run"],
}


@pytest.mark.parametrize("rubbish", RUBBISH)
@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in PAGES.items() for name in names])
def test_rubbish_in_an_address_is_a_clean_answer(
    as_alice: Client, stage: Stage, path: str, name: str, rubbish: str
) -> None:
    assert as_alice.get(f"{path}?{name}={rubbish}").status_code in (200, 400, 404)


@pytest.mark.parametrize("rubbish", ["a\x00b", "\ud800", "x" * 100_001])
def test_rubbish_in_a_form_is_refused_at_its_field_or_cleaned(as_alice: Client, stage: Stage, rubbish: str) -> None:
    for name in ("message", "stop_signal", "model", "allowed_tools", "max_runs", "form_token", "open"):
        sent = {"message": "x", "max_runs": "1", "tools": "some", "allowed_tools": "Read", name: rubbish}
        body = "&".join(f"{key}={value}" for key, value in sent.items()).encode("utf-8", "surrogatepass")

        response = as_alice.post(TAB, body, content_type="application/x-www-form-urlencoded")

        assert response.status_code in (302, 400), name
