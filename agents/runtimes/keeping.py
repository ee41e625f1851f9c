"""How much is kept of what an agent printed, and the words that say what was left out; judges nothing."""

import hashlib
import json
from pathlib import Path
from typing import Any

from trinity.kernel.text import clean

REPLY_CHARACTERS = 1_000_000
SAID_CHARACTERS = 2_000  # of an agent's own words in an error sentence
RESULT_CHARACTERS = 20_000  # of the arguments, and of the result, of one call
NAME_CHARACTERS = 200
NESTED_DEEP = 60
STDERR_BYTES = 16 * 1024
STDERR_LINES = 5

_PARTS_CHARACTERS = 2_000  # of one string in arguments that are too long as a whole


def kept_reply(text: str) -> str:
    """The reply as it is stored. Both ends stay: a stop signal stands mostly at the end."""
    return cut_middle(clean(text), REPLY_CHARACTERS)


def cut_middle(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, the middle left out and the number of them said."""
    if len(text) <= limit:
        return text
    note = f"\n[cut: {len(text):,} characters, {limit:,} kept]\n"
    half = (limit - len(note)) // 2
    return text[:half] + note + text[len(text) - half :]


def kept_json(value: Any) -> Any:
    """A call's arguments or result: clean text, at most `RESULT_CHARACTERS` as JSON."""
    value = _clean_json(value, NESTED_DEEP)
    if _size(value) <= RESULT_CHARACTERS:
        return value
    if isinstance(value, dict):
        shorter = {key: _cut(part, _PARTS_CHARACTERS) for key, part in value.items()}
        if _size(shorter) <= RESULT_CHARACTERS:
            return shorter
    return _cut(value, RESULT_CHARACTERS)


def json_size(value: Any) -> int:
    """Characters of `value` as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def name_of(value: object) -> str:
    """A tool's, model's or server's name as it is kept; "" for what is no text."""
    return clean(value[:NAME_CHARACTERS]) if isinstance(value, str) else ""


def last_lines(path: Path) -> str:
    """The last lines that say something, cleaned; "" for a missing or silent file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - STDERR_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in clean(text).splitlines() if line.strip()]
    return cut_middle("\n".join(lines[-STDERR_LINES:]), SAID_CHARACTERS)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str) else json_size(value)


def _cut(value: Any, limit: int) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= limit:
        return value
    # A grader compares results: the digest keeps two different that differ only in what is left out.
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    note = f"\n[cut: {len(text):,} characters, {limit:,} kept, sha256 {digest}]"
    return text[: limit - len(note)] + note


def _clean_json(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | dict) and depth == 0:
        return "[nested too deep to be kept]"
    if isinstance(value, list):
        return [_clean_json(part, depth - 1) for part in value]
    if isinstance(value, dict):
        return {clean(key): _clean_json(part, depth - 1) for key, part in value.items()}
    return value
