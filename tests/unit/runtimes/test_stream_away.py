"""When a model that does not answer is a wait, and when it is a failure."""

import datetime as dt
import json

import pytest

from agents.runtimes.base import Ending, ErrorKind

from .printing import (
    FINAL,
    assistant,
    failure,
    init,
    json_lines,
    printed,
    read_as,
    read_stream,
    text,
    use,
)

AWAY = [(429, ErrorKind.RATE_LIMITED), (529, ErrorKind.OVERLOADED), (503, ErrorKind.OVERLOADED)]


@pytest.mark.parametrize(("status", "kind"), AWAY)
def test_a_model_that_is_away_before_any_tool_is_no_outcome(tmp_path, status, kind):
    lines = json_lines(assistant(text("I begin.")), failure("later", api_error_status=status))

    outcome = read_stream(printed(tmp_path, lines))

    assert (outcome.error_kind, outcome.away.kind) == (kind, kind)


@pytest.mark.parametrize(("status", "kind"), AWAY)
@pytest.mark.parametrize("parent", [None, "toolu_task"])
def test_a_model_that_goes_away_after_a_tool_is_a_failure(tmp_path, status, kind, parent):
    lines = json_lines(assistant(use("Bash", "a"), parent=parent), failure("later", api_error_status=status))

    outcome = read_stream(printed(tmp_path, lines))

    assert (outcome.error_kind, outcome.away) == (kind, None)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 500])
def test_a_request_that_would_fail_again_is_not_away(tmp_path, status):
    assert read_stream(printed(tmp_path, json_lines(failure("no", api_error_status=status)))).away is None


def test_what_was_cut_out_may_have_been_a_tool_call(tmp_path):
    lines = json_lines({"type": "trinity.cut", "truncated_bytes": 5}, failure("later", api_error_status=429))

    assert read_stream(printed(tmp_path, lines)).away is None
    assert (
        read_stream(printed(tmp_path, json_lines(failure("x", api_error_status=429)), truncated_bytes=5)).away is None
    )


@pytest.mark.parametrize(
    ("facts", "away"),
    [
        ({"num_turns": 1}, True),
        ({"num_turns": 0}, True),
        ({"num_turns": 2}, False),
        ({}, True),
        ({"usage": {"output_tokens": 0}}, True),
        ({"usage": {"output_tokens": 40}}, False),
    ],
)
def test_a_single_object_is_away_only_if_the_model_had_done_nothing(tmp_path, facts, away):
    outcome = read_as("json", printed(tmp_path, json.dumps(failure("later", api_error_status=429, **facts))))

    assert (outcome.away is not None) is away


def test_an_agent_that_only_asked_again_until_its_time_was_over_was_away(tmp_path):
    retry = {"type": "system", "subtype": "api_retry", "error_status": 529, "attempt": 3}

    waiting = read_stream(printed(tmp_path, json_lines(init(), retry, retry), timed_out=True))
    working = read_stream(printed(tmp_path, json_lines(retry, assistant(use("Bash", "a"))), timed_out=True))
    talking = read_stream(printed(tmp_path, json_lines(retry, assistant(text("I begin."))), timed_out=True))
    resting = read_stream(printed(tmp_path, json_lines(assistant(use("Bash", "a")), retry), timed_out=True))

    assert (waiting.ending, waiting.away.kind) == (Ending.TIMED_OUT, ErrorKind.OVERLOADED)
    assert working.away is None
    assert talking.away is None
    assert resting.away is None


def test_an_error_that_the_model_overcame_does_not_colour_the_end(tmp_path):
    synthetic = assistant(text("API Error: 429"), id="s", error="rate_limit")
    synthetic["message"]["model"] = "<synthetic>"

    lines = json_lines(synthetic, assistant(text("again")), failure("It is broken."))

    assert read_stream(printed(tmp_path, lines)).error_kind is ErrorKind.AGENT_ERROR


def test_a_sub_agents_error_is_not_the_runs(tmp_path):
    synthetic = assistant(text("API Error: 429"), id="s", parent="t", error="rate_limit", api_error_status=429)
    synthetic["message"]["model"] = "<synthetic>"

    outcome = read_stream(printed(tmp_path, json_lines(synthetic, failure("It is broken."))))

    assert (outcome.error_kind, outcome.away) == (ErrorKind.AGENT_ERROR, None)


def test_a_limits_reset_time_comes_from_the_event_before_the_words(tmp_path):
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1796080000}}
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1796000000}}
    limit = failure("You've hit your weekly limit · resets 11pm (UTC)", api_error_status=429)

    told = read_stream(printed(tmp_path, json_lines(event, allowed, limit)))
    spoken = read_stream(printed(tmp_path, json_lines(allowed, limit)))

    assert told.away.until == dt.datetime.fromtimestamp(1796080000, dt.UTC)
    assert spoken.away.until == dt.datetime(2026, 11, 30, 23, tzinfo=dt.UTC)


def test_the_old_words_of_a_usage_limit_bring_its_stamp(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(failure("Claude AI usage limit reached|1796080000"))))

    assert outcome.error_kind is ErrorKind.USAGE_LIMIT
    assert outcome.away.until == dt.datetime.fromtimestamp(1796080000, dt.UTC)


def test_a_successful_reply_may_tell_of_limits(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"result": "You've hit your weekly limit"})))

    assert outcome.succeeded
