"""Strict readers of fields: what each takes, what it refuses, and with which sentence."""

import datetime as dt
import json
import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.fields import Wrong


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


def wrong(reader: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(Wrong) as raised:
        reader(*arguments)
    return str(raised.value)


# --- one value ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "read"), [(1, 1), (9, 9), (2.0, 2), (9.0, 9)])
def test_a_whole_number_within_its_bounds_is_taken(value: object, read: int) -> None:
    number = fields.integer(value, 1, 9)

    assert number == read
    assert type(number) is int


@pytest.mark.parametrize("value", [0, 10, -1, 10**300, 0.0, 10.0])
def test_a_number_beyond_its_bounds_is_refused_with_both(value: object) -> None:
    assert "from 1 to 9" in wrong(fields.integer, value, 1, 9)


@pytest.mark.parametrize("value", ["5", True, 2.5, None, [], {}, math.nan, math.inf, -math.inf, 1e300, float(2**53)])
def test_what_is_no_whole_number_is_not_made_one(value: object) -> None:
    assert "whole number from 1 to 9" in wrong(fields.integer, value, 1, 9)


@pytest.mark.parametrize(
    ("value", "read"), [(1, 1.0), (0.5, 0.5), (-3, -3.0), (10**400, math.inf), (math.inf, math.inf)]
)
def test_any_number_is_a_number(value: object, read: float) -> None:
    assert fields.number(value) == read


@pytest.mark.parametrize("value", ["5", True, None, [5]])
def test_what_is_no_number_is_not_made_one(value: object) -> None:
    assert "Must be a number" in wrong(fields.number, value)


@pytest.mark.parametrize("value", ["ab", " ab ", "a\nb", "\ufeff", "😀😀"])
def test_a_text_is_kept_as_it_was_sent(value: str) -> None:
    assert fields.text(value, 1, 10) == value


def test_a_text_is_measured_after_it_was_stripped() -> None:
    assert fields.text("   ab   ", 1, 2, strip=True) == "ab"
    assert "at most 2 characters; it has 3" in wrong(lambda: fields.text(" abc ", 0, 2, strip=True))


@pytest.mark.parametrize(("low", "bounds"), [(1, "from 1 to 3"), (0, "at most 3")])
def test_a_text_of_a_wrong_length_is_refused_with_the_bound_and_its_length(low: int, bounds: str) -> None:
    assert wrong(fields.text, "abcd", low, 3) == f"Must have {bounds} characters; it has 4."


@pytest.mark.parametrize(
    ("value", "place"), [("\ud800", 1), ("ab\udfffc", 3)], ids=["at the beginning", "in the middle"]
)
def test_a_lone_surrogate_is_refused_with_its_place(value: str, place: int) -> None:
    assert f"at character {place}" in wrong(fields.text, value, 0, 9)


def test_names_in_a_list_keep_their_order_and_their_twins() -> None:
    assert fields.texts(["b", "a", "b"], 3, 9) == ("b", "a", "b")


@pytest.mark.parametrize("value", [list(Colour), ["red", "green"]], ids=["words", "strings"])
def test_a_word_of_the_vocabulary_is_taken(value: list[Any]) -> None:
    assert [fields.word(one, Colour) for one in value] == list(Colour)


def test_another_word_is_refused_with_the_known_ones_and_the_nearest() -> None:
    sentence = wrong(fields.word, "gren", Colour)

    assert sentence == "Must be one of: red, green; \"gren\" was given. Did you mean 'green'?"


@pytest.mark.parametrize("value", [1, 0, "true", None, []])
def test_a_boolean_is_nothing_but_true_or_false(value: object) -> None:
    assert fields.boolean(True) is True
    assert fields.boolean(False) is False
    assert "true or false" in wrong(fields.boolean, value)


@pytest.mark.parametrize("value", ["2030-01-31T12:00:00Z", "2030-01-31T13:00:00+01:00", "2030-01-31T06:30:00-05:30"])
def test_a_moment_is_read_in_its_own_zone(value: str) -> None:
    assert fields.moment(value) == dt.datetime(2030, 1, 31, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "value",
    ["2030-01-31T12:00:00", "2030-01-31", "noon", "", 5, None, "2030-13-01T00:00:00Z", "9999-12-31T23:59:59-23:59"],
)
def test_a_moment_without_a_zone_or_a_meaning_is_refused(value: object) -> None:
    assert "ISO 8601" in wrong(fields.moment, value)


@pytest.mark.parametrize(("reader", "empty"), [(fields.mapping, {}), (fields.listing, [])])
@pytest.mark.parametrize("inner", ["a\x00", "\ud800", math.nan, math.inf, {"a\x00": 1}, [["\udfff"]]])
def test_a_structure_is_searched_for_what_no_database_stores(
    reader: Callable[[object], Any], empty: Any, inner: object
) -> None:
    value = {"a": [inner]} if isinstance(empty, dict) else [{"a": inner}]

    assert reader(empty) == empty
    assert wrong(reader, value)


# --- saying things back -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"), (True, "true"), (5, "5"), (2.5, "2.5"), ("a", '"a"'), ([1], "a list"), ({}, "an object"),
        (math.nan, "NaN"), (math.inf, "Infinity"), (b"", "bytes"),
    ],
)  # fmt: skip
def test_a_value_is_said_as_json_would(value: object, said: str) -> None:
    assert fields.found(value) == said


@pytest.mark.parametrize("value", ["x" * 10_000, 10**4_000, 10**5_000], ids=["long text", "long number", "longer"])
def test_an_endless_value_is_said_shortly(value: object) -> None:
    assert len(fields.found(value)) <= 42


@pytest.mark.parametrize("name", ["a\x00b", "a\ud800b", "x" * 1_000])
def test_a_name_that_is_said_back_can_be_stored_and_is_short(name: str) -> None:
    said = fields.clip(name)

    assert "\x00" not in said
    assert len(said.encode()) <= 110


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("colour", "colour_name"), ("colour_name_2", "colour_name"), ("size_of", "size"), ("siez", "size")],
)
def test_the_nearest_name_begins_alike_or_looks_alike(name: str, nearest: str) -> None:
    assert fields.nearest(name, ["colour_name", "size", "model"]) == f" Did you mean {nearest!r}?"


@pytest.mark.parametrize("name", ["", "qqq", "x" * 100_000])
def test_what_is_like_nothing_gets_no_hint(name: str) -> None:
    assert fields.nearest(name, ["colour", "size"]) == ""


# --- a whole body -------------------------------------------------------------------------------------------

KNOWN: dict[str, fields.Read] = {
    "size": lambda value: fields.integer(value, 1, 9),
    "name": lambda value: fields.text(value, 1, 9),
}


def refused(body: Any, **options: Any) -> Refused:
    with pytest.raises(Refused) as raised:
        fields.read(body, KNOWN, **options)
    return raised.value


def test_what_was_not_given_and_what_is_null_is_left_out() -> None:
    assert fields.read({"size": 5, "name": None}, KNOWN) == {"size": 5}
    assert fields.read({}, KNOWN) == {}


def test_a_required_field_may_be_neither_absent_nor_null() -> None:
    assert set(refused({"size": None}, required=("size", "name")).errors) == {"size", "name"}


def test_a_field_that_is_false_or_zero_was_given() -> None:
    assert "size" in refused({"size": 0}).errors
    assert "size" in refused({"size": False}).errors


def test_the_detail_is_the_first_of_all_that_is_wrong() -> None:
    error = refused({"size": 0, "name": "", "sizes": 3})

    assert list(error.errors) == ["sizes", "size", "name"]
    assert error.detail == "sizes: Unknown field. Did you mean 'size'?"


def test_of_a_hundred_thousand_unknown_fields_a_few_are_named() -> None:
    assert len(refused({f"unknown{number}": 1 for number in range(100_000)}).errors) == fields.UNKNOWN_SAID


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_every_value_is_read_or_refused_with_a_sentence_that_can_be_sent(value: Any) -> None:
    for reader in KNOWN.values():
        try:
            reader(value)
        except Wrong as error:
            json.dumps(str(error)).encode()
            sentence = str(error)
        else:
            continue
        assert sentence.endswith(".")
