"""Django's admin: agents change through their services, and what the engine writes can only be looked at."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent, User
from agents.models import Agent
from tests.web.pages.conftest import Stage, text_of

NO_INLINES = {
    f"{name}-{count}": "0" for name in ("shares", "permissions") for count in ("TOTAL_FORMS", "INITIAL_FORMS")
}


@pytest.fixture
def as_admin(browser_of: Any, admin_user: Any) -> Client:
    return browser_of(admin_user)


def entered(tmp_path: Any, **fields: Any) -> dict[str, Any]:
    return {
        "title": "", "runtime": "scripted", "runtime_settings": json.dumps({"replies": [{"response": "x"}]}),
        "workspace": str(tmp_path), "place": "default", "execution_timeout_seconds": "900", "max_parallel_tasks": "3",
        "model": "", "graders": "null", **NO_INLINES, **fields,
    }  # fmt: skip


def test_only_admins_come_in(as_alice: Client, as_carol: Client, as_admin: Client, agent: Any) -> None:
    assert as_alice.get("/admin/").status_code == 302
    assert as_carol.get("/admin/").status_code == 302
    assert as_admin.get("/admin/").status_code == 200


def test_an_agent_is_made_through_its_service(as_admin: Client, admin_user: User, tmp_path: Any) -> None:
    response = as_admin.post("/admin/agents/agent/add/", entered(tmp_path, name="made-here"))

    assert response.status_code == 302, text_of(response)
    agent = Agent.objects.get(name="made-here")
    assert (agent.owner, agent.runtime_settings["replies"]) == (admin_user, [{"response": "x"}])
    assert AuditEvent.objects.filter(action="agent_created", target="agent:made-here").exists()


def test_what_the_api_would_refuse_is_refused_here_in_the_same_words(
    as_admin: Client, agent: Any, tmp_path: Any
) -> None:
    path = f"/admin/agents/agent/{agent.pk}/change/"

    response = as_admin.post(path, entered(tmp_path, runtime_settings=json.dumps({"replise": []})))

    assert response.status_code == 200
    assert "replise: There is no such setting. Did you mean replies?" in text_of(response)
    assert Agent.objects.get().runtime_settings == agent.runtime_settings


def test_an_agent_changes_through_its_service(as_admin: Client, agent: Any, tmp_path: Any) -> None:
    as_admin.post(f"/admin/agents/agent/{agent.pk}/change/", entered(tmp_path, title="Changed", max_parallel_tasks="5"))

    changed = Agent.objects.get()
    assert (changed.title, changed.max_parallel_tasks) == ("Changed", 5)
    assert AuditEvent.objects.filter(action="agent_changed").exists()


@pytest.mark.parametrize(("action", "status"), [("stop", "stopped"), ("archive", "running")])
def test_stopping_and_archiving_go_through_the_services(
    as_admin: Client, stage: Stage, action: str, status: str
) -> None:
    stage.running()

    as_admin.post("/admin/agents/agent/", {"action": action, "_selected_action": [stage.agent.pk]})

    agent = Agent.objects.get()
    assert agent.status == status
    assert (agent.archived_at is not None) == (action == "archive")
    assert (agent.loops.get().stop_requested_at is not None) == (action == "archive")


@pytest.mark.parametrize("model", ["loops/loop", "executions/execution", "accounts/auditevent", "accounts/apikey"])
def test_what_the_engine_writes_can_only_be_looked_at(as_admin: Client, stage: Stage, model: str) -> None:
    from django.apps import apps

    from accounts.services import create_key

    stage.completed()
    create_key(user=stage.viewer.user, by=stage.viewer)
    pk = apps.get_model(model.replace("/", ".")).objects.values_list("pk", flat=True)[0]

    page = text_of(as_admin.get(f"/admin/{model}/{pk}/change/"))

    assert as_admin.get(f"/admin/{model}/").status_code == 200
    assert as_admin.get(f"/admin/{model}/add/").status_code == 403
    assert as_admin.post(f"/admin/{model}/{pk}/change/", {}).status_code == 403
    assert as_admin.post(f"/admin/{model}/{pk}/delete/", {"post": "yes"}).status_code == 403
    assert 'name="_save"' not in page


def test_no_secret_stands_in_the_admin(as_admin: Client, stage: Stage) -> None:
    from accounts.models import ApiKey
    from accounts.services import create_key

    loop = stage.running()
    execution = loop.runs.get().execution
    key = create_key(user=stage.viewer.user).key

    pages = [f"/admin/executions/execution/{execution.pk}/change/", f"/admin/accounts/apikey/{key.pk}/change/"]

    for page in pages:
        text = text_of(as_admin.get(page))
        assert execution.claim_token not in text
        assert ApiKey.objects.get().secret_hash not in text


def test_a_user_is_made_with_a_kind_and_its_rights_follow(as_admin: Client) -> None:
    form = {
        "username": "bob",
        "kind": "admin",
        "usable_password": "true",
        "password1": "correct horse 9",
        "password2": "correct horse 9",
    }

    response = as_admin.post("/admin/accounts/user/add/", form)

    assert response.status_code == 302, text_of(response)
    assert User.objects.get(username="bob").is_superuser
