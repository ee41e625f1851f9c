"""Which names a text addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspace.mentions import MOST, mentioned_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@scribe", ("scribe",)),
        ("Hello @scribe, and you, @editor-2?", ("scribe", "editor-2")),
        ("@editor then @scribe then @editor", ("editor", "scribe")),
        ("(@scribe) @scribe's “@editor”", ("scribe", "editor")),
        ("@Scribe!", ("scribe",)),
        ("@scribe.", ("scribe",)),
        ("ask\n@scribe\nnow", ("scribe",)),
        ("**@scribe**", ("scribe",)),
        ("alice@scribe.example", ()),
        ("https://example.org/@scribe", ()),
        ("@@scribe", ()),
        ("@ scribe", ()),
        ("@scribe_x", ()),
        ("@-scribe", ()),
        ("@scribe-", ()),
        ("`@scribe`", ()),
        ("```\n@scribe\n``` @editor", ("editor",)),
        ("~~~\n@scribe that never ends", ()),
        ("@" + "a" * 64, ()),
        ("", ()),
    ],
)
def test_a_name_behind_an_at_is_a_mention_and_what_only_looks_like_one_is_not(
    text: str, names: tuple[str, ...]
) -> None:
    assert mentioned_names(text) == names


def test_one_message_addresses_a_bounded_number_of_names() -> None:
    assert len(mentioned_names(" ".join(f"@a{number}" for number in range(100)))) == MOST


@given(st.text(alphabet="@ab-_.`~\n 1é", max_size=200))
def test_any_text_has_names_that_stand_in_it_each_once(text: str) -> None:
    names = mentioned_names(text)

    assert len(set(names)) == len(names)
    assert all(f"@{name}" in text.lower() for name in names)


def test_a_long_hostile_text_costs_no_time() -> None:
    assert mentioned_names("@a-" * 33_000 + "`" * 1_000) == ()
