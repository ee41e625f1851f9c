"""Reads the JSON objects that an agent printed, line by line and in bounded memory; gives them no meaning.

Lines that are not JSON are passed over. Of a very long line the middle of its long strings is left out.
"""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

WHOLE_LINE_BYTES = 8 * 1024 * 1024  # up to here a line is parsed as it stands
LONG_LINE_BYTES = 8 * 1024 * 1024  # what is kept of a longer one; beyond, it is passed over
STRING_HALF_BYTES = 400_000  # of a string in a long line this much of each end is kept
PIECE_BYTES = 64 * 1024
MANY_DIGITS = 30

_BLANK_AND_MARK = b"\xef\xbb\xbf \t\r\n"
_STRING_PARTS = rb'(?:[^"\\]++|\\u[0-9A-Fa-f]{4}|\\[^u])*+'
# Up to where a piece of a string may be cut without splitting an escape.
_IN_STRING = re.compile(_STRING_PARTS)
# Up to the first string that does not end within the piece: a line of a million short strings is one match.
_OUTSIDE = re.compile(rb'(?:[^"]++|"' + _STRING_PARTS + rb'")*+')
_ESCAPE_BYTES = 6


def json_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Every JSON object on a line of its own, or in an array on one line; nothing for a missing file."""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in _lines(file):
            yield from objects_in(line)


def objects_in(line: bytes) -> list[dict[str, Any]]:
    """The JSON objects on one line; wrong UTF-8 is replaced, numbers without a finite value are None."""
    line = line.strip(_BLANK_AND_MARK)
    if not line.startswith((b"{", b"[")):
        return []
    printed = parse(line.decode("utf-8", "replace"))
    if isinstance(printed, dict):
        return [printed]
    return [part for part in printed if isinstance(part, dict)] if isinstance(printed, list) else []


def parse(text: str) -> Any:
    """The JSON value of `text`; None when it is none, or nested deeper than can be read."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= MANY_DIGITS else None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _no_number(_word: str) -> None:
    return None  # NaN and Infinity are no JSON, and no database takes them


DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_no_number)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(WHOLE_LINE_BYTES):
        if len(line) < WHOLE_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        long_line = _LongLine()
        long_line.feed(line)
        while rest := file.readline(PIECE_BYTES):
            long_line.feed(rest)
            if rest.endswith(b"\n"):
                break
        yield long_line.shortened()


class _LongLine:
    """A JSON line too long to be held: everything between its strings, and the ends of the strings."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._string: _LongString | None = None
        self._carried = b""  # the beginning of an escape whose end is in the next piece

    def feed(self, more: bytes) -> None:
        for begin in range(0, len(more), PIECE_BYTES):
            piece = self._carried + more[begin : begin + PIECE_BYTES]
            self._carried = b""
            at = 0
            while at < len(piece) and len(self._kept) <= LONG_LINE_BYTES:
                at = self._outside(piece, at) if self._string is None else self._inside(self._string, piece, at)

    def shortened(self) -> bytes:
        """The line as JSON again, if it was JSON; nothing when even so it is too long."""
        return b"" if len(self._kept) > LONG_LINE_BYTES else bytes(self._kept)

    def _outside(self, piece: bytes, at: int) -> int:
        match = _OUTSIDE.match(piece, at)
        end = match.end() if match else at
        if end < len(piece):
            end += 1
            self._string = _LongString()
        self._kept += piece[at:end]
        return end

    def _inside(self, string: "_LongString", piece: bytes, at: int) -> int:
        match = _IN_STRING.match(piece, at)
        end = match.end() if match else at
        string.add(piece[at:end])
        if end == len(piece):
            return end
        if piece[end : end + 1] == b'"':
            self._kept += string.shortened() + b'"'
            self._string = None
            return end + 1
        if len(piece) - end < _ESCAPE_BYTES:
            self._carried = piece[end:]
            return len(piece)
        string.add(piece[end : end + 2])  # no escape of JSON; the parser will say so
        return end + 2


class _LongString:
    """The inside of a JSON string, still escaped, of which both ends are kept."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._cut_bytes = 0

    def add(self, text: bytes) -> None:
        if len(self._head) < STRING_HALF_BYTES:
            self._head += text
            return
        self._tail.append(text)
        self._tail_bytes += len(text)
        while self._tail_bytes - len(self._tail[0]) >= STRING_HALF_BYTES:
            cut = len(self._tail.popleft())
            self._tail_bytes -= cut
            self._cut_bytes += cut

    def shortened(self) -> bytes:
        note = rb"\n[cut: %s bytes left out here]\n" % f"{self._cut_bytes:,}".encode() if self._cut_bytes else b""
        return bytes(self._head) + note + b"".join(self._tail)
