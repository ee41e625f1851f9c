"""Reading graders from a list: what is taken, and what is refused at which path and in which words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.config import DEFAULT_GRADERS, MOST_GRADERS, check_graders
from tests.unit.graders.making import loop_outcome
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


def faults(graders: Any) -> dict[str, list[str]]:
    with pytest.raises(Refused) as refused:
        check_graders(graders)
    assert refused.value.code is RefusalCode.INVALID
    return refused.value.errors


def fault(path: str, graders: Any) -> str:
    found = faults(graders)
    assert list(found) == [path]
    [sentence] = found[path]
    return sentence


def test_defaults_are_filled_in_and_a_whole_float_becomes_an_integer() -> None:
    [checked] = check_graders([{"type": "loop-outcome", "name": "mine", "config": {"max_acceptable_retries": 3.0}}])

    assert checked == {
        "type": "loop-outcome",
        "name": "mine",
        "config": {
            "max_acceptable_retries": 3,
            "should_loop": False,
            "match": "name-args",
            "max_cycle_period": 1,
        },
    }
    assert type(checked["config"]["max_acceptable_retries"]) is int


def test_the_default_graders_are_good_ones() -> None:
    assert check_graders(DEFAULT_GRADERS)[0]["config"]["max_acceptable_retries"] == 3


def test_an_empty_list_asks_for_nothing() -> None:
    assert check_graders([]) == []


@given(
    st.fixed_dictionaries(
        {"max_acceptable_retries": st.integers(0, 10**12)},
        optional={
            "should_loop": st.booleans(),
            "match": st.sampled_from(["name", "name-args", "observation"]),
            "tools": st.lists(st.sampled_from(["^a$", "b+", "(?i)c"]), min_size=1),
            "max_cycle_period": st.integers(1, 10),
        },
    ),
    st.none() | st.text(max_size=20),
)
def test_checking_what_was_checked_changes_nothing(config: dict, name: str | None) -> None:
    checked = check_graders([{"type": "loop-outcome", "name": name, "config": config}])

    assert check_graders(json.loads(json.dumps(checked))) == checked
    assert config.items() <= checked[0]["config"].items()


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        (True, "found true (a boolean)"),
        ("3", 'found "3" (text)'),
        (2.5, "found 2.5 (a number)"),
        (-1, "found -1 (a number)"),
        (None, "found nothing (null)"),
        ([3], "found a list of 1"),
        ({}, "found a mapping"),
        (float("inf"), "found inf (a number)"),
        (float("nan"), "found nan (a number)"),
        (-(10**400), "found a very large integer (a number)"),
    ],
)
def test_a_limit_that_is_no_whole_number_is_refused(limit: object, found: str) -> None:
    said = fault("graders[0].config.max_acceptable_retries", [loop_outcome(limit)])

    assert said == f"loop-outcome: max_acceptable_retries must be an integer ≥ 0, {found}"


@pytest.mark.parametrize("period", [0, 11, -1, True, "2", 1.5, None])
def test_a_period_is_from_one_to_ten(period: object) -> None:
    said = fault("graders[0].config.max_cycle_period", [loop_outcome(max_cycle_period=period)])

    assert "an integer from 1 to 10" in said


@pytest.mark.parametrize("flag", ["no", "false", 0, 1, None])
def test_only_a_boolean_says_whether_looping_is_expected(flag: object) -> None:
    assert "must be true or false" in fault("graders[0].config.should_loop", [loop_outcome(should_loop=flag)])


@pytest.mark.parametrize("match", ["args", "NAME", "", None, 1, ["name"]])
def test_match_is_one_of_three_words(match: object) -> None:
    said = fault("graders[0].config.match", [loop_outcome(match=match)])

    assert '"name-args", "name", "observation"' in said


def test_the_nearest_word_is_named() -> None:
    assert 'the nearest is "observation"' in fault("graders[0].config.match", [loop_outcome(match="Observed")])


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("^bash$", 'must be a list of regular expressions, found "^bash$" (text)'),
        ([], "is an empty list"),
        ([""], "blank pattern (entry 1)"),
        (["bash", "  "], "blank pattern (entry 2)"),
        ([3], "entry 1: found 3 (a number)"),
        (["(bash"], "is no valid RE2 pattern at character 1: missing ): (bash"),
        (["ok", "ab[c"], 'holds "ab[c" (entry 2), which is no valid RE2 pattern at character 3'),
        (["x(?=y)"], "uses look-around at character 2 ((?=), which RE2 does not have"),
        (["(?<!y)x"], "uses look-around"),
        ([r"(a)\1"], r"uses a back-reference at character 4 (\1), which RE2 does not have"),
        (["a\ud800"], "has a lone surrogate at character 2"),
        (["a{1001}"], "is no valid RE2 pattern"),
        (None, "found nothing (null)"),
    ],
)
def test_a_wrong_pattern_is_shown_with_the_place(tools: object, said: str) -> None:
    assert said in fault("graders[0].config.tools", [loop_outcome(tools=tools)])


def test_an_unknown_key_is_named_with_the_nearest_known_one() -> None:
    said = fault("graders[0].config.maxRetries", [loop_outcome(3, maxRetries=4)])

    assert said.startswith('loop-outcome: unknown key "maxRetries"; the nearest known key is "max_acceptable_retries"')


def test_every_fault_is_told_at_once() -> None:
    graders = [
        {"type": "loop-outcome", "config": {"match": "x", "toolz": ["a"]}},
        {"type": "loop-outcom", "nmae": "y", "config": {}},
        "loop-outcome",
        {"config": {}},
        {"type": "loop-outcome", "name": 5, "config": [1]},
    ]

    found = faults(graders)

    assert list(found) == [
        "graders[0].config.toolz",
        "graders[0].config.max_acceptable_retries",
        "graders[0].config.match",
        "graders[1].nmae",
        "graders[1].type",
        "graders[2]",
        "graders[3].type",
        "graders[4].name",
        "graders[4].config",
    ]
    assert 'the nearest known key is "name"' in found["graders[1].nmae"][0]
    assert 'the nearest known type is "loop-outcome"' in found["graders[1].type"][0]


def test_a_fault_names_the_grader_by_the_name_that_its_user_gave() -> None:
    said = fault(
        "graders[0].config.match",
        [{"type": "loop-outcome", "name": "my check", "config": {"max_acceptable_retries": 1, "match": "x"}}],
    )

    assert said.startswith('loop-outcome "my check": match must be one of')


@pytest.mark.parametrize("graders", [None, {}, "loop-outcome", 3, {"graders": []}])
def test_graders_are_a_list(graders: object) -> None:
    assert "must be a list of graders" in fault("graders", graders)


def test_there_is_a_bound_to_the_number_of_graders_and_to_their_names() -> None:
    assert f"at most {MOST_GRADERS}" in fault("graders", [loop_outcome()] * (MOST_GRADERS + 1))
    assert "at most 200 characters" in fault("graders[0].name", [{**loop_outcome(), "name": "x" * 201}])


def test_keys_that_are_no_text_are_refused() -> None:
    assert "a key must be text, found 1" in fault(
        "graders[0].config.1", [{"type": "loop-outcome", "config": {1: 2, "max_acceptable_retries": 1}}]
    )


def test_a_name_is_kept_as_text_that_can_be_shown_and_stored() -> None:
    [checked] = check_graders([{**loop_outcome(), "name": "a\x00b\ud800"}])

    assert checked["name"] == "a\ufffdb\ufffd"
