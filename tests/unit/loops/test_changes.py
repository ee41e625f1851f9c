"""What changed against the run before: readable, and bounded whatever agents write."""

import random
import time

import pytest

from loops.changes import MOST_LINES, ChangedLine, Mark, changes_between


def told(lines: tuple[ChangedLine, ...]) -> str:
    marks = {Mark.SAME: "{}", Mark.ADDED: "+[{}]", Mark.REMOVED: "-[{}]"}
    return "\n".join(
        f"…{line.skipped}…" if line.skipped else "".join(marks[mark].format(text) for mark, text in line.parts)
        for line in lines
    )


def test_a_changed_word_is_told_within_its_line() -> None:
    found = changes_between("14 pages remain.", "13 pages remain.")

    assert told(found.lines) == "-[14]+[13] pages remain."


def test_lines_that_are_new_or_gone_stand_as_a_whole() -> None:
    found = changes_between("one\ntwo\nthree", "one\nthree\nfour")

    assert told(found.lines) == "one\n-[two]\nthree\n+[four]"


def test_long_stretches_alike_are_counted_only() -> None:
    same = "\n".join(f"line {number}" for number in range(30))

    found = changes_between(f"{same}\nold", f"{same}\nnew")

    assert told(found.lines).startswith("…28…\nline 28\nline 29\n")


def test_replies_that_are_the_same_say_so() -> None:
    found = changes_between("the same\n", "the same\n")

    assert found.alike


def test_texts_with_nothing_in_common_are_not_shredded() -> None:
    found = changes_between("All of the tests have passed now.", "And the database was not there at all!")

    assert told(found.lines) == "-[All of the tests have passed now.]\n+[And the database was not there at all!]"


def test_what_was_not_compared_is_said() -> None:
    long = "\n".join("same" for _ in range(MOST_LINES + 1))

    found = changes_between(long, long)

    assert found.cut
    assert not found.alike


def test_putting_the_parts_together_gives_both_texts_again() -> None:
    before, after = "a b c\nd e f\ng", "a x c\nd e f\nh i\ng"

    lines = changes_between(before, after).lines

    def side(wanted: Mark) -> list[str]:
        parts = [[text for mark, text in line.parts if mark in (Mark.SAME, wanted)] for line in lines]
        return ["".join(texts) for texts in parts if texts]

    assert side(Mark.REMOVED) == before.splitlines()
    assert side(Mark.ADDED) == after.splitlines()


@pytest.mark.parametrize("alphabet", ["ab", "abcdefgh", "a"])
def test_hostile_texts_cost_little(alphabet: str) -> None:
    dice = random.Random(7)
    texts = ["\n".join(" ".join(dice.choices(alphabet, k=30)) for _ in range(400)) for _ in range(2)]
    began = time.process_time()

    changes_between(*texts)

    assert time.process_time() - began < 2
