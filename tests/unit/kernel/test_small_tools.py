"""The registry, ids, live events and choices of the kernel."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import pytest

from trinity.kernel import live
from trinity.kernel.choices import choices_of, one_of
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.ids import new_id
from trinity.kernel.registry import Registry
from trinity.kernel.vocabulary import RefusalCode


def test_a_registry_keeps_the_order_of_registration() -> None:
    registry: Registry[int] = Registry("numbers")
    for name in ("b", "a", "c"):
        registry.add(name, len(name))

    assert [name for name, _ in registry.entries()] == ["b", "a", "c"]


def test_a_name_registered_again_is_replaced_in_its_place() -> None:
    registry: Registry[int] = Registry("numbers")
    for name, entry in (("a", 1), ("b", 2), ("a", 3)):
        registry.add(name, entry)

    assert registry.entries() == [("a", 3), ("b", 2)]
    assert (registry.get("a"), registry.get("z")) == (3, None)


def test_what_is_listed_is_not_the_registry_itself() -> None:
    registry: Registry[int] = Registry("numbers")
    registry.entries().append(("a", 1))

    assert registry.entries() == []


def test_an_id_has_its_prefix_and_sixteen_characters_that_need_no_quoting() -> None:
    ids = {new_id("loop") for _ in range(1_000)}

    assert len(ids) == 1_000
    assert all(re.fullmatch(r"loop_[A-Za-z0-9_-]{16}", one) for one in ids)


@pytest.fixture
def no_transport() -> Iterator[None]:
    yield
    live.travel_by(None)


EVENT: live.LiveEvent = {"agent_id": 1, "body": {"type": "loop_started"}}


@pytest.mark.usefixtures("no_transport")
def test_the_events_of_one_commit_travel_together_and_in_order() -> None:
    sent: list[Sequence[live.LiveEvent]] = []
    live.travel_by(sent.append)

    live.publish([EVENT, EVENT])

    assert sent == [[EVENT, EVENT]]


@pytest.mark.usefixtures("no_transport")
def test_a_transport_that_fails_does_not_fail_the_work() -> None:
    def away(events: Sequence[live.LiveEvent]) -> None:
        raise ConnectionError

    live.travel_by(away)
    live.publish([EVENT])


def test_where_nobody_listens_nothing_is_sent() -> None:
    live.publish([EVENT])


class Word(StrEnum):
    ONE = "one_word"
    TWO = "two-words"


def test_choices_read_as_words() -> None:
    assert choices_of(Word) == [("one_word", "one word"), ("two-words", "two words")]


@pytest.mark.parametrize(
    ("blank", "words"), [(False, ["one_word", "two-words"]), (True, ["one_word", "two-words", ""])]
)
def test_a_column_takes_the_words_of_its_vocabulary_as_plain_strings(blank: bool, words: list[str]) -> None:
    constraint = one_of("status", Word, name="known", blank=blank)

    assert constraint.condition.children == [("status__in", words)]
    assert all(type(word) is str for word in constraint.condition.children[0][1])


def test_a_refusal_says_whose_fault_it_is_and_names_the_field() -> None:
    refused = refused_field("max_runs", "Must be at most 100.", high=100)

    assert isinstance(refused, Refused)
    assert refused.code is RefusalCode.INVALID
    assert str(refused) == refused.detail == "max_runs: Must be at most 100."
    assert (refused.errors, refused.facts) == ({"max_runs": ["Must be at most 100."]}, {"high": 100})
