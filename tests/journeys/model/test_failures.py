"""The model program against services that refuse, hang, lie or are not there."""

import datetime as dt

import pytest

from agents.runtimes.base import Ending, ErrorKind
from trinity.kernel import clock

from .services import Answer, Call, Hang, Raw, Refusal

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (Refusal(400, "invalid_request_error", "too long"), ErrorKind.AGENT_ERROR),
        (Refusal(401, "authentication_error", "wrong key"), ErrorKind.AUTH),
        (Refusal(402, "billing_error", "no money"), ErrorKind.BUDGET),
        (Refusal(403, "permission_error", "not for you"), ErrorKind.AUTH),
        (Refusal(404, "not_found_error", "no such model"), ErrorKind.AGENT_ERROR),
        (Refusal(429, "insufficient_quota", "no credit"), ErrorKind.BUDGET),
        (Refusal(500, "api_error", "broken"), ErrorKind.AGENT_ERROR),
    ],
)
def test_a_refusal_has_its_kind_and_its_own_words(run, serve, refusal, kind):
    outcome = run(serve(refusal))

    assert (outcome.ending, outcome.error_kind, outcome.away) == (Ending.FAILED, kind, None)
    assert refusal.message in outcome.error
    assert (outcome.cost_nano, outcome.tokens.input) == (None, None)


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (Refusal(429, "rate_limit_error"), ErrorKind.RATE_LIMITED),
        (Refusal(429, "usage_limit_reached"), ErrorKind.USAGE_LIMIT),
        (Refusal(503, "overloaded"), ErrorKind.OVERLOADED),
        (Refusal(529, "overloaded_error"), ErrorKind.OVERLOADED),
    ],
)
def test_a_model_that_is_away_before_a_tool_was_used_is_waited_for(run, serve, refusal, kind):
    outcome = run(serve(refusal))

    assert outcome.away is not None
    assert (outcome.away.kind, outcome.error_kind, outcome.away.until) == (kind, kind, None)


def test_the_time_that_the_service_names_is_waited_for(run, serve):
    outcome = run(serve(Refusal(429, "rate_limit_error", headers={"retry-after": "3600"})), retry_seconds=120)

    assert outcome.away is not None
    left = outcome.away.until - clock.now()
    assert dt.timedelta(minutes=58) < left <= dt.timedelta(minutes=60)


def test_a_model_that_goes_away_after_a_tool_was_used_fails_the_run(run, serve, protocol):
    outcome = run(serve(Answer([Call("list", {})]), Refusal(429, "rate_limit_error")))

    assert (outcome.error_kind, outcome.away) == (ErrorKind.RATE_LIMITED, None)
    assert outcome.cost_nano is not None


def test_a_service_that_comes_back_in_time_is_asked_again(run, serve):
    service = serve(Answer([Call("list", {})]), Refusal(529, "overloaded_error"), Answer(["back"]))

    outcome = run(service, retry_seconds=20)

    assert (outcome.response, len(service.requests)) == ("back", 3)
    assert outcome.tokens.input == 2_000


def test_a_service_that_is_not_there_is_named(run, protocol):
    outcome = run("http://127.0.0.1:1/v1")

    assert outcome.error_kind is ErrorKind.AGENT_ERROR
    assert "`base_url`" in outcome.error
    assert outcome.away is None


def test_a_service_that_hangs_is_given_up_after_its_time(run, serve):
    outcome = run(serve(Hang()), request_timeout_seconds=1)

    assert outcome.error_kind is ErrorKind.AGENT_ERROR
    assert "`request_timeout_seconds`" in outcome.error


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "raw",
    [
        Raw(b"<html>hello</html>", "text/html"),
        Raw(b'{"choices": "none"}'),
        Raw(b"{"),
        Raw(b""),
        Raw(b"data: {not json}\n\n", "text/event-stream"),
        Raw(b'data: {"type": "nonsense"}\n\n', "text/event-stream"),
    ],
)
def test_an_answer_in_no_shape_fails_in_plain_words(run, serve, raw, stream):
    outcome = run(serve(raw), stream=stream)

    assert outcome.ending is Ending.FAILED
    assert outcome.error_kind in (ErrorKind.AGENT_ERROR, ErrorKind.NO_ANSWER)
    assert outcome.away is None
    assert "Traceback" not in outcome.error


def test_a_key_that_is_missing_is_named_and_nobody_is_asked(run, serve):
    service = serve()

    outcome = run(service, key="")

    assert (outcome.error_kind, service.requests) == (ErrorKind.AUTH, [])
    assert "SERVICE_KEY_OF_TESTS" in outcome.error


def test_the_workspace_lends_the_program_no_modules(start, serve, workspace):
    for name in ("json.py", "pydantic_ai.py", "sitecustomize.py", "re2.py"):
        (workspace / name).write_text("open('taken', 'w').close()\nraise SystemExit(9)\n")

    assert start(serve()).outcome().succeeded
    assert not (workspace / "taken").exists()
