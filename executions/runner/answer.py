"""Notices that an agent has printed its final object and nothing after it; never judges what it says."""

import json

LINE_BYTES = 8 * 1024 * 1024  # a longer line is not looked into


class AnswerWatch:
    """Reads along with stdout. `final_at` is when (monotonic seconds) the last final line came, else None.

    A later JSON object that is not final takes it back: an agent may go on after its first answer, and give
    another. Text that is no JSON object says nothing. With no `final_types` nothing is looked at.
    """

    def __init__(self, final_types: list[str]) -> None:
        self.final_at: float | None = None
        self._types = frozenset(final_types)
        self._words = [word.encode() for word in final_types]
        self._line = bytearray()  # what is not ended by a line feed yet
        self._line_is_new = False

    def feed(self, chunk: bytes, now: float) -> None:
        if not self._types:
            return
        end = chunk.rfind(b"\n")
        if end >= 0:
            self._judge_all(bytes(self._line) + chunk[:end], now)
            self._line.clear()
        self._line += chunk[end + 1 : end + 1 + LINE_BYTES - len(self._line)]
        self._line_is_new = True

    def pause(self, now: float) -> None:
        """Nothing more comes for now: the last line may be whole without a line feed."""
        if self._line_is_new and self._line.rstrip().endswith(b"}"):
            self._judge_all(bytes(self._line), now)
        self._line_is_new = False

    def _judge_all(self, lines: bytes, now: float) -> None:
        if self.final_at is None and not self._names_a_type(lines):
            return  # most output ends here, unparsed
        for line in lines.split(b"\n"):
            self._judge(line.strip(), now)

    def _judge(self, line: bytes, now: float) -> None:
        if not line.startswith(b"{") or (self.final_at is None and not self._names_a_type(line)):
            return
        if len(line) >= LINE_BYTES:
            self.final_at = None
            return
        try:
            printed = json.loads(line)
        except (ValueError, RecursionError):
            return
        kind = printed.get("type")
        self.final_at = now if isinstance(kind, str) and kind in self._types else None

    def _names_a_type(self, text: bytes) -> bool:
        return any(word in text for word in self._words)
