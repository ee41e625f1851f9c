"""Takes a plain text apart into title, paragraphs and sentences; judges nothing and touches no file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from english import CLOSERS, STARTERS, TITLES

# Possessive, and begun only where a row of marks begins: a megabyte of dots takes one pass, not one per dot.
_END = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’)\]]*+(?=\s++["'“‘(\[]*+[^\W_a-zß-öø-ÿ])|(?<![。！？])[。！？]++[」』”]*+"""
)
_WORD_BEFORE = re.compile(r"([^\W\d_](?:[\w.]*\w)?)\.$")
_LIST_MARK = re.compile(r"^\s{0,6}(?:[-*•–+]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")
_FIELD = re.compile(r"^([A-Z][\w -]{0,24}):\s+(\S.*)$")
_RULE = re.compile(r"^\s*([-=_*~#]\s*){3,}$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_TERMINAL = re.compile(r"""[.!?…。！？]["'”’)\]*_]*$""")
_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")
HEADING_WORDS = 14
NEAR = 300  # characters after a full stop that are looked at
MOST_IN_SENTENCE = 2000  # characters: beyond it every full stop ends the sentence
HEADER_FIELDS = (
    "subject",
    "title",
    "re",
    "date",
    "from",
    "to",
    "cc",
    "place",
    "present",
    "author",
    "ticket",
    "status",
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the text and where it stands."""

    text: str
    paragraph: int  # counted over the prose paragraphs of the text
    place: int  # within its paragraph
    heading: str = ""  # the heading above it


@dataclass(slots=True)
class Reading:
    """What a text consists of; headings, lists of things, addresses and code are no sentences."""

    title: str = ""
    words: int = 0
    paragraphs: int = 0
    headings: list[str] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)


def count_words(text: str) -> int:
    """Words and numbers; `don't`, `2.5` and `well-known` are one each."""
    return sum(1 for _ in _WORD.finditer(text))


def read(text: str) -> Reading:
    """The parts of a plain or lightly marked-up text (hard-wrapped or not)."""
    reading = Reading(words=count_words(text))
    for block in _blocks(text):
        _add(reading, block)
    if not reading.sentences:  # notes without a single full stop: their lines are all there is
        for line in filter(None, (_unmarked(line) for line in text.splitlines())):
            if line != reading.title and count_words(line):
                reading.sentences.append(Sentence(line, reading.paragraphs, 0))
                reading.paragraphs += 1
    return reading


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of one paragraph; abbreviations, initials and quotations keep their full stops."""
    pieces: list[str] = []
    start = 0
    for found in _END.finditer(paragraph):
        before, after = paragraph[start : found.end()], paragraph[found.end() : found.end() + NEAR]
        if len(before) < MOST_IN_SENTENCE and not _ends_here(before, after):
            continue
        pieces.append(before.strip())
        start = found.end()
    pieces.append(paragraph[start:].strip())
    return [piece for piece in pieces if piece]


def _ends_here(before: str, after: str) -> bool:
    if _inside_quotation(before, after):
        return False
    word = _WORD_BEFORE.search(before[-40:])
    if word is None:
        return True
    bare = word[1].replace(".", "").lower()
    if bare in TITLES or (len(word[1]) == 1 and word[1].isupper() and word[1] != "I"):
        return False
    if bare in CLOSERS or "." in word[1]:  # e.g. "p.m." and "U.S."
        following = re.match(r"\W*(\w+)", after)
        return following is None or following[1].lower() in STARTERS
    return True


def _inside_quotation(before: str, after: str) -> bool:
    """Whether a quotation or bracket is open that closes soon; one that never closes is a slip of the pen."""
    if before.count("“") > before.count("”"):
        return "”" in after
    if before.count("(") > before.count(")"):
        return ")" in after
    return before.count('"') % 2 == 1 and '"' in after


def _blocks(text: str) -> Iterator[list[str]]:
    """Runs of lines without a blank one; code between fences, rules and tables are left out."""
    block: list[str] = []
    in_code = False
    for line in text.replace("\f", "\n\n").splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        if in_code or _FENCE.match(line) or line.lstrip().startswith("|"):
            continue
        if not line.strip() or _RULE.match(line):
            if block:
                yield block
            block = []
        elif block and (_starts_a_unit(line) or _starts_a_unit(block[-1], heading_only=True)):
            yield block
            block = [line]
        else:
            block.append(line)
    if block:
        yield block


def _starts_a_unit(line: str, *, heading_only: bool = False) -> bool:
    if line.startswith("#"):
        return True
    return not heading_only and _LIST_MARK.match(line) is not None


def _unmarked(line: str) -> str:
    """The line without quotation marks of mail, list marks and heading signs."""
    return _LIST_MARK.sub("", re.sub(r"^[\s>]*(?:#{1,6}\s+)?", "", line)).strip()


def _add(reading: Reading, block: list[str]) -> None:
    if _is_header(block) and not _is_title(reading, block):
        for name, value in (_FIELD.match(line.strip()).groups() for line in block):  # type: ignore[union-attr]
            if name.lower() in ("subject", "title", "re") and not reading.title:
                reading.title = value.strip()
        return
    lines = [line for line in (_unmarked(line) for line in block) if line]
    if not lines:
        return
    if not _is_prose(block, lines):
        if len(lines) == 1 and count_words(lines[0]) <= HEADING_WORDS and lines[0][-1] not in ",;":
            _add_heading(reading, lines[0].rstrip(":"))
        return
    _add_paragraphs(reading, lines)


def _add_heading(reading: Reading, line: str) -> None:
    if not reading.title and not reading.sentences:
        reading.title = line
    else:
        reading.headings.append(line)


def _add_paragraphs(reading: Reading, lines: list[str]) -> None:
    # Lines that each end like a sentence are paragraphs of their own: the text is not wrapped.
    unwrapped = len(lines) > 1 and all(_TERMINAL.search(line[-40:]) for line in lines)
    for paragraph in lines if unwrapped else [" ".join(lines)]:
        heading = reading.headings[-1] if reading.headings else ""
        for place, sentence in enumerate(split_sentences(paragraph)):
            reading.sentences.append(Sentence(sentence, reading.paragraphs, place, heading))
        reading.paragraphs += 1


def _is_title(reading: Reading, block: list[str]) -> bool:
    """`Incident review: orders lost` above all else is a title, though it looks like a header field."""
    field_name = _FIELD.match(block[0].strip())
    known = field_name is not None and field_name[1].lower() in HEADER_FIELDS
    return len(block) == 1 and not known and not reading.title and not reading.sentences


def _is_header(block: list[str]) -> bool:
    """`Subject: …`, `Date: …` lines; a single such line in running text is prose if it ends like prose."""
    if not all(_FIELD.match(line.strip()) for line in block):
        return False
    return len(block) > 1 or not _TERMINAL.search(block[0].strip())


def _is_prose(block: list[str], lines: list[str]) -> bool:
    if block[0].startswith("#"):
        return False
    text = " ".join(lines)
    if _TERMINAL.search(text[-40:]):
        return True
    return count_words(text) > 2 * HEADING_WORDS and len(split_sentences(text)) > 1
