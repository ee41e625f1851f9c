"""Tokens and costs of a stream: what is no amount is unknown, and never zero."""

import json

import pytest

from agents.runtimes.base import TokenUsage

from .printing import (
    FINAL,
    assistant,
    json_lines,
    printed,
    read_stream,
    text,
)


def test_tokens_of_intermediate_lines_are_never_summed(tmp_path):
    line = assistant(text("thinking"))
    line["message"]["usage"] = {"input_tokens": 7, "output_tokens": 9}

    without = read_stream(printed(tmp_path, json_lines(line, line, FINAL)))
    with_usage = read_stream(printed(tmp_path, json_lines(line, FINAL | {"usage": {"input_tokens": 3}})))

    assert without.tokens == TokenUsage()
    assert with_usage.tokens == TokenUsage(input=3)


@pytest.mark.parametrize("count", [-1, "12", True, 1.5, None, 10**40, [], 2**63])
def test_a_token_count_that_is_none_is_unknown(tmp_path, count):
    final = FINAL | {"usage": {"input_tokens": count, "output_tokens": 5.0}}

    assert read_stream(printed(tmp_path, json_lines(final))).tokens == TokenUsage(output=5)


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "-Infinity", "-0.5", '"0.5"', "true", "null", "[]", "1e999"])
def test_a_cost_that_is_no_amount_is_unknown_and_never_zero(tmp_path, cost):
    line = json.dumps(FINAL).replace('"total_cost_usd": 0.5', f'"total_cost_usd": {cost}')

    outcome = read_stream(printed(tmp_path, line))

    assert outcome.succeeded
    assert outcome.cost_nano is None


@pytest.mark.parametrize(
    ("models", "invented"),
    [
        ({"claude-x": {"costBasis": "list"}}, False),
        ({"claude-x": {"costBasis": "unknown"}}, True),
        ({"our-model": {"costBasis": "managed"}}, False),
        ({"claude-x": {"costBasis": "list"}, "our-model": {"costBasis": "unknown"}}, True),
        ({"us.anthropic.Claude-x-v1": {}}, False),
        ({"our-model": {}}, True),
        ({"our-model": "odd"}, False),
        ({}, False),
    ],
)
def test_the_cost_of_a_model_that_the_client_has_no_price_for_is_marked(tmp_path, models, invented):
    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"modelUsage": models})))

    assert (outcome.cost_nano, outcome.cost_estimated) == (500_000_000, invented)


def test_a_missing_cost_is_unknown_and_a_zero_is_zero(tmp_path):
    assert read_stream(printed(tmp_path, '{"result": "", "is_error": false}')).cost_nano is None
    assert read_stream(printed(tmp_path, json_lines(FINAL | {"total_cost_usd": 0}))).cost_nano == 0


def test_a_cost_with_thousands_of_digits_does_not_hide_the_answer(tmp_path):
    line = json.dumps(FINAL | {"total_cost_usd": 1}).replace("1}", "9" * 5000 + "}")

    outcome = read_stream(printed(tmp_path, line))

    assert (outcome.succeeded, outcome.cost_nano) == (True, None)
