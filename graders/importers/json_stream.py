"""Reads JSON values one after another from a stream; holds no more of it than the longest value."""

import codecs
import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import BinaryIO, Final

from graders.errors import UnreadableTrajectory

BLOCK_BYTES: Final = 1 << 18
# An error that near to the end of what was read may only mean that the value goes on: `tru`, `"\u00`, `-`.
LONGEST_TOKEN_HEAD: Final = 16
_SPACE = re.compile(r"[ \t\r\n]*")
_CLOSED = (dict, list, str)  # values whose last character says that they are whole


class JsonStream:
    """A cursor over JSON text that is read as it goes; raises UnreadableTrajectory with line and reason."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0  # where the cursor stands in the text
        self._start: int | None = 0  # where the last value began; None when that was dropped
        self._start_line = 1
        self._lines_before = 1  # of the text
        self._ended = False

    @property
    def line(self) -> int:
        """The line on which the last value began, from 1."""
        return self._start_line if self._start is None else self._line_of(self._start)

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        if self._at < len(self._text) and self._text[self._at] > " ":
            return self._text[self._at]
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches nothing too
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read_more()

    def take(self, expected: str) -> None:
        """Step over one character that must come next."""
        if self.peek() != expected:
            raise self.unreadable(f"expected {expected!r}, {self._found()}")
        self._at += 1

    def value(self) -> object:
        """The next JSON value, whole."""
        self.peek()
        while True:
            try:
                value, end = self._decode()
            except json.JSONDecodeError as error:
                if self._ended or not self._may_go_on(error):
                    raise self._damaged(error) from None
            else:
                if self._ended or isinstance(value, _CLOSED) or end + LONGEST_TOKEN_HEAD < len(self._text):
                    self._start, self._at = self._at, end
                    return value  # and a bare number at the very end may go on: `1`, `1.`, `1.5e`
            self._read_more()

    def values(self) -> Iterator[object]:
        """Every value up to the end of the stream."""
        while self.peek():
            yield self.value()

    def elements(self) -> Iterator[object]:
        """The elements of the array that comes next."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            mark = self.peek()
            if mark not in {",", "]"}:
                raise self.unreadable(f"expected ',' or ']', {self._found()}")
            self._at += 1
            if mark == "]":
                return

    def key(self) -> str | None:
        """The next key of an object whose brace was taken, with its colon; None when the object ends."""
        if self.peek() == "}":
            self._at += 1
            return None
        key = self.value() if self.peek() == '"' else None
        if not isinstance(key, str):
            raise self.unreadable(f"expected a key, {self._found()}")
        self.take(":")
        return key

    def after_member(self) -> None:
        """Step over the comma behind a member; a comma before the closing brace is refused."""
        if self.peek() == ",":
            self._at += 1
            if self.peek() == "}":
                raise self.unreadable("a comma stands before '}'")
        elif self.peek() != "}":
            raise self.unreadable(f"expected ',' or '}}', {self._found()}")

    def unreadable(self, reason: str) -> UnreadableTrajectory:
        """The error for the place where the cursor stands."""
        return UnreadableTrajectory(f"line {self._line_of(self._at)}: {reason}")

    def _found(self) -> str:
        mark = self.peek()
        return f"found {mark!a}" if mark else "but the file ends"

    def _decode(self) -> tuple[object, int]:
        try:
            return _FAST.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except RecursionError:
            raise self.unreadable("a value is nested too deeply") from None
        except (
            ValueError,
            InvalidOperation,
        ):  # an integer of more digits than int() takes, or no JSON number at all
            return self._decode_slowly()

    def _decode_slowly(self) -> tuple[object, int]:
        try:
            return _EXACT.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except (ValueError, InvalidOperation) as error:
            raise self.unreadable(str(error) if type(error) is ValueError else "a number is too large") from None

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos > len(self._text) - LONGEST_TOKEN_HEAD

    def _damaged(self, error: json.JSONDecodeError) -> UnreadableTrajectory:
        reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" starting at").removesuffix(" at")
        if error.msg.startswith("Unterminated string") or error.pos >= len(self._text.rstrip()):
            reason = f"the file ends inside a value ({reason})"
        return UnreadableTrajectory(f"line {self._line_of(error.pos)}: is no JSON: {reason}")

    def _line_of(self, position: int) -> int:
        return self._lines_before + self._text.count("\n", 0, position)

    def _read_more(self) -> None:
        """Drop what is behind the cursor; read at least as much again as is left: long values cost little."""
        self._start_line, self._start = self.line, None
        self._lines_before += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        block = self._source.read(max(BLOCK_BYTES, len(rest)))
        self._ended = not block
        self._at = 0
        try:
            self._text = rest + self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            line = self._lines_before + rest.count("\n") + block.count(b"\n", 0, error.start)
            raise UnreadableTrajectory(f"line {line}: is no UTF-8 text ({error.reason})") from None


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no JSON value")


def _whole(text: str) -> object:
    return int(text) if len(text) < 4000 else Decimal(text)


def _real(text: str) -> object:
    number = float(text)
    return Decimal(text) if isinf(number) else number


_FAST = json.JSONDecoder(parse_constant=_no_number, parse_float=_real)
_EXACT = json.JSONDecoder(parse_constant=_no_number, parse_int=_whole, parse_float=_real)
