"""Shares, permissions and keys over REST: who may use an agent, and as whom."""

import datetime as dt
from typing import Any

import pytest

from accounts.models import ApiKey, AuditEvent, User
from agents.models import AgentPermission, AgentShare
from tests.conftest import StillClock
from tests.web.api.calling import Caller, errors_of

SHARES = "/api/agents/scribe/shares"
PERMISSIONS = "/api/agents/scribe/permissions"


# --- shares -----------------------------------------------------------------------------------------------


def test_a_share_lets_a_member_use_the_agent(agent: Any, as_alice: Caller, as_bob: Caller) -> None:
    assert as_bob.get("/api/agents/scribe").status_code == 404

    first, again = as_alice.post(SHARES, {"user": "bob"}), as_alice.post(SHARES, {"user": "bob"})

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert as_bob.get("/api/agents/scribe").status_code == 200
    assert [one["user"] for one in as_alice.get(SHARES).json()] == ["bob"]
    assert AuditEvent.objects.filter(action="share_added").count() == 1


def test_a_share_that_ended_lets_nobody_in(agent: Any, as_alice: Caller, as_bob: Caller, shared_with_bob: Any) -> None:
    assert as_alice.delete(f"{SHARES}/bob").status_code == 204

    assert as_bob.get("/api/agents/scribe").status_code == 404
    assert as_alice.get(SHARES).json() == []
    assert as_alice.delete(f"{SHARES}/bob").status_code == 404
    assert AuditEvent.objects.filter(action="share_removed").count() == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "required"),
        ({"user": None}, "required"),
        ({"user": "nobody"}, "There is no user 'nobody'."),
        ({"user": "carol"}, "A client may not use agents"),
        ({"user": "alice"}, "They own this agent."),
        ({"user": "gone"}, "There is no user 'gone'."),
        ({"user": ""}, "from 1 to 150"),
        ({"user": "u" * 151}, "from 1 to 150 characters; it has 151"),
        ({"user": 7}, "string; 7"),
        ({"user": "a\x00"}, "NUL"),
    ],
)
def test_a_share_with_whom_it_cannot_be_is_refused(
    agent: Any, as_alice: Caller, carol: User, make_user: Any, body: Any, sentence: str
) -> None:
    User.objects.filter(pk=make_user("gone").pk).update(is_active=False)

    response = as_alice.post(SHARES, body)

    assert response.status_code == 400
    assert sentence in errors_of(response)["user"][0]
    assert not AgentShare.objects.exists()


def test_with_a_share_goes_what_it_let_that_members_own_agents_call(
    agent: Any, make_agent: Any, as_alice: Caller, as_bob: Caller, bob: Any, shared_with_bob: Any, caller_of: Any
) -> None:
    bobs = make_agent("bobs")
    bobs.owner = bob
    bobs.save()
    assert as_bob.post("/api/agents/bobs/permissions", {"agent": "scribe"}).status_code == 201
    assert caller_of(bobs).get("/api/agents/scribe").status_code == 200

    as_alice.delete(f"{SHARES}/bob")

    assert caller_of(bobs).get("/api/agents/scribe").status_code == 404
    assert AuditEvent.objects.filter(action="permission_removed", target="agent:bobs").count() == 1


# --- permissions ------------------------------------------------------------------------------------------


def test_a_permission_lets_an_agent_call_another(agent: Any, make_agent: Any, as_alice: Caller, caller_of: Any) -> None:
    make_agent("editor")
    as_scribe = caller_of(agent)
    assert as_scribe.get("/api/agents/editor").status_code == 404

    first, again = [as_alice.post(PERMISSIONS, {"agent": "editor"}) for _ in range(2)]

    assert (first.status_code, again.status_code) == (201, 200)
    assert as_scribe.get("/api/agents/editor").status_code == 200
    assert [one["agent"] for one in as_alice.get(PERMISSIONS).json()] == ["editor"]

    assert as_alice.delete(f"{PERMISSIONS}/editor").status_code == 204
    assert as_scribe.get("/api/agents/editor").status_code == 404
    assert as_alice.delete(f"{PERMISSIONS}/editor").status_code == 404
    actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
    assert list(actions)[-2:] == ["permission_added", "permission_removed"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "required"),
        ({"agent": "nobody"}, "There is no agent 'nobody'."),
        ({"agent": "scribe"}, "needs no permission to call itself"),
        ({"agent": "mallorys"}, "There is no agent 'mallorys'."),
        ({"agent": ["editor"]}, "string; a list"),
        ({"agent": "a" * 64}, "from 1 to 63"),
        ({"target": "editor"}, "required"),
    ],
)
def test_a_permission_for_what_one_may_not_use_oneself_is_refused(
    agent: Any, make_agent: Any, as_alice: Caller, mallory: Any, body: Any, sentence: str
) -> None:
    other = make_agent("mallorys")
    other.owner = mallory
    other.save()

    response = as_alice.post(PERMISSIONS, body)

    assert response.status_code == 400
    assert sentence in errors_of(response)["agent"][0]
    assert not AgentPermission.objects.exists()


# --- keys -------------------------------------------------------------------------------------------------

KEYS = ["/api/keys", "/api/agents/scribe/keys"]


@pytest.mark.parametrize("path", KEYS)
def test_a_key_is_shown_once_works_and_is_revoked(agent: Any, as_alice: Caller, path: str) -> None:
    made = as_alice.post(path, {"name": "laptop"})
    assert made.status_code == 201
    key = made.json()
    fresh = Caller(key["secret"])

    assert fresh.get("/api/agents").status_code == 200
    listed = as_alice.get(path).json()
    assert listed[0]["prefix"] == key["prefix"]
    assert not any("secret" in one for one in listed)
    assert listed[0]["name"] == "laptop"

    for _ in range(2):
        assert as_alice.delete(f"{path}/{key['prefix']}").status_code == 204
    assert fresh.get("/api/agents").status_code == 401
    assert as_alice.get(path).json()[0]["revoked_at"] is not None
    assert AuditEvent.objects.filter(action="key_revoked").count() == 1


@pytest.mark.parametrize("path", KEYS)
def test_a_key_ends_at_its_time(agent: Any, as_alice: Caller, still_clock: StillClock, path: str) -> None:
    key = as_alice.post(path, {"expires_at": "2026-11-30T14:00:00+01:00"}).json()
    assert key["expires_at"] == "2026-11-30T13:00:00Z"
    fresh = Caller(key["secret"])
    assert fresh.get("/api/agents").status_code == 200

    still_clock.now += dt.timedelta(hours=1)

    assert fresh.get("/api/agents").status_code == 401


@pytest.mark.parametrize("path", KEYS)
@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "n" * 101, "at most 100 characters; it has 101"),
        ("name", 7, "string; 7"),
        ("name", "\x00", "NUL"),
        ("expires_at", "2026-11-30T11:59:59Z", "future"),
        ("expires_at", "2026-11-30T12:00:00Z", "future"),
        ("expires_at", "2030-01-31T12:00:00", "with its zone"),
        ("expires_at", "2030-01-31", "with its zone"),
        ("expires_at", "tomorrow", "ISO 8601"),
        ("expires_at", "", "ISO 8601"),
        ("expires_at", "0001-01-01T00:00:00+23:59", "ISO 8601"),
        ("expires_at", 1893456000, "ISO 8601"),
        ("expires_at", True, "ISO 8601"),
        ("expire_at", None, "Did you mean 'expires_at'?"),
        ("user", "bob", "Unknown field."),
    ],
)
def test_a_key_with_a_wrong_field_is_not_made(
    agent: Any, as_alice: Caller, still_clock: StillClock, path: str, field: str, value: Any, sentence: str
) -> None:
    before = ApiKey.objects.count()

    response = as_alice.post(path, {field: value})

    assert response.status_code == 400, response.content
    assert sentence in errors_of(response)[field][0]
    assert ApiKey.objects.count() == before


def test_nobody_sees_or_revokes_anothers_key(agent: Any, as_alice: Caller, as_bob: Caller, as_admin: Caller) -> None:
    prefix = as_alice.post("/api/keys", {}).json()["prefix"]

    for other in (as_bob, as_admin):
        assert prefix not in [one["prefix"] for one in other.get("/api/keys").json()]
        assert other.delete(f"/api/keys/{prefix}").status_code == 404
    assert ApiKey.objects.get(prefix=prefix).revoked_at is None


@pytest.mark.parametrize("prefix", ["%00", "x" * 500, "..", "%F0%9F%A6%89"])
def test_a_rubbish_prefix_is_not_found(agent: Any, as_alice: Caller, prefix: str) -> None:
    assert as_alice.delete(f"/api/keys/{prefix}").status_code == 404
    assert as_alice.delete(f"/api/agents/scribe/keys/{prefix}").status_code == 404
    assert as_alice.delete(f"/api/agents/scribe/shares/{prefix}").status_code == 404
    assert as_alice.delete(f"/api/agents/scribe/permissions/{prefix}").status_code == 404
