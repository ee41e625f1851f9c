"""Agents over REST: created, changed, started, stopped, archived (design, sections 1 and 3)."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from accounts.models import ApiKey, AuditEvent
from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.services import settle, take
from loops.invariants import check_loop
from tests.engine import WORKER, again, queue_chat, start, success
from tests.web.api.calling import Caller, errors_of

NEW = {"name": "new", "runtime": "scripted", "runtime_settings": {"replies": [{"response": "done"}]}}


def body_with(**texts: str) -> bytes:
    """A body from JSON texts, so that each arrives as it is written."""
    fields = {name: json.dumps(value) for name, value in NEW.items()} | texts
    return ("{" + ",".join(f"{json.dumps(name)}: {text}" for name, text in fields.items()) + "}").encode()


# --- create -----------------------------------------------------------------------------------------------


def test_a_new_agent_is_running_owned_by_who_made_it_and_has_the_defaults(as_admin: Caller, admin_user: Any) -> None:
    response = as_admin.post("/api/agents", NEW)

    assert response.status_code == 201
    assert response["Location"] == "/api/agents/new"
    found = response.json()
    assert as_admin.get("/api/agents/new").json() == found
    assert (found["owner"], found["status"], found["place"]) == ("root", "running", "default")
    assert (found["execution_timeout_seconds"], found["max_parallel_tasks"]) == (900, 3)
    assert (found["title"], found["model"], found["graders"]) == ("", None, None)
    assert found["runtime_settings"]["replies"] == [{"response": "done"}]
    assert AuditEvent.objects.filter(action="agent_created", target="agent:new", by_user=admin_user).count() == 1


def test_its_own_workspace_is_made(as_admin: Caller) -> None:
    workspace = Path(as_admin.post("/api/agents", NEW).json()["workspace"])

    assert workspace == Path(settings.TRINITY_HOME) / "agents" / "new" / "workspace"
    assert workspace.is_dir()


def test_in_a_folder_that_existed_before_one_run_goes_at_a_time(as_admin: Caller, tmp_path: Path) -> None:
    found = as_admin.post("/api/agents", {**NEW, "workspace": str(tmp_path)}).json()

    assert (found["workspace"], found["max_parallel_tasks"]) == (str(tmp_path), 1)


def test_unless_it_is_said_otherwise(as_admin: Caller, tmp_path: Path) -> None:
    found = as_admin.post("/api/agents", {**NEW, "workspace": str(tmp_path), "max_parallel_tasks": 4}).json()

    assert found["max_parallel_tasks"] == 4


def test_a_folder_at_another_place_is_not_looked_for_here(as_admin: Caller) -> None:
    response = as_admin.post("/api/agents", {**NEW, "workspace": "/only/there", "place": "lab"})

    assert (response.status_code, response.json()["place"]) == (201, "lab")


WELL = [
    ("name", '"a"', "a"),
    ("name", json.dumps("a" * 63), "a" * 63),
    ("name", '"0-9"', "0-9"),
    ("title", json.dumps("t" * 200), "t" * 200),
    ("title", '" as sent "', " as sent "),
    ("title", "null", ""),
    ("execution_timeout_seconds", "10", 10),
    ("execution_timeout_seconds", "7200", 7200),
    ("execution_timeout_seconds", "60.0", 60),
    ("execution_timeout_seconds", "null", 900),
    ("max_parallel_tasks", "1", 1),
    ("max_parallel_tasks", "100", 100),
    ("max_parallel_tasks", "null", 3),
    ("model", json.dumps("m" * 200), "m" * 200),
    ("model", "null", ""),
    ("place", '"lab-2.b_c"', "lab-2.b_c"),
    ("place", "null", "default"),
    ("graders", "null", None),
]
WRONG = [
    ("name", "null", "required"),
    ("name", '""', "from 1 to 63 characters"),
    ("name", json.dumps("a" * 64), "from 1 to 63 characters; it has 64"),
    ("name", '"Agent"', "lower-case letters"),
    ("name", '"-a"', "no hyphen at its ends"),
    ("name", '"a-"', "no hyphen at its ends"),
    ("name", '"a b"', "lower-case letters"),
    ("name", '"a/b"', "lower-case letters"),
    ("name", '"a_b"', "lower-case letters"),
    ("name", r'"a\n"', "lower-case letters"),
    ("name", '"é"', "lower-case letters"),
    ("name", r'"\u0000"', "NUL"),
    ("name", "7", "string; 7"),
    ("title", json.dumps("t" * 201), "at most 200 characters; it has 201"),
    ("title", "1", "string; 1"),
    ("title", r'"\ud800"', "lone surrogate"),
    ("runtime", "null", "required"),
    ("runtime", '"magic"', "Must be one of: "),
    ("runtime", '"Scripted"', "Did you mean 'scripted'?"),
    ("runtime", "1", "Must be one of: "),
    ("runtime_settings", "[]", "object; a list"),
    ("runtime_settings", '"x"', "object"),
    ("runtime_settings", r'{"replies": [{"response": "\u0000"}]}', "NUL"),
    ("runtime_settings", r'{"replies": [{"\ud800": 1}]}', "lone surrogate"),
    ("runtime_settings", '{"replies": [{"seconds": 1e400}]}', "not finite"),
    ("workspace", '""', "from 1 to 4,096"),
    ("workspace", '"relative/folder"', "absolute path"),
    ("workspace", '"/no/such/folder"', "none at '/no/such/folder'"),
    ("workspace", '"~"', "absolute path"),
    ("workspace", r'"/a\u0000"', "NUL"),
    ("workspace", json.dumps("/" + "w" * 4096), "from 1 to 4,096 characters; it has 4,097"),
    ("workspace", "7", "string; 7"),
    ("place", '""', "from 1 to 63"),
    ("place", '"a b"', "letters, digits"),
    ("place", json.dumps("p" * 64), "from 1 to 63 characters; it has 64"),
    ("execution_timeout_seconds", "9", "from 10 to 7,200; 9"),
    ("execution_timeout_seconds", "7201", "from 10 to 7,200; 7201"),
    ("execution_timeout_seconds", '"60"', "whole number from 10 to 7,200"),
    ("execution_timeout_seconds", "true", "whole number"),
    ("execution_timeout_seconds", "1e400", "whole number"),
    ("max_parallel_tasks", "0", "from 1 to 100; 0"),
    ("max_parallel_tasks", "101", "from 1 to 100; 101"),
    ("max_parallel_tasks", "1.5", "whole number from 1 to 100"),
    ("model", json.dumps("m" * 201), "at most 200"),
    ("model", "false", "string; false"),
    ("graders", "{}", "list; an object"),
    ("graders", '"loop-outcome"', "list"),
    ("nmae", '"x"', "Did you mean 'name'?"),
    ("owner", '"bob"', "Unknown field."),
    ("status", '"stopped"', "Unknown field."),
]


@pytest.mark.parametrize(("field", "text", "stored"), WELL, ids=lambda value: str(value)[:30])
def test_a_value_within_its_bounds_is_stored(as_admin: Caller, field: str, text: str, stored: Any) -> None:
    response = as_admin.post("/api/agents", body_with(**{field: text}))

    assert response.status_code == 201, response.content
    assert getattr(Agent.objects.get(), field) == stored


@pytest.mark.parametrize(("field", "text", "sentence"), WRONG, ids=lambda value: value[:30])
def test_a_value_outside_its_bounds_is_refused_at_its_field_and_leaves_no_row(
    as_admin: Caller, field: str, text: str, sentence: str
) -> None:
    response = as_admin.post("/api/agents", body_with(**{field: text}))

    assert response.status_code == 400, response.content
    assert list(errors_of(response)) == [field]
    assert sentence in errors_of(response)[field][0]
    assert not Agent.objects.exists()


def test_a_wrong_setting_is_refused_by_its_path(as_admin: Caller) -> None:
    response = as_admin.post("/api/agents", {**NEW, "runtime": "command", "runtime_settings": {"argv": "ls -l"}})

    assert response.status_code == 400
    assert list(errors_of(response)) == ["runtime_settings.argv"]
    assert not Agent.objects.exists()


def test_graders_are_read_when_they_are_set(as_admin: Caller) -> None:
    graders = [{"type": "loop-outcome", "config": {"max_acceptable_retries": 2}}]
    wrong = [{"type": "loop-outcome", "config": {"max_acceptable_retries": True}}]

    taken = as_admin.post("/api/agents", {**NEW, "graders": graders}).json()
    refused = as_admin.patch("/api/agents/new", {"graders": wrong})

    assert taken["graders"][0]["config"]["max_acceptable_retries"] == 2
    assert refused.status_code == 400
    assert list(errors_of(refused)) == ["graders[0].config.max_acceptable_retries"]
    assert as_admin.get("/api/agents/new").json() == taken


def test_a_name_is_never_used_again(as_admin: Caller) -> None:
    as_admin.post("/api/agents", NEW)
    assert as_admin.delete("/api/agents/new").status_code == 200

    response = as_admin.post("/api/agents", NEW)

    assert response.status_code == 409
    assert "never used again" in errors_of(response)["name"][0]
    assert Agent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_that_want_one_name_at_once_one_gets_it(caller_for: Any, admin_user: Any) -> None:
    together = threading.Barrier(2)
    answers: list[int] = []

    def create(caller: Caller) -> None:
        together.wait()
        try:
            answers.append(caller.post("/api/agents", NEW).status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=create, args=(caller_for(admin_user),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sorted(answers) == [201, 409]


# --- change -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "text", "stored"), [one for one in WELL if one[0] not in ("name", "place")])
def test_an_owner_changes_a_field_within_its_bounds(
    agent: Any, as_alice: Caller, field: str, text: str, stored: Any
) -> None:
    Agent.objects.update(title="Old", execution_timeout_seconds=77, max_parallel_tasks=7, model="old")

    response = as_alice.patch("/api/agents/scribe", b'{"' + field.encode() + b'": ' + text.encode() + b"}")

    assert response.status_code == 200, response.content
    assert getattr(Agent.objects.get(), field) == stored, "null is the default again"


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        one
        for one in WRONG
        if one[0] in ("title", "execution_timeout_seconds", "max_parallel_tasks", "model", "graders")
    ],
)
def test_a_change_outside_its_bounds_changes_nothing(
    agent: Any, as_alice: Caller, field: str, text: str, sentence: str
) -> None:
    before = Agent.objects.values().get()

    response = as_alice.patch("/api/agents/scribe", b'{"' + field.encode() + b'": ' + text.encode() + b"}")

    assert response.status_code == 400
    assert sentence in errors_of(response)[field][0]
    assert Agent.objects.values().get() == before


@pytest.mark.parametrize(
    "change",
    [
        {"runtime": "command"},
        {"runtime_settings": {"replies": []}},
        {"workspace": "/"},
        {"place": "lab"},
        {"title": "New", "place": None},
    ],
)
def test_what_code_runs_is_for_admins_only(agent: Any, as_alice: Caller, change: dict[str, Any]) -> None:
    before = Agent.objects.values().get()

    response = as_alice.patch("/api/agents/scribe", change)

    assert response.status_code == 403
    assert "Only an admin" in errors_of(response)[next(name for name in change if name != "title")][0]
    assert Agent.objects.values().get() == before


def test_an_admin_changes_how_it_is_called(agent: Any, as_admin: Caller, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    change = {"runtime": "command", "runtime_settings": {"argv": ["true"]}, "workspace": str(folder), "place": "lab"}

    found = as_admin.patch("/api/agents/scribe", change).json()

    assert (found["runtime"], found["workspace"], found["place"]) == ("command", str(folder), "lab")
    assert found["runtime_settings"]["argv"] == ["true"]
    assert AuditEvent.objects.get(action="agent_changed").facts == {"fields": sorted(change)}


def test_settings_are_read_by_the_runtime_they_are_for(agent: Any, as_admin: Caller) -> None:
    response = as_admin.patch("/api/agents/scribe", {"runtime": "command"})

    assert response.status_code == 400
    assert all(name.startswith("runtime_settings") for name in errors_of(response))
    assert again(agent).runtime == "scripted"


def test_a_workspace_of_null_is_its_own_folder_again(agent: Any, as_admin: Caller) -> None:
    found = as_admin.patch("/api/agents/scribe", {"workspace": None}).json()

    assert found["workspace"] == str(Path(settings.TRINITY_HOME) / "agents" / "scribe" / "workspace")


def test_a_name_never_changes(agent: Any, as_admin: Caller) -> None:
    response = as_admin.patch("/api/agents/scribe", {"name": "other"})

    assert response.status_code == 400
    assert "never changes" in errors_of(response)["name"][0]


def test_changing_nothing_leaves_no_line_in_the_audit_log(agent: Any, as_alice: Caller) -> None:
    as_alice.patch("/api/agents/scribe", {})
    as_alice.patch("/api/agents/scribe", {"title": ""})

    assert not AuditEvent.objects.filter(action="agent_changed").exists()


def test_how_it_is_called_is_shown_to_who_may_change_it(
    agent: Any, as_alice: Caller, as_bob: Caller, shared_with_bob: Any, caller_of: Any
) -> None:
    inner = {"runtime_settings", "workspace"}

    assert inner <= set(as_alice.get("/api/agents/scribe").json())
    assert not inner & set(as_bob.get("/api/agents/scribe").json())
    assert not inner & set(caller_of(agent).get("/api/agents/scribe").json())
    assert not inner & set(as_bob.get("/api/agents").json()[0])


# --- list -------------------------------------------------------------------------------------------------


def test_agents_are_listed_by_name_in_pages(make_agent: Any, as_alice: Caller) -> None:
    for name in ("c", "a", "b"):
        make_agent(name)
    make_agent("stopped", status="stopped")

    def names(query: str) -> list[str]:
        return [one["name"] for one in as_alice.get(f"/api/agents{query}").json()]

    assert names("") == ["a", "b", "c", "stopped"]
    assert names("?limit=2") == ["a", "b"]
    assert names("?limit=2&after=b") == ["c", "stopped"]
    assert names("?status=stopped") == ["stopped"]


# --- start, stop, archive ---------------------------------------------------------------------------------


def test_a_stopped_agent_keeps_what_is_queued_and_goes_on_when_started(
    agent: Any, as_alice: Caller, alice: Any, quiet_nudges: list[tuple[int, str]]
) -> None:
    loop = start(agent, Viewer(user=alice), max_runs=1)

    assert as_alice.post("/api/agents/scribe/stop").json()["status"] == "stopped"
    assert take(agent.pk, WORKER) is None
    quiet_nudges.clear()

    assert as_alice.post("/api/agents/scribe/start").json()["status"] == "running"
    assert quiet_nudges == [(agent.pk, "default")], "its workers are told"
    settle(take(agent.pk, WORKER), success())
    assert again(loop).status == "completed"


def test_start_and_stop_are_safe_to_repeat(agent: Any, as_alice: Caller) -> None:
    for _ in range(2):
        assert as_alice.post("/api/agents/scribe/stop").status_code == 200
    for _ in range(2):
        assert as_alice.post("/api/agents/scribe/start").status_code == 200

    assert AuditEvent.objects.filter(action="agent_stopped").count() == 1
    assert AuditEvent.objects.filter(action="agent_started").count() == 1


def test_archiving_asks_its_loops_to_stop_ends_its_keys_and_cancels_what_waits(
    agent: Any, as_alice: Caller, alice: Any, caller_of: Any
) -> None:
    viewer = Viewer(user=alice)
    in_flight = start(agent, viewer)
    run = take(agent.pk, WORKER)
    parked = start(agent, viewer, delay_seconds=60)
    settle(take(agent.pk, WORKER), success())
    queued, waiting = start(agent, viewer), queue_chat(agent)
    as_agent = caller_of(agent)

    response = as_alice.delete("/api/agents/scribe")

    assert response.status_code == 200
    assert response.json()["archived_at"] is not None
    assert [again(loop).stop_reason for loop in (parked, queued)] == ["user_stopped", "user_stopped"]
    assert again(in_flight).stop_requested_at is not None
    assert again(waiting).status == "cancelled"
    assert as_agent.get("/api/agents").status_code == 401
    assert not ApiKey.objects.filter(agent_id=agent.pk, revoked_at=None).exists()
    assert as_alice.get("/api/agents/scribe").status_code == 404
    assert as_alice.delete("/api/agents/scribe").status_code == 404

    settle(run, success())
    for loop in (in_flight, parked, queued):
        assert again(loop).status == "stopped"
        assert check_loop(again(loop)) == []
    assert not Execution.objects.filter(ended_at=None).exists()


# --- what the host must have ------------------------------------------------------------------------------

ON_A_MODEL = {"name": "local", "runtime": "model", "runtime_settings": {"protocol": "openai"}}


@pytest.fixture
def no_model_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.runtimes import model

    monkeypatch.setattr(model, "packages_are_installed", lambda: False)


def test_what_a_runtime_lacks_on_this_host_is_said_before_anything_is_made(
    as_admin: Caller, no_model_packages: None
) -> None:
    response = as_admin.post("/api/agents", ON_A_MODEL)

    assert response.status_code == 400
    assert "script/model-packages" in errors_of(response)["runtime"][0]
    assert not Agent.objects.filter(name="local").exists()


def test_an_agent_is_not_changed_into_what_this_host_cannot_run(as_admin: Caller, no_model_packages: None) -> None:
    as_admin.post("/api/agents", NEW)

    changes = {"runtime": "model", "runtime_settings": {"protocol": "openai"}}
    response = as_admin.patch("/api/agents/new", changes)

    assert "script/model-packages" in errors_of(response)["runtime"][0]
    assert as_admin.get("/api/agents/new").json()["runtime"] == "scripted"


def test_what_another_place_has_is_not_asked_here(as_admin: Caller, no_model_packages: None) -> None:
    assert as_admin.post("/api/agents", {**ON_A_MODEL, "place": "elsewhere"}).status_code == 201
