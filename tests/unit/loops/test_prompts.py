"""The message of a loop, filled in for one run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loops.prompts import CARRIED_CHARACTERS, MAX_PROMPT_CHARACTERS, render


def test_the_number_of_the_run_is_filled_in_wherever_it_stands() -> None:
    assert render("{{run}} of 9: {{run}}", run_number=7, previous_response=None) == "7 of 9: 7"


def test_the_last_reply_is_filled_in_as_it_is() -> None:
    said = "  first line\nsecond line  "

    assert render("Before: <{{previous_response}}>", run_number=2, previous_response=said) == f"Before: <{said}>"


@pytest.mark.parametrize("previous", [None, ""])
def test_without_a_reply_nothing_stands_there(previous: str | None) -> None:
    assert render("Before: <{{previous_response}}>", run_number=1, previous_response=previous) == "Before: <>"


@pytest.mark.parametrize(
    ("length", "first"), [(1_999, "0"), (2_000, "0"), (2_001, "1"), (5_000, "0")], ids=lambda value: str(value)
)
def test_of_a_long_reply_the_last_two_thousand_characters_are_carried(length: int, first: str) -> None:
    said = ("0123456789" * 500)[:length]

    filled = render("{{previous_response}}", run_number=2, previous_response=said)

    assert len(filled) == min(length, CARRIED_CHARACTERS)
    assert filled[0] == first
    assert said.endswith(filled)


def test_characters_are_counted_and_not_bytes() -> None:
    assert render("{{previous_response}}", run_number=2, previous_response="😀" * 3_000) == "😀" * CARRIED_CHARACTERS


@pytest.mark.parametrize("said", ["{{run}}", "{{previous_response}}", "{{run}}{{previous_response}}", "\\1 \\g<0>"])
def test_what_a_reply_contains_is_never_expanded(said: str) -> None:
    assert render("<{{previous_response}}>", run_number=2, previous_response=said) == f"<{said}>"


def test_what_two_fillings_make_together_is_not_expanded() -> None:
    assert render("{{previous_response}}un}}", run_number=2, previous_response="{{r") == "{{run}}"


@pytest.mark.parametrize(
    "message",
    [
        "{{ run }}",
        "{run}",
        "{{Run}}",
        "{{RUN}}",
        "{{run",
        "run}}",
        "{{runs}}",
        "{{unknown}}",
        "{% run %}",
        "$run",
        "%s",
    ],
)
def test_whatever_else_stands_there_is_left_alone(message: str) -> None:
    assert render(message, run_number=3, previous_response="x") == message


def test_braces_around_a_placeholder_stay() -> None:
    assert render("{{{run}}}", run_number=3, previous_response=None) == "{3}"


def test_a_message_of_placeholders_only_does_not_grow_beyond_what_can_be_sent() -> None:
    filled = render("{{previous_response}}" * 4_000, run_number=2, previous_response="x" * 2_000)

    assert len(filled) == MAX_PROMPT_CHARACTERS


@given(st.text(), st.integers(1, 100), st.text())
def test_a_message_without_placeholders_is_sent_as_it_was_written(message: str, run: int, said: str) -> None:
    written = message.replace("{{", "{")

    assert render(written, run_number=run, previous_response=said) == written
