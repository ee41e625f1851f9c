"""`docs/practice.md` and what the practice agent understands are one."""

import re

from practice_patterns import Kind
from practice_words import read_deeds


def test_every_word_of_the_page_is_known(practice_page):
    rows = [line.split("|")[1:3] for line in practice_page.splitlines() if line.startswith("| `")]
    words = [word for cells in rows for word in re.findall(r"`([^`]+)`", cells[0])]
    also = [word for cells in rows for word in re.findall(r"also (.*?)(?:;|$)", cells[1])]
    words += [word for cell in also for word in re.findall(r"`([^`]+)`", cell)]

    assert len(words) > 35
    assert [word for word in words if not read_deeds(word)] == []


def test_the_page_lists_everything_that_can_be_asked(practice_page):
    words = re.findall(r"`([^`]+)`", practice_page)

    assert {deed.kind for word in words for deed in read_deeds(word)} == set(Kind)
