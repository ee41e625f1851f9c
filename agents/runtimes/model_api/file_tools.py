"""The tools read, write, edit and list; every path goes through the folder that they are given."""

import fnmatch
import os
import stat
from collections.abc import Iterator

from agents.runtimes.model_api.folder import Folder, ToolFault

READ_BYTES = 16 * 1024 * 1024  # a longer file is for the shell
READ_LINES = 2_000  # of one call, unless it asks for fewer
READ_CHARACTERS = 60_000
WRITE_BYTES = 16 * 1024 * 1024
MOST_ENTRIES = 1_000
DEEPEST = 10


def read(folder: Folder, path: str, first_line: int = 1, lines: int = READ_LINES) -> str:
    """Lines of a text file, as they are, and below them how many more there are."""
    text = text_of(folder.read(path, READ_BYTES), path)
    if not text:
        return f"({path} is empty)"
    all_lines = text.splitlines(keepends=True)
    if first_line > len(all_lines):
        raise ToolFault(f"{path} has {len(all_lines):,} lines; line {first_line:,} is not there.")
    shown: list[str] = []
    size = 0
    for line in all_lines[first_line - 1 : first_line - 1 + lines]:
        size += len(line)
        if size > READ_CHARACTERS and shown:
            break
        shown.append(line)
    last = first_line - 1 + len(shown)
    found = "".join(shown)
    if len(found) > READ_CHARACTERS:
        found = f"{found[:READ_CHARACTERS]}\n(the line goes on: {len(found):,} characters)"
    if last < len(all_lines):
        found += f"\n(lines {first_line:,} to {last:,} of {len(all_lines):,}; read on with first_line {last + 1})"
    return found


def write(folder: Folder, path: str, content: str) -> str:
    """Create a file, or replace what it held."""
    encoded = _encoded(content)
    is_new = folder.write(path, encoded)
    return f"{'Created' if is_new else 'Replaced'} {path}: {len(encoded):,} bytes."


def edit(folder: Folder, path: str, old: str, new: str, all: bool = False) -> str:
    """Replace a passage that stands in the file exactly once, or everywhere with `all`."""
    if not old:
        raise ToolFault("`old` must not be empty; to create a file use `write`.")
    if old == new:
        raise ToolFault("`old` and `new` are the same; nothing would change.")
    content = folder.read(path, READ_BYTES)
    text_of(content, path)  # refuses what is no text
    passage = _encoded(old)
    count = content.count(passage)
    if count == 0:
        raise ToolFault(f"`old` does not stand in {path}; read the file and give the passage exactly, blanks included.")
    if count > 1 and not all:
        raise ToolFault(f"`old` stands {count} times in {path}; give more of its surroundings, or set `all`.")
    folder.write(path, content.replace(passage, _encoded(new)))
    return f"Replaced {count} passage{'s' if count > 1 else ''} in {path}."


def list_folder(folder: Folder, path: str = ".", depth: int = 1, pattern: str = "*") -> str:
    """What a folder holds, down to a depth; folders end in a slash, links show where they lead."""
    with folder.opened(path) as descriptor:
        lines: list[str] = []
        for name, entry in _entries(descriptor, min(depth, DEEPEST)):
            if not (fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(os.path.basename(name), pattern)):
                continue
            if len(lines) == MOST_ENTRIES:
                lines.append(f"(more than {MOST_ENTRIES:,}; list a folder further down, or give a pattern)")
                break
            lines.append(name + entry)
    return "\n".join(lines) or "(nothing)"


def text_of(content: bytes, path: str) -> str:
    """The text of a file. ToolFault when it is none."""
    if b"\0" in content:
        raise ToolFault(f"{path} is no text file.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFault(f"{path} is no UTF-8 text (byte {error.start:,}); use the shell for it.") from None


def _encoded(text: str) -> bytes:
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFault("The text contains half of a surrogate pair, which no file can hold.") from None
    if len(encoded) > WRITE_BYTES:
        raise ToolFault(f"The text has {len(encoded):,} bytes; at most {WRITE_BYTES:,} are written.")
    return encoded


def _entries(descriptor: int, depth: int, above: str = "") -> Iterator[tuple[str, str]]:
    """Each name below an opened folder with what it is, in order; no link is followed."""
    with os.scandir(descriptor) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        name = above + entry.name
        if entry.is_symlink():
            yield name, f" -> {_target(entry.name, descriptor)}"
        elif entry.is_dir(follow_symlinks=False):
            yield name, "/"
            if depth > 1:
                yield from _below(entry.name, descriptor, depth, name + "/")
        else:
            yield name, _size(entry.name, descriptor)


def _below(name: str, descriptor: int, depth: int, above: str) -> Iterator[tuple[str, str]]:
    try:
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
    except OSError:  # gone, not to be read, or a link by now
        return
    try:
        yield from _entries(below, depth - 1, above)
    finally:
        os.close(below)


def _target(name: str, descriptor: int) -> str:
    try:
        return os.readlink(name, dir_fd=descriptor)
    except OSError:
        return "?"


def _size(name: str, descriptor: int) -> str:
    try:
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return ""
    return f" ({found.st_size:,} bytes)" if stat.S_ISREG(found.st_mode) else " (no regular file)"
