"""Finds JSON objects that a program laid out over several lines, among other output; judges none."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.runtimes.lines import DECODER

MOST_BYTES = 16 * 1024 * 1024  # a larger file is not searched
MOST_ATTEMPTS = 200  # beginnings that turn out to be no JSON, so that no file can make the search long

_BEGINNING = re.compile(r"^[ \t]*(?=[{\[])", re.MULTILINE)


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects, bare or in arrays, that begin on lines of their own, in order."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return
    at, attempts = 0, 0
    while attempts < MOST_ATTEMPTS and (begin := _BEGINNING.search(text, at)):
        try:
            printed, at = DECODER.raw_decode(text, begin.end())
        except (json.JSONDecodeError, RecursionError):
            at, attempts = begin.end() + 1, attempts + 1
            continue
        yield from (part for part in (printed if isinstance(printed, list) else [printed]) if isinstance(part, dict))
