"""The tool that searches files: grep; it follows no link and reads no file outside of the folder it is given."""

import fnmatch
import os
import time
from collections.abc import Iterator

import re2

from agents.runtimes.model_api.folder import Folder, Place, ToolFault, read_regular

SEARCHED_BYTES = 4 * 1024 * 1024  # of one file; a longer one is passed over, and it says so
MOST_MATCHES = 200
LINE_CHARACTERS = 300
MOST_SECONDS = 30.0
PASSED_OVER = frozenset({".git", ".hg", ".svn"})


def grep(folder: Folder, pattern: str, path: str = ".", glob: str = "*", ignore_case: bool = False) -> str:
    """Lines that match a regular expression (RE2: its time is linear), as `path:line: text`."""
    expression = _expression(pattern, ignore_case)
    search = _Search(expression, glob)
    with folder.place(path) as place:
        search.look(place.folder, place.name, "" if place.name == "." else path.rstrip("/"))
    return search.told()


def _expression(pattern: str, ignore_case: bool) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options=options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        raise ToolFault(
            f"The pattern is no regular expression of RE2 (no look-around, no back-references): {said}"
        ) from None


class _Search:
    """One search; stops at `MOST_MATCHES`, and when it takes too long."""

    def __init__(self, expression: "re2._Regexp", glob: str) -> None:
        self._expression = expression
        self._glob = glob
        self._ends = time.monotonic() + MOST_SECONDS
        self._lines: list[str] = []
        self._notes: list[str] = []
        self._too_long = 0

    def look(self, above: int, name: str, shown: str) -> None:
        """Search the file, or every file below the folder, that stands under `name`."""
        try:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        except NotADirectoryError:
            self._search(Place(above, name, shown))
            self._is_over()
            return
        try:
            for _ in self._walk(folder, shown):
                if self._is_over():
                    return
        finally:
            os.close(folder)

    def told(self) -> str:
        """The matches, and what was left out."""
        if self._too_long:
            self._notes.append(f"{self._too_long} files above {SEARCHED_BYTES:,} bytes were passed over")
        notes = f"\n({'; '.join(self._notes)})" if self._notes else ""
        return ("\n".join(self._lines) or "(no match)") + notes

    def _is_over(self) -> bool:
        if len(self._lines) >= MOST_MATCHES:
            self._notes.append(f"stopped after {MOST_MATCHES} matches")
        elif time.monotonic() > self._ends:
            self._notes.append(f"stopped after {MOST_SECONDS:.0f} seconds")
        return bool(self._notes)

    def _walk(self, folder: int, shown: str) -> Iterator[None]:
        for here, folders, files, descriptor in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
            folders[:] = sorted(set(folders) - PASSED_OVER)
            below = os.path.normpath(os.path.join(shown, here)) if here != "." or shown else ""
            for name in sorted(files):
                path = os.path.join(below, name)
                if fnmatch.fnmatch(name, self._glob) or fnmatch.fnmatch(path, self._glob):
                    self._search(Place(descriptor, name, path))
                yield

    def _search(self, place: Place) -> None:
        try:
            content = read_regular(place, SEARCHED_BYTES)
        except ToolFault:  # too long, or nothing that can be read through
            self._too_long += 1
            return
        except OSError:  # gone, a link, or not to be read
            return
        if b"\0" in content:
            return
        for number, line in enumerate(content.splitlines(), start=1):
            if self._expression.search(line):
                text = line.decode("utf-8", "replace")
                text = text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + "…"
                self._lines.append(f"{place.shown}:{number}: {text}")
                if len(self._lines) >= MOST_MATCHES:
                    return
