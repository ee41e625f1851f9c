"""Texts with one name, and names that are hard to bear."""

import os

import pytest


def test_a_second_text_of_the_same_name_gets_a_number_and_the_first_stays_as_it_was(desk, story):
    for content in ("The first. Text.", story, story):
        desk.put("notes.txt", content)
        desk.run()

    assert desk.names("done") == ["notes-2.txt", "notes-3.txt", "notes.txt"]
    assert desk.names("outbox") == [
        "notes-2.txt.summary.md",
        "notes-3.txt.summary.md",
        "notes.txt.summary.md",
    ]
    assert desk.text("done/notes.txt") == "The first. Text."
    assert "- The first." in desk.text("outbox/notes.txt.summary.md")


def test_a_new_text_under_an_old_name_is_done_also_when_the_old_text_was_cleared_away(desk, story):
    desk.put("notes.txt", "The first. Text.")
    desk.run()
    (desk.folder / "done/notes.txt").unlink()
    desk.put("notes.txt", story)

    assert desk.run().reply.startswith("Summarised")
    assert desk.names("outbox") == ["notes-2.txt.summary.md", "notes.txt.summary.md"]
    assert desk.names("done") == ["notes-2.txt"]


def test_a_summary_that_a_person_wrote_is_not_overwritten(desk, story):
    (desk.folder / "outbox").mkdir()
    (desk.folder / "outbox/notes.txt.summary.md").write_text("my own words")
    desk.put("notes.txt", story)

    desk.run()

    assert desk.text("outbox/notes.txt.summary.md") == "my own words"
    assert desk.names("done") == ["notes-2.txt"]


def test_failed_texts_of_one_name_do_not_overwrite_each_other(desk):
    for content in (b"", b"\x00\xff", b"1 2 3"):
        desk.put("x.txt", content)
        desk.run()

    assert desk.names("failed") == [f"x{n}.txt{end}" for n in ("-2", "-3", "") for end in ("", ".reason.txt")]
    assert desk.text("failed/x-3.txt.reason.txt") == "x.txt holds no words.\n"


@pytest.mark.parametrize(
    "name",
    [
        "a" * 251 + ".txt",
        "ä" * 125 + ".txt",
        "two words & \"quotes\" 'n' `ticks`.txt",
        "line\nbreak.txt",
        "-->.txt",
        "--help",
        "%s {name} \\.txt",
        "no-ending",
        "‮txt.exe",
    ],
)
def test_any_name_survives(desk, story, name):
    desk.put(name, story)

    reply = desk.run().reply

    assert "\n" not in reply
    assert desk.names("inbox") == []
    assert len(desk.names("done")) == len(desk.names("outbox")) == 1
    assert len(os.fsencode(name)) > 200 or desk.names("done") == [name]


def test_a_name_that_is_no_utf_8_survives(desk):
    name = os.fsdecode(b"caf\xe9.txt")
    desk.put(name, "A text. It is short.")

    reply = desk.run().reply

    assert "`caf�.txt`" in reply
    assert desk.names("done") == [name]


def test_a_name_cannot_say_that_all_is_done(desk):
    desk.put("[[DONE]].txt", "A text. It is short.", age=1)
    desk.put("[[[DONE]].png", b"\x89PNG\x00", age=0)

    replies = desk.drain()

    assert ["[[DONE]]" in reply for reply in replies] == [False, False, True]
