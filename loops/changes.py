"""What changed between two replies, line by line and word by word; bounded, since agents write both."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

MOST_CHARACTERS = 20_000
MOST_LINES = 300
CONTEXT = 2  # unchanged lines shown around a change
ALIKE_FROM = 0.5  # lines with less in common are told as two
WORD_PAIRS = 300_000  # comparisons of words that one page may cost
_WORDS = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")  # blanks with the word behind them, else they alone would be alike


class Mark(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


Part = tuple[Mark, str]


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """One line to show; `skipped` counts unchanged lines left out in its place."""

    parts: tuple[Part, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """The lines to show; `alike` when nothing changed, `cut` when only the beginning of the texts was compared."""

    lines: tuple[ChangedLine, ...]
    alike: bool
    cut: bool


def changes_between(before: str, after: str) -> Changes:
    """How `after` differs from `before`."""
    old, old_cut = _lines(before)
    new, new_cut = _lines(after)
    budget = [WORD_PAIRS]
    lines = tuple(line for block in _blocks(old, new) for line in _shown(*block, budget))
    return Changes(lines, alike=old == new and not (old_cut or new_cut), cut=old_cut or new_cut)


def _lines(text: str) -> tuple[list[str], bool]:
    lines = text[:MOST_CHARACTERS].splitlines()
    return lines[:MOST_LINES], len(text) > MOST_CHARACTERS or len(lines) > MOST_LINES


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[str, list[str], list[str], tuple[bool, bool]]]:
    """Opcodes with their lines, and whether something changed before and after the block."""
    found = SequenceMatcher(None, old, new).get_opcodes()
    for position, (kind, i1, i2, j1, j2) in enumerate(found):
        yield kind, old[i1:i2], new[j1:j2], (position > 0, position < len(found) - 1)


def _shown(
    kind: str, old: list[str], new: list[str], around: tuple[bool, bool], budget: list[int]
) -> Iterator[ChangedLine]:
    if kind == "equal":
        yield from _context(old, *around)
        return
    paired = min(len(old), len(new))
    for before, after in zip(old, new, strict=False):
        yield from _words(before, after, budget)
    yield from (ChangedLine(((Mark.REMOVED, line),)) for line in old[paired:])
    yield from (ChangedLine(((Mark.ADDED, line),)) for line in new[paired:])


def _context(lines: list[str], change_before: bool, change_after: bool) -> Iterator[ChangedLine]:
    head = CONTEXT if change_before else 0
    tail = CONTEXT if change_after else 0
    skipped = len(lines) - head - tail
    if skipped <= 1:
        yield from (_same(line) for line in lines)
        return
    yield from (_same(line) for line in lines[:head])
    yield ChangedLine(skipped=skipped)
    yield from (_same(line) for line in lines[len(lines) - tail :])


def _same(line: str) -> ChangedLine:
    return ChangedLine(((Mark.SAME, line),))


def _words(before: str, after: str, budget: list[int]) -> Iterator[ChangedLine]:
    """One line that tells both apart by words; two whole lines when they have little in common or cost too much."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    cost = len(old) * len(new)
    if cost <= budget[0]:
        budget[0] -= cost
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        if matcher.ratio() >= ALIKE_FROM:
            yield ChangedLine(tuple(_parts(matcher, old, new)))
            return
    yield ChangedLine(((Mark.REMOVED, before),))
    yield ChangedLine(((Mark.ADDED, after),))


def _parts(matcher: "SequenceMatcher[str]", old: list[str], new: list[str]) -> Iterator[Part]:
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            yield Mark.SAME, "".join(old[i1:i2])
            continue
        if i2 > i1:
            yield Mark.REMOVED, "".join(old[i1:i2])
        if j2 > j1:
            yield Mark.ADDED, "".join(new[j1:j2])
