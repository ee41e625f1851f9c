"""The parameters of a loop: every bound, strict types, and defaults."""

import math
from decimal import Decimal
from typing import Any

import pytest

from loops.parameters import LoopParameters, read_parameters
from loops.vocabulary import OnFailure
from trinity.kernel.errors import Refused
from trinity.kernel.money import NANO

LEAST: dict[str, Any] = {"message": "Go", "max_runs": 1}


def read(**given_fields: Any) -> LoopParameters:
    return read_parameters(LEAST | given_fields)


def refusal(**given_fields: Any) -> dict[str, list[str]]:
    with pytest.raises(Refused) as refused:
        read(**given_fields)
    return refused.value.errors


# --- defaults -----------------------------------------------------------------------------------------------


def test_two_fields_are_enough_and_the_rest_has_the_defaults_of_the_contract() -> None:
    assert read_parameters(LEAST) == LoopParameters(
        message="Go",
        max_runs=1,
        stop_signal="",
        delay_seconds=0,
        timeout_per_run=None,
        max_duration_seconds=None,
        no_progress_threshold=3,
        max_cost_nano=None,
        on_failure=OnFailure.ABORT,
        max_consecutive_failures=3,
        model="",
        allowed_tools=None,
    )


OPTIONAL = [name for name in LoopParameters.__dataclass_fields__ if name not in ("message", "max_runs")]


@pytest.mark.parametrize("name", [name.replace("max_cost_nano", "max_cost_usd") for name in OPTIONAL])
def test_null_in_an_optional_field_means_its_default(name: str) -> None:
    assert read(**{name: None}) == read_parameters(LEAST)


@pytest.mark.parametrize("name", ["message", "max_runs"])
@pytest.mark.parametrize("missing", [{}, {"message": None, "max_runs": None}], ids=["absent", "null"])
def test_a_required_field_is_named_when_it_is_missing(name: str, missing: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        read_parameters(missing)

    assert refused.value.errors[name] == ["This field is required."]


# --- bounds -------------------------------------------------------------------------------------------------

BOUNDS = [
    ("max_runs", 1, 100),
    ("delay_seconds", 0, 3_600),
    ("timeout_per_run", 10, 7_200),
    ("max_duration_seconds", 1, 604_800),
    ("max_consecutive_failures", 1, 100),
]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDS)
def test_a_number_at_its_bounds_is_taken_and_beyond_them_refused_with_both(name: str, low: int, high: int) -> None:
    assert [getattr(read(**{name: number}), name) for number in (low, high)] == [low, high]

    for number in (low - 1, high + 1, -(10**30), 10**30):
        assert f"Must be from {low:,} to {high:,}" in refusal(**{name: number})[name][0]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDS)
@pytest.mark.parametrize("value", ["5", "", True, False, 2.5, math.nan, math.inf, -math.inf, [5], {"a": 5}, Decimal(5)])
def test_a_number_is_nothing_but_a_whole_number(name: str, low: int, high: int, value: object) -> None:
    assert "Must be a whole number" in refusal(**{name: value})[name][0]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDS)
def test_a_whole_number_may_be_written_with_a_point(name: str, low: int, high: int) -> None:
    value = getattr(read(**{name: float(high)}), name)

    assert value == high
    assert isinstance(value, int)


@pytest.mark.parametrize("threshold", [0, 2, 3, 100, 2_147_483_647])
def test_the_threshold_is_off_or_at_least_two(threshold: int) -> None:
    assert read(no_progress_threshold=threshold).no_progress_threshold == threshold


@pytest.mark.parametrize("threshold", [1, -1, 2_147_483_648])
def test_a_threshold_of_one_would_end_every_loop_and_is_refused(threshold: int) -> None:
    assert "no_progress_threshold" in refusal(no_progress_threshold=threshold)


# --- texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "taken"), [(1, True), (100_000, True), (0, False), (100_001, False)])
def test_a_message_has_one_to_a_hundred_thousand_characters(length: int, taken: bool) -> None:
    if taken:
        assert len(read(message="😀" * length).message) == length
    else:
        assert "from 1 to 100,000 characters" in refusal(message="😀" * length)["message"][0]


@pytest.mark.parametrize("message", ["  Go  \n", "\n", "\ufeffGo", "Go\r\n"])
def test_a_message_is_stored_as_it_was_sent(message: str) -> None:
    assert read(message=message).message == message


@pytest.mark.parametrize("name", ["message", "stop_signal", "model"])
@pytest.mark.parametrize("value", [5, True, 2.5, ["Go"], {"a": "Go"}])
def test_a_text_is_nothing_but_a_string(name: str, value: object) -> None:
    assert "Must be a string" in refusal(**{name: value})[name][0]


@pytest.mark.parametrize("name", ["message", "stop_signal", "model"])
@pytest.mark.parametrize(
    ("value", "sentence"), [("a\x00b", "NUL"), ("a\ud800b", "lone surrogate stands at character 2")]
)
def test_a_text_that_cannot_be_stored_is_refused(name: str, value: str, sentence: str) -> None:
    assert sentence in refusal(**{name: value})[name][0]


def test_a_stop_signal_loses_the_blanks_at_its_ends_only() -> None:
    assert read(stop_signal=" \t[[ALL  DONE]]\n").stop_signal == "[[ALL  DONE]]"


@pytest.mark.parametrize("blank", ["", "   ", "\n\t\u2003"])
def test_a_blank_stop_signal_is_none(blank: str) -> None:
    assert read(stop_signal=blank).stop_signal == ""


def test_a_stop_signal_is_measured_without_its_blanks() -> None:
    assert len(read(stop_signal=" " * 50 + "x" * 200).stop_signal) == 200
    assert "at most 200 characters; it has 201" in refusal(stop_signal="x" * 201)["stop_signal"][0]


@pytest.mark.parametrize("policy", list(OnFailure))
def test_a_policy_is_one_of_its_words(policy: OnFailure) -> None:
    assert read(on_failure=str(policy)).on_failure is policy


@pytest.mark.parametrize("value", ["Abort", "abort ", "stop", "", 5, True, ["abort"]])
def test_a_policy_of_another_word_is_refused_with_the_known_ones(value: object) -> None:
    assert "Must be one of: abort, continue" in refusal(on_failure=value)["on_failure"][0]


def test_allowed_tools_are_a_list_of_names() -> None:
    assert read(allowed_tools=["Bash", "mcp__x__y"]).allowed_tools == ("Bash", "mcp__x__y")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "Must not be empty"),
        ("Bash", "Must be a list"),
        ({"Bash": True}, "Must be a list"),
        ([5], "Must be a string"),
        ([""], "characters"),
        (["  "], "blank name"),
        (["x" * 201], "characters"),
        (["x"] * 201, "at most 200 names"),
        (["a\x00"], "NUL"),
    ],
)
def test_a_list_of_tools_that_could_be_misread_is_refused(value: object, sentence: str) -> None:
    assert sentence in refusal(allowed_tools=value)["allowed_tools"][0]


# --- money --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dollars", "nano"),
    [
        (1, NANO),
        (0.1, NANO // 10),
        (2.5, 5 * NANO // 2),
        (0.001, NANO // 1000),
        (1e-9, 1),
        (1e-12, 1),
        (0.29, 290_000_000),
    ],
)
def test_a_budget_is_kept_exactly_and_one_below_every_coin_is_still_one(dollars: float, nano: int) -> None:
    assert read(max_cost_usd=dollars).max_cost_nano == nano


@pytest.mark.parametrize("dollars", [0, 0.0, -0.0, -1, -1e-12])
def test_a_budget_is_more_than_nothing(dollars: float) -> None:
    assert "more than 0" in refusal(max_cost_usd=dollars)["max_cost_usd"][0]


@pytest.mark.parametrize("dollars", [math.nan, math.inf, -math.inf, 10**400])
def test_a_budget_is_finite(dollars: float) -> None:
    assert "finite" in refusal(max_cost_usd=dollars)["max_cost_usd"][0]


def test_a_budget_beyond_the_column_is_refused_and_the_largest_is_taken() -> None:
    assert read(max_cost_usd=9_000_000_000).max_cost_nano == 9 * 10**18
    assert "9,000,000,000" in refusal(max_cost_usd=9_000_000_001)["max_cost_usd"][0]


@pytest.mark.parametrize("value", ["1.00", True, [1], {"usd": 1}])
def test_a_budget_is_nothing_but_a_number(value: object) -> None:
    assert "Must be a number" in refusal(max_cost_usd=value)["max_cost_usd"][0]
