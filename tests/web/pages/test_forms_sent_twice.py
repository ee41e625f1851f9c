"""A double click without a script sends a form twice: it does its work once."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.authentication import viewer_of_bearer
from accounts.models import ApiKey
from loops.models import Loop
from tests.web.pages.conftest import Stage, text_of
from tests.web.pages.test_loops_tab import TAB, TYPED


def token_of(page: str) -> str:
    """The token of the first form that has one."""
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found is not None
    return found[1]


@pytest.fixture
def typed(as_alice: Client, agent: Any) -> dict[str, str]:
    """The form as the page gave it, filled in."""
    return TYPED | {"form_token": token_of(text_of(as_alice.get(TAB)))}


def test_a_double_click_on_start_makes_one_loop(as_alice: Client, typed: dict[str, str]) -> None:
    first, second = as_alice.post(TAB, typed), as_alice.post(TAB, typed)

    loop = Loop.objects.get()
    assert first["Location"] == second["Location"] == f"{TAB}?open={loop.pk}#{loop.pk}"


def test_a_double_click_on_the_trial_makes_one_loop(as_alice: Client, agent: Any) -> None:
    page = as_alice.get(TAB)
    tokens = re.findall(r'name="form_token" value="([^"]+)"', text_of(page))
    assert len(set(tokens)) == 2  # the form and the trial are two forms

    for _ in range(2):
        as_alice.post(TAB, page.context["example"] | {"form_token": tokens[1]})

    assert Loop.objects.count() == 1


def test_a_second_click_finds_the_loop_also_when_the_agent_was_stopped_meanwhile(
    as_alice: Client, typed: dict[str, str], stage: Stage
) -> None:
    first = as_alice.post(TAB, typed)
    stage.agent.status = "stopped"
    stage.agent.save()

    assert as_alice.post(TAB, typed)["Location"] == first["Location"]


def test_what_was_changed_after_going_back_is_another_loop(as_alice: Client, typed: dict[str, str]) -> None:
    as_alice.post(TAB, typed)
    as_alice.post(TAB, typed | {"message": "Another task"})

    assert Loop.objects.count() == 2


def test_a_refusal_is_not_remembered(as_alice: Client, typed: dict[str, str], stage: Stage) -> None:
    stage.agent.status = "stopped"
    stage.agent.save()
    assert as_alice.post(TAB, typed).status_code == 409
    stage.agent.status = "running"
    stage.agent.save()

    assert as_alice.post(TAB, typed).status_code == 302
    assert Loop.objects.count() == 1


def test_a_form_of_two_people_is_two_forms(as_alice: Client, as_bob: Client, typed: dict[str, str]) -> None:
    as_alice.post(TAB, typed)
    as_bob.post(TAB, typed)

    assert Loop.objects.count() == 2


@pytest.mark.parametrize("token", ["", "short", "x" * 999, "%00" * 9, "\x00" * 20, "é" * 20])
def test_a_form_without_a_token_that_could_be_ours_starts_what_it_asks_for(
    as_alice: Client, agent: Any, token: str
) -> None:
    for _ in range(2):
        assert as_alice.post(TAB, TYPED | {"form_token": token}).status_code == 302

    assert Loop.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_double_click_on_make_a_key_leaves_one_key_and_it_is_the_one_that_is_shown(as_alice: Client) -> None:
    asked = {"name": "laptop", "days": "30", "form_token": token_of(text_of(as_alice.get("/account/keys/")))}

    secrets = [as_alice.post("/account/keys/", asked).context["secret"] for _ in range(3)]

    assert ApiKey.objects.filter(revoked_at=None).count() == 1
    assert viewer_of_bearer(secrets[-1]) is not None
    assert viewer_of_bearer(secrets[0]) is None


@pytest.mark.django_db(transaction=True)
def test_a_drawn_form_makes_a_key_of_its_own_each_time_it_is_drawn(as_alice: Client) -> None:
    for _ in range(2):
        token = token_of(text_of(as_alice.get("/account/keys/")))
        as_alice.post("/account/keys/", {"name": "laptop", "days": "", "form_token": token})

    assert ApiKey.objects.filter(revoked_at=None).count() == 2
