"""Every error under /api/ is a problem (RFC 9457), wherever it arises (design, section 2)."""

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client, override_settings

from accounts import services
from loops import api as loops_api
from tests.web.api.calling import Caller, check


@pytest.mark.parametrize(
    "path",
    [
        "/api/nowhere",
        "/api/loop",
        "/api/agents/scribe/loops/1",
        "/api/agents/a/b/c/d",
        "/api//loops",
        "/api/%00",
        "/api/%0a",
        "/api/a%0Ab",
        "/api/%ff",
        "/api/" + "x" * 10_000,
        "/api/../admin",
        "/api/.env",
    ],
)
def test_an_unknown_route_is_not_found_with_any_method_and_without_a_key(as_nobody: Caller, path: str) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"):
        response = as_nobody.send(method, path, b"{" if method == "POST" else None)

        assert response.status_code == 404, method
        assert response.json()["detail"] == "There is nothing here."


@pytest.mark.parametrize("path", ["/api/loops/", "/api/agents/", "/api/agents/scribe/loops/", "/api/executions/"])
def test_a_route_with_a_slash_too_many_says_so(as_nobody: Caller, path: str) -> None:
    response = as_nobody.get(path)

    assert response.status_code == 404
    assert "ends without a slash" in response.json()["detail"]


@pytest.mark.parametrize(
    "accept", ["text/html", "application/xml", "image/*", "*/*;q=0", "", "nonsense", "a/b, " * 2000, "application/yaml"]
)
def test_whatever_is_accepted_the_answer_is_json(agent: Any, as_alice: Caller, accept: str) -> None:
    assert as_alice.get("/api/agents", Accept=accept)["Content-Type"] == "application/json"
    assert as_alice.get("/api/agents/nobody", Accept=accept).status_code == 404
    assert as_alice.get("/api/nowhere", Accept=accept).status_code == 404


def test_an_unknown_host_is_a_problem_too() -> None:
    client = Client(raise_request_exception=False)

    assert check(client.get("/api/agents", headers={"Host": "evil.example"})).status_code == 400


def test_too_many_query_parameters_are_a_problem_too(as_alice: Caller) -> None:
    response = as_alice.get("/api/loops?" + "&".join(f"a{number}=1" for number in range(5000)))

    assert response.status_code == 400
    assert len(response.content) < 10_000


def test_a_logged_in_person_without_a_csrf_token_is_refused(agent: Any, alice: Any) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(alice)

    response = check(client.post("/api/agents/scribe/stop", content_type="application/json"))

    assert response.status_code == 403
    assert "CSRF" in response.json()["detail"]


def test_a_key_needs_no_csrf_token(agent: Any, alice: Any) -> None:
    secret = services.create_key(user=alice).secret
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})

    assert client.post("/api/agents/scribe/stop", content_type="application/json").status_code == 200


@pytest.mark.parametrize("error", [OperationalError("server closed the connection"), InterfaceError("gone")])
def test_a_database_that_is_away_is_no_fault_of_the_caller(
    agent: Any, as_alice: Caller, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("accounts.authentication.key_for_secret", fail)

    response = as_alice.get("/api/agents")

    assert response.status_code == 503
    assert response.json()["code"] == "unavailable"
    assert "server closed" not in response.content.decode()
    assert int(response["Retry-After"]) > 0


def test_a_fault_of_ours_says_nothing_but_the_request_id(
    agent: Any, as_alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("secret inner words")

    monkeypatch.setattr(loops_api, "read_parameters", fail)

    response = as_alice.post("/api/agents/scribe/loops", {"message": "Go", "max_runs": 1}, X_Request_ID="abc-1")

    assert response.status_code == 500
    assert response.json()["request_id"] == "abc-1"
    assert "secret" not in response.content.decode()


def test_an_answer_is_kept_by_nobody_else(agent: Any, as_alice: Caller) -> None:
    response = as_alice.get("/api/agents")

    assert response["Cache-Control"] == "private, no-cache"
    assert {"Authorization", "Cookie"} <= set(response["Vary"].split(", "))


# --- health -----------------------------------------------------------------------------------------------


def test_the_installation_is_well_when_its_database_answers(db: None, client: Client) -> None:
    response = client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok", "database": "answers"})


def test_it_is_not_when_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("no route to host")

    monkeypatch.setattr("trinity.health.connection.cursor", fail)

    response = client.get("/healthz")

    assert response.status_code == 503
    assert response.json() == {"status": "unavailable", "database": "does not answer"}


@override_settings(REDIS_URL="redis://127.0.0.1:1/0")
def test_a_queue_that_is_away_is_said_and_is_no_reason_to_send_nobody_here(db: None, client: Client) -> None:
    response = client.get("/healthz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "answers", "queue": "does not answer"}


def test_the_metrics_are_numbers_for_admins(agent: Any, as_admin: Caller, as_alice: Caller) -> None:
    as_alice.post("/api/agents/scribe/loops", {"message": "Go", "max_runs": 1})

    text = as_admin.get("/metrics").content.decode()

    assert 'trinity_loops{status="queued"} 1.0' in text
    assert 'trinity_executions{status="running"} 0.0' in text
    assert "trinity_agents 1.0" in text
    assert as_alice.get("/metrics").status_code == 403
    assert Caller().get("/metrics").status_code == 401
