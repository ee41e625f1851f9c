"""The four folders of the inbox agent and the moves between them; knows nothing of what a text says.

A kill at any point may neither lose nor double a text. So a summary appears whole or not at all, it carries
the mark of the text that it was made of, and a text leaves `inbox/` by one rename, last. The next run reads
from the folders what was half done; there is no other record that could disagree with them.
"""

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INBOX, OUTBOX, DONE, FAILED = Path("inbox"), Path("outbox"), Path("done"), Path("failed")
UNFINISHED = ".unfinished"  # written under the folders' lock only, so whoever has the lock may overwrite it
MOST_BYTES = 1_000_000  # read of one text; a long novel has less
MOST_NAME_BYTES = 200  # so that "-2" and ".summary.md" still fit
_UNFINISHED_ENDINGS = ("~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".swp", ".swx")
_MARK = "inbox-agent"


class FoldersUnusable(Exception):
    """The folders themselves are not what they must be, so nothing was done."""


@dataclass(slots=True)
class Held:
    """A text that this run has to itself; the lock dies with the process, however that ends."""

    name: str
    content: bytes = b""
    size: int = 0
    problem: str = ""  # why it cannot be read
    seen: tuple[int, ...] = ()
    descriptor: int | None = None

    @property
    def path(self) -> Path:
        return INBOX / self.name

    @property
    def mark(self) -> dict[str, Any]:
        """What tells this text from any other of the same name."""
        return {"file": self.name, "bytes": self.size, "sha256": hashlib.sha256(self.content).hexdigest()}

    @property
    def unchanged(self) -> bool:
        """Whether the path still leads to the very content that was read."""
        try:
            return _identity(os.lstat(self.path)) == self.seen
        except FileNotFoundError:
            return False


def prepare() -> None:
    """Make the folders that are missing.

    Raises FoldersUnusable for one that is a link (this agent writes inside its own folder only) or no folder.
    """
    for folder in (INBOX, OUTBOX, DONE, FAILED):
        with suppress(FileExistsError):
            folder.mkdir()
        if folder.is_symlink() or not folder.is_dir():
            raise FoldersUnusable(f"`{folder}` must be a real folder inside the workspace, and it is not.")
    with locked():
        for folder in (OUTBOX, FAILED):
            (folder / UNFINISHED).unlink(missing_ok=True)


def waiting() -> list[str]:
    """The names in `inbox/` that await their turn: the oldest first, of the same age by name."""
    found = []
    for entry in os.scandir(INBOX):
        if _is_left_alone(entry):
            continue
        with suppress(FileNotFoundError):  # another run has just moved it
            found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
    return [name for _, name in sorted(found)]


def left_alone() -> list[str]:
    """The names in `inbox/` that are not this agent's business: folders, hidden and unfinished files."""
    return sorted(entry.name + "/" * entry.is_dir() for entry in os.scandir(INBOX) if _is_left_alone(entry))


def count(folder: Path) -> int:
    """How many texts a folder holds, without reasons and hidden files."""
    names = set(os.listdir(folder))
    return sum(1 for name in names if not name.startswith(".") and not _is_reason(name, names))


def take(name: str) -> Held | None:
    """This text for this run alone; None when another run has it or it is gone."""
    path = INBOX / name
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return Held(name, problem=f"is a link (to {_readable(os.readlink(path))}), and links are not followed")
        if not stat.S_ISREG(mode):
            return Held(name, problem="is not a file but a pipe, socket or device")
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Held(name, problem=f"cannot be opened ({os.strerror(error.errno or 0)})")
    return _locked_content(name, descriptor)


def _locked_content(name: str, descriptor: int) -> Held | None:
    held = Held(name, descriptor=descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    facts = os.fstat(descriptor)
    held.seen, held.size = _identity(facts), facts.st_size
    if not held.unchanged:  # whoever had the lock has moved it in the meantime
        os.close(descriptor)
        return None
    try:
        with os.fdopen(descriptor, "rb", closefd=False) as text:
            held.content = text.read(MOST_BYTES)
    except OSError as error:
        held.problem = f"cannot be read ({os.strerror(error.errno or 0)})"
    return held


def place_for(held: Held) -> tuple[str, dict[str, Any] | None]:
    """Under which name the text goes on, and the mark of its summary if an earlier run has written it.

    A name counts as taken when `done/` has it, or when a summary of another text stands there.
    """
    for name in _names(held.name):
        if os.path.lexists(DONE / name):
            continue
        summary = summary_path(name)
        if not os.path.lexists(summary):
            return name, None
        written = _mark_in(summary)
        if written is not None and held.mark.items() <= written.items():
            return name, written
    raise FoldersUnusable(f"`{DONE}` holds too many texts that are called `{_readable(held.name)}`.")


def write_summary(held: Held, body: str, **facts: Any) -> tuple[str, Path]:
    """Store the summary under a name that is free; returns that name and the file."""
    mark = json.dumps(held.mark | facts).replace(">", "\\u003e")
    with locked():
        name, _ = place_for(held)
        target = summary_path(name)
        _write_whole(target, f"{body}\n<!-- {_MARK} {mark} -->\n")
    return name, target


def move_to_done(held: Held, name: str) -> Path | None:
    """The last step of a text that has its summary; None, and no summary, when the text has changed."""
    if not held.unchanged:
        summary_path(name).unlink(missing_ok=True)
        return None
    return _move(held.path, DONE / name)


def move_to_failed(held: Held, reason: str) -> Path | None:
    """Put a text aside with its reason beside it; None when it is gone."""
    wanted = f"{_readable(held.name)} {reason}.\n"
    with locked():
        if not os.path.lexists(held.path):
            return None
        for name in _names(held.name):
            note = reason_path(name)
            if os.path.lexists(FAILED / name) or (os.path.lexists(note) and not _says(note, wanted)):
                continue
            _write_whole(note, wanted)
            return _move(held.path, FAILED / name)
    raise FoldersUnusable(f"`{FAILED}` holds too many texts that are called `{_readable(held.name)}`.")


def summary_path(name: str) -> Path:
    return OUTBOX / f"{name}.summary.md"


def reason_path(name: str) -> Path:
    return FAILED / f"{name}.reason.txt"


@contextmanager
def locked() -> Iterator[None]:
    """The folders to oneself, for the moment in which a free name is chosen and taken."""
    descriptor = os.open(OUTBOX, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write_whole(target: Path, text: str) -> None:
    """The file with all its text on disk, or no file: written aside, synced, renamed, its folder synced."""
    aside = target.parent / UNFINISHED
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
    aside.rename(target)
    _sync(target.parent)


def _move(source: Path, target: Path) -> Path:
    source.rename(target)
    _sync(target.parent)
    _sync(source.parent)
    return target


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _is_left_alone(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    if name.startswith((".", "~$")) or name.lower().endswith(_UNFINISHED_ENDINGS):
        return True
    return (name.startswith("#") and name.endswith("#")) or entry.is_dir(follow_symlinks=False)


def _names(name: str) -> Iterator[str]:
    """The name itself, then `name-2.txt`, `name-3.txt` …, short enough for what is added to it."""
    path = Path(name)
    ending = path.suffix if len(os.fsencode(path.suffix)) <= 20 else ""
    stem = os.fsdecode(os.fsencode(name.removesuffix(ending))[:MOST_NAME_BYTES])
    yield f"{stem}{ending}"
    for number in range(2, 10_000):
        yield f"{stem}-{number}{ending}"


def _mark_in(summary: Path) -> dict[str, Any] | None:
    """The mark at the end of a summary of ours; None when a person or another program wrote the file."""
    try:
        last = summary.read_bytes()[-4096:].decode("utf-8", "replace").rstrip().rsplit("\n", 1)[-1]
        mark = json.loads(last.removeprefix(f"<!-- {_MARK} ").removesuffix(" -->"))
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) else None


def _says(note: Path, text: str) -> bool:
    try:
        return note.read_bytes() == text.encode("utf-8", "replace")
    except OSError:
        return False


def _is_reason(name: str, names: set[str]) -> bool:
    return name.endswith(".reason.txt") and name.removesuffix(".reason.txt") in names


def _readable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")
