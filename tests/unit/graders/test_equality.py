"""JSON's equality: what is one action and what is not."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.equality import DEEPEST_NESTED_KEY, canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (100, 1e2),
        (0, -0.0),
        (2**70, float(2**70)),
        (10**400, Decimal("1e400")),
        (10**400, Decimal("100e398")),
        (float("nan"), float("nan")),
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1.0}),
        ({"a": [1, {"b": None}]}, {"a": (1.0, {"b": None})}),
        ({"n": 2**80}, {"n": float(2**80)}),
        ("", ""),
    ],
)
def test_equal_values_have_equal_keys(one: object, other: object) -> None:
    assert canonical(one) == canonical(other)
    assert hash(canonical(one)) == hash(canonical(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        ({"a": True}, {"a": 1}),
        ({"a": [True]}, {"a": [1]}),
        ("1", 1),
        ("true", True),
        ("null", None),
        ("nan", float("nan")),
        ([], {}),
        ([], ""),
        (None, {}),
        ({"a": None}, {}),
        ([1, 2], [2, 1]),
        ([["a"], "b"], ["a", ["b"]]),
        ({"a": "b"}, [["a", "b"]]),
        ({"a": {"b": "c"}}, {"a": [["b", "c"]]}),
        ("ls ", "ls"),
        ("é", "e\u0301"),
        (2**53 + 1, 2**53),
        (10**400, 10**400 + 1),
        (float("inf"), float("-inf")),
        ({"a": "1"}, {"a": 1}),
        (0.1, 0.2),
    ],
)
def test_unequal_values_have_unequal_keys(one: object, other: object) -> None:
    assert canonical(one) != canonical(other)


def nested(depth: int, core: object) -> Any:
    for _ in range(depth):
        core = [core]
    return core


def test_values_nested_far_deeper_than_python_recurses_are_compared() -> None:
    assert canonical(nested(5_000, 1)) == canonical(nested(5_000, 1.0))
    assert canonical(nested(5_000, 1)) != canonical(nested(5_000, True))
    assert canonical(nested(5_000, 1)) != canonical(nested(5_001, 1))


@pytest.mark.parametrize("depth", range(DEEPEST_NESTED_KEY - 2, DEEPEST_NESTED_KEY + 3))
def test_the_two_forms_of_a_key_meet_without_a_seam(depth: int) -> None:
    assert canonical(nested(depth, {"a": 1, "b": 2})) == canonical(nested(depth, {"b": 2.0, "a": 1}))
    assert canonical(nested(depth, {"a": 1})) != canonical(nested(depth, {"a": True}))


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set is no JSON value"):
        canonical({"a": {1, 2}})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=3), parts, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_a_value_written_and_read_again_is_the_same(value: object) -> None:
    assert canonical(json.loads(json.dumps(value))) == canonical(value)


def strictly_equal(one: Any, other: Any) -> bool:
    """The definition, by recursion."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(strictly_equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(strictly_equal(one[key], other[key]) for key in one)
    return bool(one == other)


few_values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.0, 1.0, "", "1", "a"]),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(st.sampled_from("ab"), parts, max_size=2),
    max_leaves=4,
)


@given(few_values, few_values)
def test_keys_are_equal_exactly_when_the_values_are(one: object, other: object) -> None:
    assert (canonical(one) == canonical(other)) == strictly_equal(one, other)
