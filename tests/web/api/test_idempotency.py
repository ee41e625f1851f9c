"""Idempotency-Key: the first answer again, also to twins that come at once (design, section 2)."""

import datetime as dt
import threading
from typing import Any

import pytest
from django.db import connection, connections

from accounts.models import RememberedAnswer
from executions.models import Execution
from loops.models import Loop
from tests.conftest import StillClock
from tests.web.api.calling import Caller, errors_of, nothing_was_made

LOOPS = "/api/agents/scribe/loops"
CALLS = "/api/agents/scribe/executions"
BODY = {"message": "Go", "max_runs": 3}


def test_the_same_key_and_body_give_the_first_answer_again(agent: Any, as_alice: Caller) -> None:
    first = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")
    again = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert again["Location"] == first["Location"]
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Loop.objects.count() == 1


def test_without_a_key_each_start_is_a_loop_of_its_own(agent: Any, as_alice: Caller) -> None:
    as_alice.post(LOOPS, BODY)
    as_alice.post(LOOPS, BODY)

    assert Loop.objects.count() == 2
    assert not RememberedAnswer.objects.exists()


def test_another_body_is_refused(agent: Any, as_alice: Caller) -> None:
    as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    response = as_alice.post(LOOPS, {**BODY, "max_runs": 4}, Idempotency_Key="k1")

    assert response.status_code == 422
    assert response.json()["code"] == "idempotency_key_reused"
    assert Loop.objects.count() == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"max_runs": 3, "message": "Go"}',
        b'{"message":"Go","max_runs":3.0}',
        b'  {"message" : "\\u0047o", "max_runs" : 3e0 }\n',
    ],
)
def test_a_body_is_compared_as_parsed_json(agent: Any, as_alice: Caller, body: bytes) -> None:
    first = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    assert as_alice.post(LOOPS, body, Idempotency_Key="k1").json() == first.json()
    assert Loop.objects.count() == 1


def test_a_null_is_another_body_than_none(agent: Any, as_alice: Caller) -> None:
    as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    assert as_alice.post(LOOPS, {**BODY, "model": None}, Idempotency_Key="k1").status_code == 422


def test_a_key_is_of_one_caller(agent: Any, as_alice: Caller, as_bob: Caller, shared_with_bob: Any) -> None:
    first = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")
    other = as_bob.post(LOOPS, {**BODY, "max_runs": 4}, Idempotency_Key="k1")

    assert other.status_code == 202
    assert other.json()["loop_id"] != first.json()["loop_id"]


def test_two_keys_of_one_person_are_one_caller(agent: Any, caller_for: Any, alice: Any) -> None:
    first = caller_for(alice).post(LOOPS, BODY, Idempotency_Key="k1")
    again = caller_for(alice).post(LOOPS, BODY, Idempotency_Key="k1")

    assert again.json() == first.json()


def test_a_key_is_of_one_route(make_agent: Any, as_alice: Caller) -> None:
    make_agent(), make_agent("editor")
    as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    assert as_alice.post("/api/agents/editor/loops", BODY, Idempotency_Key="k1").status_code == 202
    assert as_alice.post(CALLS, {"prompt": "Go"}, Idempotency_Key="k1").status_code == 202
    assert Loop.objects.count() == 2


def test_a_refusal_is_not_stored(agent: Any, as_alice: Caller) -> None:
    assert as_alice.post(LOOPS, {**BODY, "max_runs": 0}, Idempotency_Key="k1").status_code == 400
    assert nothing_was_made()

    assert as_alice.post(LOOPS, BODY, Idempotency_Key="k1").status_code == 202


def test_a_conflict_is_not_stored(agent: Any, as_alice: Caller) -> None:
    as_alice.post("/api/agents/scribe/stop")
    assert as_alice.post(LOOPS, BODY, Idempotency_Key="k1").status_code == 409
    assert nothing_was_made()
    as_alice.post("/api/agents/scribe/start")

    assert as_alice.post(LOOPS, BODY, Idempotency_Key="k1").status_code == 202


def test_the_first_answer_is_given_also_when_the_agent_would_refuse_now(agent: Any, as_alice: Caller) -> None:
    first = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")
    as_alice.post("/api/agents/scribe/stop")

    assert as_alice.post(LOOPS, BODY, Idempotency_Key="k1").json() == first.json()


def test_a_key_is_kept_for_a_day(agent: Any, as_alice: Caller, still_clock: StillClock) -> None:
    first = as_alice.post(LOOPS, BODY, Idempotency_Key="k1")

    still_clock.now += dt.timedelta(hours=24, seconds=-1)
    assert as_alice.post(LOOPS, BODY, Idempotency_Key="k1").json() == first.json()

    still_clock.now += dt.timedelta(seconds=1)
    later = as_alice.post(LOOPS, {**BODY, "max_runs": 4}, Idempotency_Key="k1")
    assert later.status_code == 202
    assert Loop.objects.count() == 2


@pytest.mark.parametrize("key", ["k", "k" * 255, "a b ~!", '"quoted"'])
def test_any_printable_ascii_is_a_key(agent: Any, as_alice: Caller, key: str) -> None:
    as_alice.post(LOOPS, BODY, Idempotency_Key=key)
    as_alice.post(LOOPS, BODY, Idempotency_Key=key)

    assert Loop.objects.count() == 1


@pytest.mark.parametrize("key", ["", " ", "k" * 256, "schlüssel", "a\tb", "\x7f"])
def test_anything_else_is_refused(agent: Any, as_alice: Caller, key: str) -> None:
    response = as_alice.post(LOOPS, BODY, Idempotency_Key=key)

    assert response.status_code == 400
    assert errors_of(response) == {"Idempotency-Key": ["Must have 1 to 255 printable ASCII characters."]}
    assert nothing_was_made()


def test_a_call_of_an_agent_is_made_once_too(agent: Any, as_alice: Caller) -> None:
    first = as_alice.post(CALLS, {"prompt": "Go"}, Idempotency_Key="k1")
    again = as_alice.post(CALLS, {"prompt": "Go"}, Idempotency_Key="k1")

    assert again.json() == first.json()
    assert Execution.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_twins_that_come_at_once_get_one_loop_and_one_answer(agent: Any, caller_for: Any, alice: Any) -> None:
    twins = [caller_for(alice) for _ in range(4)]
    together = threading.Barrier(len(twins))
    answers: list[Any] = []

    def call(caller: Caller) -> None:
        together.wait()
        try:
            answers.append(caller.post(LOOPS, BODY, Idempotency_Key="k1"))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=call, args=(caller,)) for caller in twins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [answer.status_code for answer in answers] == [202] * 4
    assert len({answer.content for answer in answers}) == 1
    assert [("Idempotency-Replayed" in answer) for answer in answers].count(False) == 1
    assert Loop.objects.count() == 1
    assert RememberedAnswer.objects.count() == 1
    assert connection.in_atomic_block is False
