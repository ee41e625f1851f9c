"""Where a sentence ends, and what of a text is no sentence at all."""

import time

import pytest
from sentences import count_words, read, split_sentences


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("It rained. We left.", ["It rained.", "We left."]),
        (
            "Dr. Carol met Mr. Bob on St. Mary's Road. They spoke.",
            ["Dr. Carol met Mr. Bob on St. Mary's Road.", "They spoke."],
        ),
        (
            "The rate rose by 2.4 percent. Version 4.0 is out.",
            ["The rate rose by 2.4 percent.", "Version 4.0 is out."],
        ),
        (
            "We met at 7 p.m. and left at 9 p.m. The hall was dark.",
            ["We met at 7 p.m. and left at 9 p.m.", "The hall was dark."],
        ),
        ("Open from 9 a.m. to 6 p.m. on weekdays.", ["Open from 9 a.m. to 6 p.m. on weekdays."]),
        (
            "Tools, e.g. Hammers, i.e. Heavy ones, etc. were sold.",
            ["Tools, e.g. Hammers, i.e. Heavy ones, etc. were sold."],
        ),
        ("Bring pens, paper, etc. The rest is here.", ["Bring pens, paper, etc.", "The rest is here."]),
        ("J. R. Smithson wrote it. I. Agreed.", ["J. R. Smithson wrote it.", "I.", "Agreed."]),
        (
            'The diary says, "Rain. Finished. Slept." Then it stops.',
            ['The diary says, "Rain. Finished. Slept."', "Then it stops."],
        ),
        (
            "She said (I was there. It was cold.) that it snowed. Yes.",
            ["She said (I was there. It was cold.) that it snowed.", "Yes."],
        ),
        ("Wait... what? Really?! Yes.", ["Wait... what?", "Really?!", "Yes."]),
        ("See Fig. 3 and No. 7 on p. 12. Then go on.", ["See Fig. 3 and No. 7 on p. 12.", "Then go on."]),
        ("He said “Stop. Now.” and left. Nobody moved.", ["He said “Stop. Now.” and left.", "Nobody moved."]),
        ('An inch is 2.5" wide. Two are more.', ['An inch is 2.5" wide.', "Two are more."]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ("no end at all", ["no end at all"]),
        ("", []),
    ],
)
def test_full_stops_that_end_nothing_are_survived(paragraph, expected):
    pieces = split_sentences(paragraph)

    assert pieces == expected
    assert "".join(pieces).replace(" ", "") == paragraph.replace(" ", "")  # nothing is lost on the way


def test_hard_wrapped_lines_are_one_paragraph():
    reading = read(
        "The title\n\nA sentence that goes on\nover the end of the line. Another\none.\n\nA second paragraph.\n"
    )

    assert reading.title == "The title"
    assert [sentence.text for sentence in reading.sentences] == [
        "A sentence that goes on over the end of the line.",
        "Another one.",
        "A second paragraph.",
    ]
    assert [(s.paragraph, s.place) for s in reading.sentences] == [(0, 0), (0, 1), (1, 0)]


def test_lines_that_are_whole_sentences_are_paragraphs_of_their_own():
    reading = read("First paragraph on one long line.\nSecond paragraph on another long line.\n")

    assert [sentence.paragraph for sentence in reading.sentences] == [0, 1]


def test_headings_ingredients_addresses_code_and_tables_are_no_sentences():
    text = (
        "# Soup\n\nFlat 14\nMill Lane\n\n400 g of leeks\n2 l of water\n\n## Method\n\n"
        "Boil the leeks. Stir.\n\n"
        "```\nprint('no.')\n```\n\n| a | b |\n|---|---|\n| 1. | 2. |\n\n- Serve it hot.\n- Eat it soon.\n"
    )

    reading = read(text)

    assert reading.title == "Soup"
    assert [sentence.text for sentence in reading.sentences] == [
        "Boil the leeks.",
        "Stir.",
        "Serve it hot.",
        "Eat it soon.",
    ]
    assert reading.sentences[0].heading == "Method"


def test_the_subject_of_a_mail_is_its_title_and_its_header_no_sentence():
    reading = read("From: Alice\nTo: Bob\nSubject: The pump is broken.\n\nIt broke on Monday. Please come.\n")

    assert reading.title == "The pump is broken."
    assert len(reading.sentences) == 2


def test_a_title_with_a_colon_is_still_a_title():
    reading = read("Incident review: orders lost for an hour\n\nThe disk was full.\n")

    assert reading.title == "Incident review: orders lost for an hour"


def test_notes_without_a_full_stop_are_read_line_by_line():
    reading = read("Shopping\n\nmilk and bread\neggs from the market\n")

    assert [sentence.text for sentence in reading.sentences] == ["milk and bread", "eggs from the market"]


@pytest.mark.parametrize(("text", "words"), [("don't stop", 2), ("a well-known 2.5 at 09:12", 5), ("— … !", 0)])
def test_words_are_counted_as_a_reader_would(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(
    "unit",
    [
        ".",
        "Mr. ",
        "( A. ",
        '" A. ',
        "“A. ",
        "a.b.c. ",
        "!?",
        "- ",
        "A: b\n",
        "x",
        "\n",
        "Word. ",
        "e.g. And ",
        "* ",
    ],
)
def test_a_hostile_row_of_marks_takes_no_longer_than_prose(unit):
    text = unit * (100_000 // len(unit))
    began = time.process_time()

    read(text)

    assert time.process_time() - began < 2
