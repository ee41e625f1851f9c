"""Text from outside: what is replaced, how it is cut, and how it is shortened for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trinity.kernel.text import clean, collapse, first_line

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=300)


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("ä😀\u202e\x1b[31m", "ä😀\u202e\x1b[31m"),
    ],
)
def test_only_what_no_database_takes_is_replaced(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


@given(anything)
def test_cleaned_text_can_be_stored_and_cleaning_it_again_changes_nothing(given_text: str) -> None:
    cleaned = clean(given_text)

    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@given(anything, st.integers(0, 200))
def test_no_text_is_longer_than_its_limit(given_text: str, limit: int) -> None:
    assert len(clean(given_text, limit)) <= limit


@given(anything)
def test_a_text_within_its_limit_is_not_cut(given_text: str) -> None:
    assert clean(given_text, len(given_text)) == clean(given_text)


def test_a_long_text_keeps_its_beginning_and_its_end_and_says_what_is_missing() -> None:
    cut = clean("b" + "x" * 10_000 + "[[DONE]]", 1_000)

    assert len(cut) == 1_000
    assert cut.startswith("bx")
    assert cut.endswith("[[DONE]]")
    assert "[cut here: 10,009 characters, about 1,000 kept]" in cut


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Go\nand more", "Go"),
        ("\n\n  Go  \nmore", "Go"),
        ("", ""),
        (" \n\t\n", ""),
        ("a\rb", "a"),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 200, "x" * 200),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, line: str) -> None:
    assert first_line(text) == line


@given(
    st.lists(st.text("abc", min_size=1), max_size=5),
    st.lists(st.text(" \t\n\u00a0", min_size=1), min_size=6, max_size=6),
)
def test_white_space_is_collapsed_whatever_it_is(words: list[str], white: list[str]) -> None:
    spread = "".join(space + word for space, word in zip(white, words, strict=False)) + white[5]

    assert collapse(spread) == " ".join(words)
