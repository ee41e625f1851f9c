"""Summaries that hold what their texts are about."""

import re

import pytest
from english import stem
from summary import MOST_SHOWN, summarise

# What no summary of the text may miss, found by reading the texts.
MATTER = {
    "2026-01-22-release-announcement.txt": r"version 4\.0",
    "2026-01-harbour-crane-history.txt": r"who will pay for it",
    "2026-02-allotment-minutes.txt": r"bill will rise from £400",
    "2026-02-letter-from-a-tenant.txt": r"has not worked properly since 9 November",
    "2026-03-field-guide-dipper.txt": r"The dipper is a plump",
    "2026-03-incident-review.txt": r"full disk on the queue server",
    "2026-04-barley-bread.txt": r"the dough was left overnight",
    "2026-04-support-thread-label-printer.txt": r'switch "Smart roll" to off',
    "2026-05-night-train-note.txt": r"thirteen hours later",
    "2026-05-sharpening-knives.txt": r"hold the same angle",
    "2026-06-closed-footbridge-column.txt": r"The true comparison",
    "2026-06-library-survey-report.txt": r"44 per cent",
}


def test_a_dozen_texts_come_with_the_product(texts):
    assert sorted(MATTER) == sorted(texts)
    assert all(400 <= len(text.split()) <= 900 for text in texts.values())


@pytest.mark.parametrize("name", sorted(MATTER))
def test_a_summary_holds_the_matter_of_its_text(name, texts):
    summary = summarise(texts[name])

    assert re.search(MATTER[name], " ".join(summary.sentences))


@pytest.mark.parametrize("name", sorted(MATTER))
def test_a_summary_is_taken_from_the_text_word_for_word_and_in_its_order(name, texts):
    text = re.sub(r"\s+", " ", texts[name])
    summary = summarise(texts[name])

    places = [text.index(sentence) for sentence in summary.sentences]

    assert places == sorted(places)
    assert 3 <= len(summary.sentences) <= 5
    assert summary.words_out < summary.words_in / 3


@pytest.mark.parametrize("name", sorted(MATTER))
def test_no_sentence_of_a_summary_leans_on_one_that_was_left_out(name, texts):
    kept = summarise(texts[name]).sentences

    assert not [
        sentence for sentence in kept if re.match(r"(?:It|They|He|She|This|These|But|And) (?!was agreed)", sentence)
    ]


def test_a_text_that_was_never_looked_at_is_summarised_as_well(story):
    summary = summarise(story)

    assert summary.title.startswith("Moving the sound archive")
    assert "9 per cent were not where the catalogue said" in " ".join(summary.sentences)
    assert {"crate", "catalogue"} <= set(summary.key_terms)


def test_key_terms_name_the_subject_and_not_the_weather(texts):
    terms = {name: summarise(text).key_terms for name, text in texts.items()}

    assert {"orders", "queue"} <= set(terms["2026-03-incident-review.txt"])
    assert {"crane", "Salt Quay"} <= set(terms["2026-01-harbour-crane-history.txt"])
    assert {"knife", "edge", "stone"} <= set(terms["2026-05-sharpening-knives.txt"])
    assert all(3 <= len(found) <= 6 for found in terms.values())


def test_as_many_sentences_are_kept_as_are_asked_for(story):
    assert [len(summarise(story, keep=keep).sentences) for keep in (1, 2, 9)] == [1, 2, 9]


def test_one_sentence_is_the_one_that_says_what_happened(story):
    assert summarise(story, keep=1).sentences[0].startswith("In May we moved the town's sound archive")


def test_a_short_text_is_kept_whole():
    summary = summarise("The pump is broken. Please come on Monday.")

    assert summary.sentences == ("The pump is broken.", "Please come on Monday.")


def test_what_is_said_twice_is_kept_once():
    said = "The council agreed to repair the old footbridge over the river."
    rest = "Rain fell on the market for a week. The mayor opened a new school."
    text = f"{said} Buses were late. {said} {rest} {said}"

    assert summarise(text, keep=3).sentences.count(said) == 1


def test_a_sentence_without_end_is_cut_and_control_characters_go():
    summary = summarise("word \x1b[31m\x00" + "word " * 5000)

    assert len(summary.sentences[0]) <= MOST_SHOWN + 2
    assert summary.sentences[0].endswith("…")
    assert not re.search(r"[\x00-\x1f]", summary.sentences[0])


@pytest.mark.parametrize(
    "text",
    ["", "…", "12 34 56", "!!!\n\n???", "\x00\x00", "🙂 🙂 🙂. 🙂", "第一句。第二句。第三句。第四句。"],
)
def test_odd_texts_give_some_summary_and_no_error(text):
    assert len(summarise(text).sentences) <= 5


@pytest.mark.parametrize(
    "words",
    [
        "lift lifts lifted lifting",
        "berry berries",
        "stop stopped stopping stops",
        "bake baked baking",
        "knife's knife",
    ],
)
def test_forms_of_one_word_share_a_stem(words):
    assert len({stem(word) for word in words.split()}) == 1


def test_short_words_are_not_stemmed_to_nothing():
    assert [stem(word) for word in ("bus", "bed", "ring", "gas", "need")] == [
        "bus",
        "bed",
        "ring",
        "gas",
        "need",
    ]
