"""Keeps what an agent prints in one bounded file: the head, the newest end, and how much went between them.

It never raises for a full disk, and never holds the output in memory.
"""

import errno
import os
from collections.abc import Callable

LINE_SEARCH_BYTES = 64 * 1024  # how far back from the head's end a line's end is looked for
SMALLEST_TAIL_BYTES = 512  # on a full disk: with less room than this for the end, nothing more is kept


def json_cut_line(cut_bytes: int) -> bytes:
    """Stands where the middle was; of one length always, so that it can be written over in place."""
    return b'{"type":"trinity.cut","truncated_bytes":%20d}\n' % cut_bytes


def plain_cut_line(cut_bytes: int) -> bytes:
    """The same for a text that no program reads."""
    return b"[%20d bytes cut here]\n" % cut_bytes


class CappedSpool:
    """One output of the agent, written to `fd` as it comes; the file never exceeds head + 2 tails + one line.

    Behind the head the file grows until it holds two tails, then the older one is cut out. The newest bytes
    stand at the end of the file at every moment, also during a cut: others can read what is going on now, and
    a killed runner leaves the last words too.
    """

    def __init__(
        self, fd: int, *, head_bytes: int, tail_bytes: int, cut_line: Callable[[int], bytes] = json_cut_line
    ) -> None:
        self.fd = fd
        self.error: str | None = None  # the errno's name of the first write that failed
        self.cut_bytes = 0  # printed, and no longer or never in the file
        self.printed_bytes = 0
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._cut_line = cut_line
        self._line_bytes = len(cut_line(0)) + 1  # with the line feed that an unfinished line needs before it
        self._size = 0
        self._limit = head_bytes + self._line_bytes + 2 * tail_bytes
        self._mark_at: int | None = None  # where the cut line begins, once there is one
        self._tail_at = 0  # where the tail begins, once there is one
        self._lead = b""

    def write(self, chunk: bytes) -> None:
        """Append `chunk`; what the disk does not take is counted as cut."""
        self.printed_bytes += len(chunk)
        rest = memoryview(chunk)
        while rest:
            try:
                if self._size >= self._limit:
                    self._cut_middle()
                written = os.pwrite(self.fd, rest[: self._limit - self._size], self._size)
            except OSError as error:
                self.error = self.error or errno.errorcode.get(error.errno or 0, str(error.errno))
                if not self._make_do_with_less():
                    self.cut_bytes += len(rest)
                    return
                continue
            self._size += written
            rest = rest[written:]

    def close(self) -> None:
        """Write the final count and bring the file to the disk, before an outcome speaks of it."""
        try:
            if self._mark_at is not None:
                os.pwrite(self.fd, self._lead + self._cut_line(self.cut_bytes), self._mark_at)
            os.fsync(self.fd)
        except OSError as error:
            self.error = self.error or errno.errorcode.get(error.errno or 0, str(error.errno))
        os.close(self.fd)

    def _cut_middle(self) -> None:
        mark_at, tail_at = self._mark_at, self._tail_at
        if mark_at is None:
            mark_at = tail_at = self._end_of_head()
        tail = os.pread(self.fd, self._tail_bytes, max(tail_at, self._size - self._tail_bytes))
        tail = tail[_first_line_start(tail) :]
        cut = self._size - tail_at - len(tail)
        line = self._lead + self._cut_line(self.cut_bytes + cut)
        os.pwrite(self.fd, line + tail, mark_at)  # ends before the newest tail begins
        self._mark_at, self._tail_at = mark_at, mark_at + len(line)
        self.cut_bytes += cut
        self._size = self._tail_at + len(tail)
        os.ftruncate(self.fd, self._size)

    def _end_of_head(self) -> int:
        begin = max(0, self._head_bytes - LINE_SEARCH_BYTES)
        window = os.pread(self.fd, self._head_bytes - begin, begin)
        line_end = window.rfind(b"\n")
        if line_end >= 0:
            return begin + line_end + 1
        self._lead = b"\n" if self._head_bytes else b""
        return self._head_bytes

    def _make_do_with_less(self) -> bool:
        """The disk is full: live within what the file already holds. The last line matters most."""
        if self._mark_at is None:
            self._head_bytes = self._size // 2
        head_end = self._head_bytes if self._mark_at is None else self._mark_at
        # Halved at least: where even writing over what is there needs room (copy on write), this must end too
        tail_bytes = min(self._size - head_end - self._line_bytes, self._tail_bytes) // 2
        if tail_bytes < SMALLEST_TAIL_BYTES:
            return False
        self._tail_bytes = tail_bytes
        self._limit = self._size
        return True


def _first_line_start(tail: bytes) -> int:
    """Where the first whole line begins; 0 when the tail is all one line."""
    begin = tail.find(b"\n") + 1
    return begin if begin < len(tail) else 0
