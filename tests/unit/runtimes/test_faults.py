"""An agent's error tells its kind by status, by name or by how it begins, and a person what to do."""

import datetime as dt

import pytest

from agents.runtimes.base import ErrorKind
from agents.runtimes.faults import AWAY_KINDS, fault, kind_of

NOW = dt.datetime(2026, 11, 30, 20, 32, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.AGENT_ERROR),
        (401, ErrorKind.AUTH),
        (402, ErrorKind.BUDGET),
        (403, ErrorKind.AUTH),
        (404, ErrorKind.AGENT_ERROR),
        (429, ErrorKind.RATE_LIMITED),
        (500, ErrorKind.AGENT_ERROR),
        (503, ErrorKind.OVERLOADED),
        (529, ErrorKind.OVERLOADED),
    ],
)
def test_a_status_tells_the_kind(status, kind):
    assert kind_of("no", status=status) is kind


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Claude AI usage limit reached|1796080000", ErrorKind.USAGE_LIMIT),
        ("Claude usage limit reached. Your limit will reset at 3pm.", ErrorKind.USAGE_LIMIT),
        ("5-hour limit reached ∙ resets 3am", ErrorKind.USAGE_LIMIT),
        ("Weekly limit reached · resets Mon 9am", ErrorKind.USAGE_LIMIT),
        ("You've hit your limit · resets 3am", ErrorKind.USAGE_LIMIT),
        ("You've hit your weekly limit", ErrorKind.USAGE_LIMIT),
        ("You’ve hit your usage limit. Try again at 10:33 PM.", ErrorKind.USAGE_LIMIT),
        ("You've reached your Opus weekly limit", ErrorKind.USAGE_LIMIT),
        ("You're out of usage credits · resets 5pm", ErrorKind.USAGE_LIMIT),
        ("You're out of usage credits", ErrorKind.BUDGET),
        ("Credit balance is too low", ErrorKind.BUDGET),
        ("Quota exceeded. Check your plan and billing details.", ErrorKind.BUDGET),
        ("Invalid API key · Fix external API key", ErrorKind.AUTH),
        ("Not logged in · Please run /login", ErrorKind.AUTH),
        ("OAuth token has expired", ErrorKind.AUTH),
        ("API Error: 529 Overloaded. This is a server-side issue", ErrorKind.OVERLOADED),
        ('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', ErrorKind.OVERLOADED),
        ("API Error: Request rejected (429) · rate limited", ErrorKind.RATE_LIMITED),
        ("API Error: 401 no", ErrorKind.AUTH),
        ("unexpected status 401 Unauthorized: fake 401, url: x", ErrorKind.AUTH),
        ("unexpected status 503 Service Unavailable", ErrorKind.OVERLOADED),
        ("exceeded retry limit, last status: 429 Too Many Requests", ErrorKind.RATE_LIMITED),
        ("rate limit exceeded: Rate limit reached for gpt-5", ErrorKind.RATE_LIMITED),
        ("Selected model is at capacity. Please try a different model.", ErrorKind.OVERLOADED),
        ("API Error: 400 fake bad request", ErrorKind.AGENT_ERROR),
        ("API Error: Connection refused", ErrorKind.AGENT_ERROR),
        ("The report says: You've hit your weekly limit", ErrorKind.AGENT_ERROR),
        ("I could not log in to the shop (401).", ErrorKind.AGENT_ERROR),
        ("The overloaded truck tipped over.", ErrorKind.AGENT_ERROR),
        ("", ErrorKind.AGENT_ERROR),
    ],
)
def test_the_beginning_of_an_error_tells_the_kind(words, kind):
    assert kind_of(words) is kind


@pytest.mark.parametrize(
    ("words", "status", "kind"),
    [
        (("error_max_turns",), None, ErrorKind.TURN_LIMIT),
        (("error_max_budget_usd",), None, ErrorKind.BUDGET),
        (("success", "usage_limit_reached", "rate_limit_error", "rate_limit"), 429, ErrorKind.USAGE_LIMIT),
        (("success", None, "rate_limit"), 429, ErrorKind.RATE_LIMITED),
        (("billing_error",), 400, ErrorKind.BUDGET),
        (("authentication_failed",), None, ErrorKind.AUTH),
        (("overloaded",), None, ErrorKind.OVERLOADED),
        (("server_error", {"odd": 1}, 5), 529, ErrorKind.OVERLOADED),
        (("error_during_execution",), None, ErrorKind.AGENT_ERROR),
    ],
)
def test_a_name_tells_the_kind_and_the_narrowest_wins(words, status, kind):
    assert kind_of("no", status=status, words=words) is kind


@pytest.mark.parametrize("kind", AWAY_KINDS)
def test_only_an_untouched_task_waits_for_the_model(kind):
    status = {ErrorKind.RATE_LIMITED: 429, ErrorKind.OVERLOADED: 529}.get(kind)
    found = fault("You've hit your limit · resets 3am (UTC)" if status is None else "no", now=NOW, status=status)

    assert found.kind is kind
    assert found.away(tool_used=False).kind is kind
    assert found.away(tool_used=True) is None


def test_the_sentence_says_what_to_do_and_then_what_the_agent_said():
    found = fault("Invalid API key\x00", now=NOW, status=401)

    assert found.sentence == (
        "The agent's login or key was not accepted. Log in again as the account that runs it,"
        " or name the variable that holds its key in `env`. It said: Invalid API key\ufffd"
    )


def test_a_long_error_is_cut_in_the_sentence():
    assert len(fault("x" * 100_000, now=NOW).sentence) < 2_200


@pytest.mark.parametrize(
    "said",
    [
        "There's an issue with the selected model (claude-oups-9). It may not exist or you may not have access to it.",
        "The model `gpt-55` does not exist or you do not have access to it.",
        'API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-oups-9"}}',
        "The requested model 'gpt-55' is not supported",
    ],
)
def test_a_model_that_the_service_does_not_know_is_named_with_what_to_correct(said):
    found = fault(said, now=NOW, status=404)

    assert found.kind is ErrorKind.AGENT_ERROR
    assert found.sentence.startswith("The model's service does not know this model. Correct `model`")
    assert said in found.sentence


def test_another_error_that_speaks_of_a_model_is_not_taken_for_an_unknown_one():
    found = fault("The file model.py was not found in /workspace/models.", now=NOW)

    assert "Correct `model`" not in found.sentence
