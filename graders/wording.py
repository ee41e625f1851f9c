"""Turns values into plain, safe words for people; decides nothing."""

import json
import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

SHOWN_CHARACTERS = 120
# Control characters, and the lone halves of surrogate pairs, which no UTF-8 writer takes.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """`text` on one line, without what terminals, pages or databases would stumble over, cut at `limit`."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return _UNSHOWABLE.sub("\ufffd", cut)


def quoted(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """`text` in quotation marks, safe to show."""
    return f'"{shown(text, limit)}"'


def found(value: object) -> str:
    """What stood in a place where something else belongs, such as `found "3" (text)`."""
    if value is None:
        return "found nothing (null)"
    if isinstance(value, bool):
        return f"found {json.dumps(value)} (a boolean)"
    if isinstance(value, str):
        return f"found {quoted(value)} (text)"
    if isinstance(value, int | float):
        return f"found {_number(value)} (a number)"
    kind = "mapping" if isinstance(value, dict) else type(value).__name__
    return f"found a list of {len(value)}" if isinstance(value, list | tuple) else f"found a {kind}"


def _number(value: int | float) -> str:
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large integer"  # str() refuses integers of many thousand digits
    return str(value)


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word most like `word`, whatever its case or dashes; None when nothing is known."""

    def likeness(candidate: str) -> float:
        return SequenceMatcher(None, _bare(word)[:SHOWN_CHARACTERS], _bare(candidate)).ratio()

    return max(known, key=likeness, default=None)


def _bare(word: str) -> str:
    return re.sub("[-_ ]", "", word).lower()


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *head, last = list(words) or [""]
    return f"{', '.join(head)} and {last}" if head else last


def counted(number: int, one: str, many: str) -> str:
    """`1 retry`, `2 retries`, `1,000 retries`."""
    return f"{number:,} {one if number == 1 else many}"
