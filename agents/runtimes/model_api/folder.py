"""The one folder in which the file tools work: no path leads out of it; judges no content.

A path is walked one name at a time by descriptor, and every link is followed by hand. So `..`, an absolute path, a
link, or a folder that is swapped for a link in the middle of the walk never lead outside.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

MOST_LINKS = 40
MOST_PATH_BYTES = 4_096

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ToolFault(Exception):
    """What the model did wrong, or could not have; `str()` is what it is told."""


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a folder that is held open: what stands there is opened without following a link."""

    folder: int
    name: str  # "." for the folder itself
    shown: str


class Folder:
    """The agent's workspace, held by descriptor for as long as the program lives."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._names = tuple({self.root, os.path.abspath(root)})
        self._fd = os.open(self.root, _DIRECTORY)

    @contextlib.contextmanager
    def place(self, path: str, *, make_folders: bool = False) -> Iterator[Place]:
        """Where `path` leads, links followed. Raises ToolFault when it leads out of the folder or nowhere."""
        if "\0" in path or not path or len(os.fsencode(path)) > MOST_PATH_BYTES:
            raise ToolFault("A path must be 1 to 4096 bytes long, without a NUL character.")
        walk = _Walk(self._fd, self._names, path, make_folders=make_folders)
        try:
            yield Place(*walk.end(), shown=path)
        except OSError as error:
            raise ToolFault(f"{path}: {_reason(error)}") from error
        finally:
            walk.close()

    def read(self, path: str, most_bytes: int) -> bytes:
        """The content of a regular file. ToolFault when it is none, or longer than `most_bytes`."""
        with self.place(path) as place:
            return read_regular(place, most_bytes)

    def write(self, path: str, content: bytes) -> bool:
        """Put a file in place, whole or not at all, and make the folders above it; whether it is new.

        The old file is replaced and not written into: it may have another name outside the folder (a hard link).
        """
        with self.place(path, make_folders=True) as place:
            if place.name == ".":
                raise ToolFault(f"{path} is a folder.")
            mode = _mode_of(place)
            draft = f".{secrets.token_hex(8)}.new"
            descriptor = os.open(
                draft,
                os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
                dir_fd=place.folder,
                mode=0o666,
            )
            try:
                with open(descriptor, "wb") as file:
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    file.write(content)
                os.replace(draft, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=place.folder)
                raise
            return mode is None

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """A descriptor of the folder at `path`, closed afterwards."""
        with self.place(path) as place:
            descriptor = os.open(place.name, _DIRECTORY, dir_fd=place.folder)
            try:
                yield descriptor
            finally:
                os.close(descriptor)


def read_regular(place: Place, most_bytes: int) -> bytes:
    """The content of the regular file at a place; a pipe or device would hang, so it is not even opened for long."""
    descriptor = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place.folder)
    try:
        kind = os.fstat(descriptor)
        if stat.S_ISDIR(kind.st_mode):
            raise ToolFault(f"{place.shown} is a folder; use `list`.")
        if not stat.S_ISREG(kind.st_mode):
            raise ToolFault(f"{place.shown} is no regular file.")
        if kind.st_size > most_bytes:
            raise ToolFault(f"{place.shown} has {kind.st_size:,} bytes; at most {most_bytes:,} are read.")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most_bytes)
    finally:
        os.close(descriptor)


class _Walk:
    """One walk from the root to the last name of a path; holds the folders that it went through."""

    def __init__(self, root: int, root_names: tuple[str, ...], path: str, *, make_folders: bool) -> None:
        self._root = root
        self._root_names = root_names
        self._path = path
        self._make_folders = make_folders
        self._folders: list[int] = []  # below the root, the innermost last
        self._links = 0
        self._parts: deque[str] = deque()
        self._turn_to(path)

    def end(self) -> tuple[int, str]:
        """The folder in which the last name stands, and that name."""
        while self._parts:
            part = self._parts.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                self._up()
            elif not self._follow_link(part):
                if not any(name not in ("", ".") for name in self._parts):
                    return self._here, part
                self._down(part)
        return self._here, "."

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop())

    @property
    def _here(self) -> int:
        return self._folders[-1] if self._folders else self._root

    def _turn_to(self, path: str) -> None:
        """Go on with `path` from here, or from the root when it is absolute."""
        if os.path.isabs(path):
            inside = next((name for name in self._root_names if _is_below(path, name)), None)
            if inside is None:
                raise ToolFault(f"{self._path} lies outside of the workspace; use paths within it.")
            self.close()
            path = path[len(inside) :]
        self._parts.extendleft(reversed(path.split("/")))

    def _up(self) -> None:
        if not self._folders:
            raise ToolFault(f"{self._path} lies outside of the workspace; use paths within it.")
        os.close(self._folders.pop())  # never the kernel's `..`: the folder may have been moved

    def _follow_link(self, part: str) -> bool:
        try:
            target = os.readlink(part, dir_fd=self._here)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):  # no link, or nothing yet
                return False
            raise
        self._links += 1
        if self._links > MOST_LINKS:
            raise ToolFault(f"{self._path} leads through more than {MOST_LINKS} links.")
        self._turn_to(target)
        return True

    def _down(self, part: str) -> None:
        here = self._here
        try:
            below = os.open(part, _DIRECTORY, dir_fd=here)
        except FileNotFoundError:
            if not self._make_folders:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
            below = os.open(part, _DIRECTORY, dir_fd=here)
        self._folders.append(below)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _mode_of(place: Place) -> int | None:
    """The mode of what stands there; None when nothing does."""
    try:
        found = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise ToolFault(f"{place.shown} is a folder.")
    if not stat.S_ISREG(found.st_mode):
        raise ToolFault(f"{place.shown} is no regular file.")
    return stat.S_IMODE(found.st_mode) & 0o777


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "there is no such file or folder."
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a part of this path is no folder."
    return f"{os.strerror(error.errno or errno.EIO)}."
