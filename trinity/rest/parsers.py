"""Reads a request's JSON strictly: what is no JSON, too large, too deep or ambiguous is a clear refusal."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 50


class StrictJson(BaseParser):
    """`application/json` in UTF-8. Duplicate keys are refused: two readers would see two requests."""

    media_type = "application/json"
    max_bytes = MAX_BYTES

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(self.max_bytes + 1)
        if len(body) > self.max_bytes:
            raise too_large(self.max_bytes)
        return read_json(body)


def read_json(body: bytes) -> Any:
    """The value of a JSON text. Refused (malformed) with the place of the first fault."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise malformed(f"The body is not UTF-8: byte {error.start} cannot be read.") from None
    if depth_of(text) > MAX_DEPTH:
        raise malformed(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise malformed(f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None


# A string without an end is taken to the end of the text: tried again from each of its quotes, a hostile body would
# cost the square of its length.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def depth_of(text: str) -> int:
    """How deep brackets are nested outside strings, counted no further than one too deep; costs no recursion."""
    depth = deepest = 0
    for bracket in _BRACKET.finditer(_STRINGS.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            break
    return deepest


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twin = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise malformed(f"The key {twin[:100]!r} stands twice in one object.")
    return found


def _no_constant(name: str) -> Any:
    raise malformed(f"{name} is not JSON; a number must be finite.")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits[:1] + "1e999")


def malformed(detail: str) -> Refused:
    return Refused(detail, code=RefusalCode.MALFORMED)


def too_large(limit: int) -> Refused:
    return Refused(f"The body is larger than {limit:,} bytes.", code=RefusalCode.TOO_LARGE)
