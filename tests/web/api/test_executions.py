"""Executions over REST: one call, lists, reading, trajectories, abandoning (design, section 3)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from accounts.models import AuditEvent
from accounts.viewers import Viewer
from agents.runtimes.base import TokenUsage
from executions import tasks
from executions.models import Execution
from executions.services import settle, take
from tests.conftest import StillClock
from tests.engine import WORKER, again, failure, queue_chat, start, success
from tests.web.api.calling import Caller, errors_of, nothing_was_made

PATH = "/api/agents/scribe/executions"


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    """The queues whose workers were told of an abandoned run."""
    settings.DISTRIBUTED = True
    queues: list[str] = []
    monkeypatch.setattr(tasks.end_abandoned, "apply_async", lambda *, queue: queues.append(queue))
    return queues


# --- one call ---------------------------------------------------------------------------------------------


def test_a_call_is_queued_and_read_where_the_answer_says(
    agent: Any, as_alice: Caller, quiet_nudges: list[tuple[int, str]], still_clock: StillClock
) -> None:
    asked = {"prompt": "Do it\n", "model": "opus", "allowed_tools": ["Read"], "timeout_seconds": 60}

    response = as_alice.post(PATH, asked)

    execution = Execution.objects.get()
    assert response.status_code == 202
    assert response.json() == {"execution_id": execution.pk, "status": "queued", "agent_name": "scribe"}
    assert response["Location"] == f"/api/executions/{execution.pk}"
    assert quiet_nudges == [(agent.pk, "default")]
    found = as_alice.get(response["Location"]).json()
    assert {name: found[name] for name in asked} == asked
    assert (found["trigger"], found["category"], found["status"]) == ("api", "API and MCP", "queued")
    assert (found["loop_id"], found["run_number"], found["response"]) == (None, None, None)
    assert found["started_by"] == {"kind": "user", "name": "alice"}
    waiting = {"reason": "worker", "words": "waiting for a worker", "place_in_line": 1, "until": None}
    assert found["waiting"] == waiting | {"why": None, "since": None}
    assert AuditEvent.objects.filter(action="execution_started", target=f"execution:{execution.pk}").count() == 1


WELL = [
    ("prompt", '"x"', "prompt", "x"),
    ("prompt", json.dumps("x" * 100_000), "prompt", "x" * 100_000),
    ("prompt", '" as sent "', "prompt", " as sent "),
    ("model", "null", "model", ""),
    ("model", json.dumps("m" * 200), "model", "m" * 200),
    ("allowed_tools", "null", "allowed_tools", None),
    ("allowed_tools", '["a", "b"]', "allowed_tools", ["a", "b"]),
    ("timeout_seconds", "null", "timeout_seconds", 7200),
    ("timeout_seconds", "10", "timeout_seconds", 10),
    ("timeout_seconds", "7200.0", "timeout_seconds", 7200),
]
WRONG = [
    ("prompt", "null", "required"),
    ("prompt", '""', "from 1 to 100,000"),
    ("prompt", json.dumps("x" * 100_001), "it has 100,001"),
    ("prompt", "5", "string; 5"),
    ("prompt", r'"\u0000"', "NUL"),
    ("prompt", r'"\udc00"', "lone surrogate"),
    ("model", json.dumps("m" * 201), "at most 200"),
    ("model", "1", "string; 1"),
    ("allowed_tools", "[]", "Must not be empty"),
    ("allowed_tools", '"Read"', "list of names"),
    ("allowed_tools", "[null]", "string; null"),
    ("timeout_seconds", "9", "from 10 to 7,200; 9"),
    ("timeout_seconds", "7201", "from 10 to 7,200; 7201"),
    ("timeout_seconds", "10.5", "whole number"),
    ("timeout_seconds", '"60"', "whole number"),
    ("timeout_seconds", "true", "whole number"),
    ("timeout_seconds", "1e400", "whole number"),
    ("promt", '"x"', "Did you mean 'prompt'?"),
    ("max_runs", "1", "Unknown field."),
]


def body_with(field: str, text: str) -> bytes:
    fields = {"prompt": '"Go"'} | {field: text}
    return ("{" + ",".join(f"{json.dumps(name)}: {value}" for name, value in fields.items()) + "}").encode()


@pytest.mark.parametrize(("field", "text", "column", "stored"), WELL, ids=lambda value: str(value)[:30])
def test_a_value_within_its_bounds_is_stored(
    make_agent: Any, as_alice: Caller, field: str, text: str, column: str, stored: Any
) -> None:
    make_agent(execution_timeout_seconds=7200)

    assert as_alice.post(PATH, body_with(field, text)).status_code == 202
    assert getattr(Execution.objects.get(), column) == stored


@pytest.mark.parametrize(("field", "text", "sentence"), WRONG, ids=lambda value: value[:30])
def test_a_value_outside_its_bounds_is_refused_at_its_field_and_leaves_no_row(
    make_agent: Any, as_alice: Caller, field: str, text: str, sentence: str
) -> None:
    make_agent(execution_timeout_seconds=7200)

    response = as_alice.post(PATH, body_with(field, text))

    assert response.status_code == 400
    assert list(errors_of(response)) == [field]
    assert sentence in errors_of(response)[field][0]
    assert nothing_was_made()


def test_a_timeout_above_the_agents_names_both(agent: Any, as_alice: Caller) -> None:
    response = as_alice.post(PATH, {"prompt": "Go", "timeout_seconds": 901})

    assert response.status_code == 400
    assert (response.json()["agent_cap_seconds"], response.json()["requested_seconds"]) == (900, 901)
    assert nothing_was_made()


def test_a_stopped_agent_takes_no_call(make_agent: Any, as_alice: Caller) -> None:
    make_agent(status="stopped")

    assert as_alice.post(PATH, {"prompt": "Go"}).status_code == 409
    assert as_alice.post(PATH, {"prompt": "Go", "timeout_seconds": 901}).status_code == 400
    assert nothing_was_made()


def test_tools_that_the_runtime_cannot_restrict_are_refused(make_agent: Any, as_alice: Caller) -> None:
    make_agent(runtime="command", runtime_settings={"argv": ["true"]})

    response = as_alice.post(PATH, {"prompt": "Go", "allowed_tools": ["Read"]})

    assert response.status_code == 400
    assert list(errors_of(response)) == ["allowed_tools"]
    assert nothing_was_made()


# --- read -------------------------------------------------------------------------------------------------


def test_an_execution_that_ended_shows_what_came_of_it(agent: Any, as_alice: Caller, still_clock: StillClock) -> None:
    path = as_alice.post(PATH, {"prompt": "Go"})["Location"]
    run = take(agent.pk, WORKER)
    outcome = replace(
        success("ä" * 700, 0.125),
        tokens=TokenUsage(input=10, output=20),
        model="opus-5",
        permission_denials=("Bash",),
        steps=(({"tool": "Read", "args": {"path": "a"}, "result": "text"},),),
        commits=2,
        lines_added=41,
        lines_removed=7,
        duration_ms=1234,
    )
    settle(run, outcome)

    found = as_alice.get(path).json()

    assert (found["status"], found["response"], found["cost_usd"]) == ("completed", "ä" * 700, 0.125)
    assert found["tokens"] == {"input": 10, "output": 20, "cache_read": None, "cache_write": None}
    assert (found["used_model"], found["permission_denials"], found["tool_calls"]) == ("opus-5", ["Bash"], 1)
    assert (found["commits"], found["lines_added"], found["lines_removed"]) == (2, 41, 7)
    assert (found["duration_ms"], found["waiting"]) == (1234, None)
    assert as_alice.get(f"{path}/trajectory").json() == {
        "format": "trinity-trajectory/1",
        "steps": [[{"tool": "Read", "args": {"path": "a"}, "result": "text"}]],
        "end_reason": "completed",
    }
    (row,) = as_alice.get("/api/executions").json()
    assert (row["prompt_preview"], row["response_preview"]) == ("Go", "ä" * 500)
    assert not {"prompt", "response"} & set(row)
    shared = set(row) & set(found)
    assert {name: row[name] for name in shared} == {name: found[name] for name in shared}


def test_an_execution_that_failed_says_why(agent: Any, as_alice: Caller) -> None:
    path = as_alice.post(PATH, {"prompt": "Go"})["Location"]
    settle(take(agent.pk, WORKER), failure("no network"))

    found = as_alice.get(path).json()

    assert (found["status"], found["error_kind"], found["error"]) == ("failed", "agent_error", "no network")
    assert found["cost_usd"] is None


def test_a_trajectory_that_was_not_recorded_is_not_found(agent: Any, as_alice: Caller) -> None:
    path = as_alice.post(PATH, {"prompt": "Go"})["Location"]

    response = as_alice.get(f"{path}/trajectory")

    assert response.status_code == 404
    assert "No trajectory" in response.json()["detail"]


# --- lists ------------------------------------------------------------------------------------------------


def test_executions_are_listed_newest_first_and_narrowed(
    make_agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    scribe, editor = make_agent(), make_agent("editor")
    loop = start(scribe, viewer)
    run = take(scribe.pk, WORKER)
    still_clock.pass_seconds(1)
    chat = queue_chat(scribe)
    still_clock.pass_seconds(1)
    other = queue_chat(editor)

    def ids(query: str) -> list[str]:
        response = as_alice.get(f"/api/executions{query}")
        assert response.status_code == 200
        return [one["execution_id"] for one in response.json()]

    assert ids("") == [other.pk, chat.pk, run.pk]
    assert ids("?limit=1") == [other.pk]
    assert ids("?agent=scribe") == [chat.pk, run.pk]
    assert ids("?trigger=loop") == [run.pk]
    assert ids("?status=queued&agent=scribe") == [chat.pk]
    assert ids(f"?loop_id={loop.pk}") == [run.pk]
    assert ids("?loop_id=loop_0123456789abcdef") == []
    assert ids("?status=timed_out") == []


def test_an_unknown_trigger_or_status_is_answered_with_the_known_ones(agent: Any, as_alice: Caller) -> None:
    errors = errors_of(as_alice.get("/api/executions?trigger=magic&status=stopped"))

    assert "loop, chat, api, mcp, schedule, reminder" in errors["trigger"][0]
    assert "queued, running, completed, failed, timed_out, cancelled" in errors["status"][0]


def test_executions_of_an_unknown_agent_are_not_found(agent: Any, as_alice: Caller) -> None:
    assert as_alice.get("/api/executions?agent=nobody").status_code == 404
    assert as_alice.get("/api/executions?agent=%00").status_code == 400
    assert as_alice.get("/api/executions?loop_id=%00").status_code == 400


# --- abandon ----------------------------------------------------------------------------------------------


def test_a_run_in_flight_is_marked_and_its_workers_are_told(
    agent: Any, as_alice: Caller, viewer: Viewer, told: list[str], still_clock: StillClock
) -> None:
    start(agent, viewer)
    run = take(agent.pk, WORKER)
    path = f"/api/executions/{run.pk}/abandon"

    answers = [as_alice.post(path) for _ in range(2)]

    assert [one.status_code for one in answers] == [200, 200]
    assert answers[0].json() == {"execution_id": run.pk, "status": "abandoning"}
    assert again(run).abandon_requested_at == still_clock.now
    assert again(run).status == "running", "its worker ends it"
    assert told == ["place.default", "place.default"]
    recorded = AuditEvent.objects.get(action="execution_abandoned")
    assert (recorded.target, recorded.by_user, recorded.refused) == (f"execution:{run.pk}", viewer.user, False)


def test_a_broker_that_is_away_does_no_harm(
    agent: Any, as_alice: Caller, viewer: Viewer, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DISTRIBUTED = True

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(tasks.end_abandoned, "apply_async", refuse)
    start(agent, viewer)
    run = take(agent.pk, WORKER)

    assert as_alice.post(f"/api/executions/{run.pk}/abandon").status_code == 200
    assert again(run).abandon_requested_at is not None


def test_a_waiting_call_is_cancelled(agent: Any, as_alice: Caller, told: list[str]) -> None:
    call = queue_chat(agent)

    response = as_alice.post(f"/api/executions/{call.pk}/abandon")

    assert response.json() == {"execution_id": call.pk, "status": "cancelled"}
    assert again(call).status == "cancelled"
    assert told == []


def test_a_waiting_run_of_a_loop_is_refused(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    run = Execution.objects.get()

    response = as_alice.post(f"/api/executions/{run.pk}/abandon")

    assert response.status_code == 409
    assert "stop the loop instead" in response.json()["detail"]
    assert response.json()["loop_id"] == loop.pk
    assert again(run).abandon_requested_at is None
    assert not AuditEvent.objects.filter(action="execution_abandoned").exists()


def test_an_ended_execution_is_refused(agent: Any, as_alice: Caller) -> None:
    queue_chat(agent)
    run = take(agent.pk, WORKER)
    settle(run, success())

    response = as_alice.post(f"/api/executions/{run.pk}/abandon")

    assert response.status_code == 409
    assert "it is completed" in response.json()["detail"]
    assert again(run).abandon_requested_at is None
