"""Every field of a start at, below and above its bounds (design, section 2)."""

import json
from typing import Any

import pytest

from loops.invariants import check_loop
from loops.models import Loop
from tests.web.api.calling import Caller, errors_of, nothing_was_made

PATH = "/api/agents/scribe/loops"
LONGEST = "x" * 100_000


def body_with(**texts: str) -> bytes:
    """A body from JSON texts, so that `2.0`, `1e400` and lone surrogates arrive as they are written."""
    fields = {"message": '"Go"', "max_runs": "3", **texts}
    return ("{" + ",".join(f"{json.dumps(name)}: {text}" for name, text in fields.items()) + "}").encode()


WELL = [
    ("message", '"x"', "message", "x"),
    ("message", json.dumps(LONGEST), "message", LONGEST),
    ("message", json.dumps("🦉" * 100_000), "message", "🦉" * 100_000),
    ("message", '"  kept as sent \\n"', "message", "  kept as sent \n"),
    ("message", '" "', "message", " "),
    ("max_runs", "1", "max_runs", 1),
    ("max_runs", "100", "max_runs", 100),
    ("max_runs", "2.0", "max_runs", 2),
    ("max_runs", "1e2", "max_runs", 100),
    ("stop_signal", '"[[DONE]]"', "stop_signal", "[[DONE]]"),
    ("stop_signal", '"  [[DONE]]\\n"', "stop_signal", "[[DONE]]"),
    ("stop_signal", '"   "', "stop_signal", ""),
    ("stop_signal", '""', "stop_signal", ""),
    ("stop_signal", "null", "stop_signal", ""),
    ("stop_signal", json.dumps("s" * 200), "stop_signal", "s" * 200),
    ("stop_signal", json.dumps(" " * 50 + "s" * 200), "stop_signal", "s" * 200),
    ("delay_seconds", "0", "delay_seconds", 0),
    ("delay_seconds", "3600", "delay_seconds", 3600),
    ("delay_seconds", "3600.0", "delay_seconds", 3600),
    ("delay_seconds", "null", "delay_seconds", 0),
    ("timeout_per_run", "10", "timeout_per_run", 10),
    ("timeout_per_run", "7200", "timeout_per_run", 7200),
    ("timeout_per_run", "null", "timeout_per_run", 7200),
    ("max_duration_seconds", "7200", "max_duration_seconds", 7200),
    ("max_duration_seconds", "604800", "max_duration_seconds", 604_800),
    ("max_duration_seconds", "null", "max_duration_seconds", None),
    ("no_progress_threshold", "0", "no_progress_threshold", 0),
    ("no_progress_threshold", "2", "no_progress_threshold", 2),
    ("no_progress_threshold", "1000", "no_progress_threshold", 1000),
    ("no_progress_threshold", "null", "no_progress_threshold", 3),
    ("max_cost_usd", "0.001", "max_cost_nano", 1_000_000),
    ("max_cost_usd", "0.1", "max_cost_nano", 100_000_000),
    ("max_cost_usd", "5", "max_cost_nano", 5_000_000_000),
    ("max_cost_usd", "1e-30", "max_cost_nano", 1),
    ("max_cost_usd", "1e9", "max_cost_nano", 10**18),
    ("max_cost_usd", "null", "max_cost_nano", None),
    ("on_failure", '"abort"', "on_failure", "abort"),
    ("on_failure", '"continue"', "on_failure", "continue"),
    ("on_failure", "null", "on_failure", "abort"),
    ("max_consecutive_failures", "1", "max_consecutive_failures", 1),
    ("max_consecutive_failures", "100", "max_consecutive_failures", 100),
    ("max_consecutive_failures", "null", "max_consecutive_failures", 3),
    ("model", '"opus"', "model", "opus"),
    ("model", '""', "model", ""),
    ("model", "null", "model", ""),
    ("model", json.dumps("m" * 200), "model", "m" * 200),
    ("allowed_tools", '["Read"]', "allowed_tools", ["Read"]),
    ("allowed_tools", '["Read", "Bash(git log:*)"]', "allowed_tools", ["Read", "Bash(git log:*)"]),
    ("allowed_tools", "null", "allowed_tools", None),
]

NUMBER = '"3"'  # a number as a string
WRONG = [
    ("message", "null", "required"),
    ("message", '""', "from 1 to 100,000"),
    ("message", json.dumps(LONGEST + "x"), "from 1 to 100,000 characters; it has 100,001"),
    ("message", "7", "string; 7 was given"),
    ("message", "true", "string; true"),
    ("message", '["Go"]', "string; a list"),
    ("message", "{}", "string; an object"),
    ("message", r'"a\u0000b"', "NUL"),
    ("message", r'"a\ud800b"', "lone surrogate stands at character 2"),
    ("message", r'"a\udfffb"', "lone surrogate"),
    ("max_runs", "null", "required"),
    ("max_runs", "0", "from 1 to 100; 0"),
    ("max_runs", "-1", "from 1 to 100; -1"),
    ("max_runs", "101", "from 1 to 100; 101"),
    ("max_runs", "2.5", "whole number from 1 to 100; 2.5"),
    ("max_runs", NUMBER, 'whole number from 1 to 100; "3"'),
    ("max_runs", "true", "whole number from 1 to 100; true"),
    ("max_runs", "1e400", "whole number from 1 to 100; Infinity"),
    ("max_runs", "9" * 400, "whole number from 1 to 100"),
    ("max_runs", "[3]", "whole number from 1 to 100; a list"),
    ("max_runs", "{}", "whole number from 1 to 100; an object"),
    ("stop_signal", json.dumps("s" * 201), "at most 200 characters; it has 201"),
    ("stop_signal", "5", "string; 5"),
    ("stop_signal", "false", "string; false"),
    ("stop_signal", r'"\u0000"', "NUL"),
    ("delay_seconds", "-1", "from 0 to 3,600; -1"),
    ("delay_seconds", "3601", "from 0 to 3,600; 3601"),
    ("delay_seconds", "0.5", "whole number from 0 to 3,600; 0.5"),
    ("delay_seconds", NUMBER, "whole number from 0 to 3,600"),
    ("delay_seconds", "false", "whole number from 0 to 3,600; false"),
    ("timeout_per_run", "9", "from 10 to 7,200; 9"),
    ("timeout_per_run", "7201", "from 10 to 7,200; 7201"),
    ("timeout_per_run", '"60"', "whole number from 10 to 7,200"),
    ("max_duration_seconds", "0", "from 1 to 604,800; 0"),
    ("max_duration_seconds", "604801", "from 1 to 604,800; 604801"),
    ("max_duration_seconds", "7199", "at least the timeout per run: 7200 s (asked: 7199 s)"),
    ("max_duration_seconds", "true", "whole number from 1 to 604,800"),
    ("no_progress_threshold", "1", "0 (off) or at least 2"),
    ("no_progress_threshold", "-2", "from 0 to"),
    ("no_progress_threshold", "2147483648", "from 0 to 2,147,483,647"),
    ("no_progress_threshold", "2.5", "whole number"),
    ("no_progress_threshold", NUMBER, "whole number"),
    ("max_cost_usd", "0", "more than 0"),
    ("max_cost_usd", "-0.0", "more than 0"),
    ("max_cost_usd", "-1", "more than 0"),
    ("max_cost_usd", "1e400", "finite"),
    ("max_cost_usd", "-1e400", "finite"),
    ("max_cost_usd", "9" * 400, "finite"),
    ("max_cost_usd", "1e12", "at most 9,000,000,000"),
    ("max_cost_usd", '"5"', 'number; "5"'),
    ("max_cost_usd", "true", "number; true"),
    ("on_failure", '"retry"', "abort, continue"),
    ("on_failure", '"Continue"', "Did you mean 'continue'?"),
    ("on_failure", '""', "abort, continue"),
    ("on_failure", "0", "abort, continue; 0"),
    ("max_consecutive_failures", "0", "from 1 to 100; 0"),
    ("max_consecutive_failures", "101", "from 1 to 100; 101"),
    ("max_consecutive_failures", NUMBER, "whole number from 1 to 100"),
    ("model", json.dumps("m" * 201), "at most 200 characters; it has 201"),
    ("model", "4", "string; 4"),
    ("model", r'"\ud800"', "lone surrogate"),
    ("allowed_tools", "[]", "Must not be empty"),
    ("allowed_tools", '"Read"', 'list of names; "Read"'),
    ("allowed_tools", "[1]", "string; 1"),
    ("allowed_tools", '[""]', "from 1 to 200 characters"),
    ("allowed_tools", '["  "]', "blank"),
    ("allowed_tools", r'["a\u0000"]', "NUL"),
    ("allowed_tools", json.dumps(["t"] * 201), "at most 200 names; it has 201"),
    ("allowed_tools", json.dumps(["t" * 201]), "from 1 to 200 characters; it has 201"),
    ("allowed_tools", '{"Read": true}', "list of names; an object"),
]


def label(value: Any) -> str | None:
    return value[:30] if isinstance(value, str) else None


@pytest.fixture
def patient_agent(make_agent: Any) -> Any:
    """Its own timeout is the longest, so that only a field's own bounds refuse."""
    return make_agent(execution_timeout_seconds=7200)


@pytest.mark.parametrize(("field", "text", "column", "stored"), WELL, ids=label)
def test_a_value_within_its_bounds_is_stored_as_the_contract_says(
    patient_agent: Any, as_alice: Caller, field: str, text: str, column: str, stored: Any
) -> None:
    response = as_alice.post(PATH, body_with(**{field: text}))

    assert response.status_code == 202, response.content
    loop = Loop.objects.get()
    assert response.json() == {
        "loop_id": loop.pk,
        "status": "queued",
        "agent_name": "scribe",
        "max_runs": loop.max_runs,
    }
    assert response["Location"] == f"/api/loops/{loop.pk}"
    assert getattr(loop, column) == stored
    assert check_loop(loop) == []


@pytest.mark.parametrize(("field", "text", "sentence"), WRONG, ids=label)
def test_a_value_outside_its_bounds_is_refused_at_its_field_and_leaves_no_row(
    patient_agent: Any, as_alice: Caller, field: str, text: str, sentence: str
) -> None:
    response = as_alice.post(PATH, body_with(**{field: text}))

    assert response.status_code == 400, response.content
    assert list(errors_of(response)) == [field]
    assert sentence in errors_of(response)[field][0]
    assert sentence in response.json()["detail"]
    assert response.json()["code"] == "invalid"
    assert nothing_was_made()


def test_all_that_is_wrong_is_said_at_once(patient_agent: Any, as_alice: Caller) -> None:
    response = as_alice.post(PATH, {"max_runs": 0, "mesage": "Go", "delay_seconds": "1"})

    assert response.status_code == 400
    assert errors_of(response) == {
        "mesage": ["Unknown field. Did you mean 'message'?"],
        "message": ["This field is required."],
        "max_runs": ["Must be from 1 to 100; 0 was given."],
        "delay_seconds": ['Must be a whole number from 0 to 3,600; "1" was given.'],
    }
    assert nothing_was_made()


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("max_run", " Did you mean 'max_runs'?"),
        ("timeout", " Did you mean 'timeout_per_run'?"),
        ("stopSignal", " Did you mean 'stop_signal'?"),
        ("MESSAGE", ""),
        ("zzz", ""),
        ("", ""),
        ("a\x00b", ""),
    ],
)
def test_an_unknown_field_is_refused_by_name_with_the_nearest_known_one(
    patient_agent: Any, as_alice: Caller, field: str, hint: str
) -> None:
    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3, field: None})

    assert response.status_code == 400
    assert errors_of(response) == {field.replace("\x00", "\ufffd"): [f"Unknown field.{hint}"]}
    assert nothing_was_made()


def test_an_unknown_field_with_a_lone_surrogate_in_its_name_is_refused(patient_agent: Any, as_alice: Caller) -> None:
    response = as_alice.post(PATH, body_with()[:-1] + rb', "a\ud800": 1}')

    assert response.status_code == 400
    assert errors_of(response) == {"a?": ["Unknown field."]}
    assert nothing_was_made()


def test_a_timeout_above_the_agents_names_both(make_agent: Any, as_alice: Caller) -> None:
    make_agent(execution_timeout_seconds=600)

    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3, "timeout_per_run": 601})

    assert response.status_code == 400
    assert response.json()["agent_cap_seconds"] == 600
    assert response.json()["requested_seconds"] == 601
    assert list(errors_of(response)) == ["timeout_per_run"]
    assert nothing_was_made()


def test_a_timeout_at_the_agents_is_taken(make_agent: Any, as_alice: Caller) -> None:
    make_agent(execution_timeout_seconds=600)

    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3, "timeout_per_run": 600})

    assert response.status_code == 202
    assert Loop.objects.get().timeout_per_run == 600


@pytest.mark.parametrize(("asked", "timeout"), [({}, 600), ({"timeout_per_run": 60}, 60)])
def test_a_deadline_below_the_effective_timeout_names_both(
    make_agent: Any, as_alice: Caller, asked: dict[str, int], timeout: int
) -> None:
    make_agent(execution_timeout_seconds=600)

    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3, "max_duration_seconds": timeout - 1, **asked})

    assert response.status_code == 400
    assert response.json()["timeout_per_run"] == timeout
    assert response.json()["max_duration_seconds"] == timeout - 1
    assert list(errors_of(response)) == ["max_duration_seconds"]
    assert nothing_was_made()


def test_a_stopped_agent_refuses_with_a_conflict(make_agent: Any, as_alice: Caller) -> None:
    make_agent(status="stopped")

    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3})

    assert response.status_code == 409
    assert "scribe is stopped" in response.json()["detail"]
    assert nothing_was_made()


def test_a_wrong_field_is_said_before_the_agents_state(make_agent: Any, as_alice: Caller) -> None:
    make_agent(status="stopped", execution_timeout_seconds=60)

    assert as_alice.post(PATH, {"message": "Go", "max_runs": 0}).status_code == 400
    assert as_alice.post(PATH, {"message": "Go", "max_runs": 1, "timeout_per_run": 61}).status_code == 400
    assert nothing_was_made()


def test_an_unknown_agent_is_said_before_a_wrong_field(agent: Any, as_alice: Caller) -> None:
    assert as_alice.post("/api/agents/nobody/loops", {"max_runs": 0}).status_code == 404


def test_no_key_is_said_before_all_else(agent: Any, as_nobody: Caller) -> None:
    response = as_nobody.post("/api/agents/nobody/loops", b"{")

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_runtime_that_cannot_restrict_tools_refuses_them(make_agent: Any, as_alice: Caller) -> None:
    make_agent(runtime="command", runtime_settings={"argv": ["true"]})

    response = as_alice.post(PATH, {"message": "Go", "max_runs": 3, "allowed_tools": ["Read"]})

    assert response.status_code == 400
    assert "cannot restrict tools" in errors_of(response)["allowed_tools"][0]
    assert nothing_was_made()
