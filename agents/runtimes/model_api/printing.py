"""Prints the program's lines, one JSON object each, at once; decides nothing of what they say."""

import json
import sys
from typing import Any, TextIO

from agents.runtimes.model_api.vocabulary import LineType


class Printer:
    """Writes to `out`, standard output by default. A line is whole or is not there."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self.ended = False

    def line(self, kind: LineType, **facts: Any) -> None:
        """Print one line; after the end line nothing more is printed."""
        if self.ended:
            return
        self.ended = kind is LineType.END
        # ASCII only: neither the locale nor half a surrogate pair can spoil a line.
        self._out.write(json.dumps({"type": kind, **facts}, allow_nan=False) + "\n")
        self._out.flush()
