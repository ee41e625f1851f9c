"""Login, logout, password, API keys, and the pages that say no."""

from typing import Any

import pytest
from django.test import Client, override_settings

from accounts.authentication import viewer_of_bearer
from accounts.models import ApiKey
from tests.web.pages.conftest import text_of

PASSWORD = "correct horse"


def log_in(client: Client, username: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post("/login/", {"username": username, "password": password, **more})


def test_a_member_begins_at_the_dashboard_and_logs_out_by_a_button(alice: Any) -> None:
    client = Client()

    assert log_in(client, "alice")["Location"] == "/"
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


def test_who_was_on_the_way_somewhere_gets_there(alice: Any, agent: Any) -> None:
    assert log_in(Client(), "alice", next="/agents/scribe/loops/")["Location"] == "/agents/scribe/loops/"
    assert log_in(Client(), "alice", next="https://evil.invalid/")["Location"] == "/"


def test_a_client_does_not_begin_at_a_page_that_is_not_for_them(carol: Any) -> None:
    client = Client()
    response = log_in(client, "carol")

    assert client.get(response["Location"]).status_code == 200


def test_a_wrong_password_is_said_without_saying_which_was_wrong(alice: Any) -> None:
    known, unknown = log_in(Client(), "alice", "wrong"), log_in(Client(), "nobody", "wrong")

    assert known.status_code == unknown.status_code == 200
    assert "correct username and password" in text_of(known)


@override_settings(AXES_ENABLED=True, AXES_FAILURE_LIMIT=3)
def test_too_many_wrong_passwords_lock_the_name_for_a_while(alice: Any) -> None:
    client = Client()
    for _ in range(3):
        response = log_in(client, "alice", "wrong")

    assert response.status_code == 429
    assert "Too many attempts" in text_of(response)
    assert log_in(client, "alice").status_code == 429


def test_changing_the_password_asks_for_the_old_one_and_ends_other_sessions(alice: Any, as_alice: Client) -> None:
    elsewhere = Client()
    log_in(elsewhere, "alice")
    form = {"old_password": "wrong", "new_password1": "a longer phrase 1", "new_password2": "a longer phrase 1"}
    assert "entered incorrectly" in text_of(as_alice.post("/account/password/", form))

    response = as_alice.post("/account/password/", form | {"old_password": PASSWORD}, follow=True)

    assert "Your password is changed." in text_of(response)
    assert elsewhere.get("/").status_code == 302


def test_a_key_is_shown_once_and_works(alice: Any, as_alice: Client) -> None:
    response = as_alice.post("/account/keys/", {"name": "laptop", "days": "30"})

    secret = response.context["secret"]
    viewer = viewer_of_bearer(secret)
    assert viewer is not None
    assert viewer.user == alice
    assert "no-store" in response["Cache-Control"]
    assert ApiKey.objects.get().expires_at is not None
    assert secret not in text_of(as_alice.get("/account/keys/"))


def test_a_revoked_key_ends_and_another_persons_cannot_be_revoked(
    alice: Any, as_alice: Client, as_mallory: Client
) -> None:
    secret = as_alice.post("/account/keys/", {"name": "laptop", "days": ""}).context["secret"]
    prefix = ApiKey.objects.get().prefix

    assert as_mallory.post(f"/account/keys/{prefix}/revoke/").status_code == 404
    assert viewer_of_bearer(secret) is not None
    as_alice.post(f"/account/keys/{prefix}/revoke/")
    assert viewer_of_bearer(secret) is None


@pytest.mark.parametrize(
    "typed", [{"name": "", "days": "30"}, {"name": "x" * 101, "days": "30"}, {"name": "x", "days": "9"}]
)
def test_a_key_that_was_asked_for_wrongly_is_not_made(as_alice: Client, typed: dict[str, str]) -> None:
    response = as_alice.post("/account/keys/", typed)

    assert response.status_code == 400
    assert not ApiKey.objects.exists()


def test_a_form_from_elsewhere_is_refused_in_plain_words(alice: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)

    response = client.post("/dashboard/seen/")

    assert response.status_code == 403
    assert "The form is out of date" in text_of(response)


def test_an_unknown_page_and_one_of_an_api_differ(as_alice: Client) -> None:
    assert "Not found" in text_of(as_alice.get("/nowhere/"))
    assert as_alice.get("/api/nowhere")["Content-Type"] == "application/problem+json"


def test_an_error_of_ours_names_the_request_id_first(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("loops.pages.dashboard._board", broken)
    client = Client(raise_request_exception=False)
    client.force_login(alice)

    response = client.get("/", headers={"X-Request-ID": "req_of_alice"})

    page = text_of(response)
    assert response.status_code == 500
    assert page.index("req_of_alice") < page.index("Something broke</h1>")
    assert "secret detail" not in page


def test_a_name_in_a_greeting_is_text(make_user: Any, browser_of: Any) -> None:
    user = make_user("alice2")
    user.first_name = "<b>Alice</b>"
    user.save()

    assert "<b>Alice</b>" not in browser_of(user).get("/").content.decode()


def test_a_client_who_is_lost_is_led_to_a_page_that_is_for_them(as_carol: Client) -> None:
    import re

    lost = text_of(as_carol.get("/"))
    [back] = re.findall(r'<a href="([^"]+)">Back to the beginning', lost)

    assert as_carol.get(back).status_code == 200
