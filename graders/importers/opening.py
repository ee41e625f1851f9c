"""Tells formats apart by content and opens trajectories, streamed or at hand; knows no format by name."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain, islice
from typing import Any, BinaryIO

from graders import importers as importers_package
from graders.errors import BadRow, UnreadableTrajectory
from graders.importers.base import Importer
from graders.importers.json_stream import JsonStream
from graders.trajectory import Step, Trajectory
from graders.wording import found

# The first rows of a file may be of a kind that says little, such as a hook's report.
ROWS_LOOKED_AT = 20


def open_trajectory(source: BinaryIO) -> Trajectory:
    """A trajectory whose steps are read from `source` as they are asked for.

    Raises UnreadableTrajectory, with the line and the reason, here or while the steps are walked.
    """
    stream = JsonStream(source)
    match stream.peek():
        case "":
            raise UnreadableTrajectory("line 1: the file is empty")
        case "{":
            return _open_object(stream)
        case "[":
            return _open_rows(_then_end(stream, stream.elements()), lambda: f"line {stream.line}", "row")
    raise stream.unreadable("is no JSON object or list, so no known trajectory format")


def trajectory_from(value: object) -> Trajectory:
    """A trajectory from JSON values at hand: an object, or a list of rows. Raises UnreadableTrajectory."""
    if isinstance(value, list | tuple):
        return _open_rows(value, None)
    if not isinstance(value, Mapping):
        raise UnreadableTrajectory(f"must be an object, {found(value)}")
    for key, importer in _by_array_key().items():
        if isinstance(value.get(key), list | tuple):
            return _from_document(importer, value)
    return _open_rows([value], None)


@cache
def importers() -> tuple[Importer, ...]:
    """Every importer: the modules of `graders.importers` that have an `IMPORTER`."""
    modules = [
        import_module(module.name)
        for module in pkgutil.iter_modules(importers_package.__path__, f"{importers_package.__name__}.")
    ]
    return tuple(module.IMPORTER for module in modules if hasattr(module, "IMPORTER"))


def _by_array_key() -> dict[str, Importer]:
    return {importer.array_key: importer for importer in importers() if importer.array_key}


def _open_object(stream: JsonStream) -> Trajectory:
    """One object with a long array in it, or the first of many rows."""
    stream.take("{")
    by_key = _by_array_key()
    members: dict[str, object] = {}
    while (key := stream.key()) is not None:
        if key in by_key and stream.peek() == "[":
            return _open_document(stream, by_key[key], members)
        members[key] = stream.value()
        stream.after_member()
    return _open_rows(chain([members], stream.values()), lambda: f"line {stream.line}")


def _open_document(stream: JsonStream, importer: Importer, members: Mapping[str, object]) -> Trajectory:
    trajectory = Trajectory(())
    for key, value in members.items():
        _note(importer, key, value, trajectory, f"line {stream.line}")

    def rows() -> Iterator[object]:
        yield from stream.elements()
        stream.after_member()
        while (key := stream.key()) is not None:
            _note(importer, key, stream.value(), trajectory, f"line {stream.line}")
            stream.after_member()
        yield from _then_end(stream, ())

    placed_rows = _Rows(rows(), importer.row_name, lambda: f"line {stream.line}")
    trajectory.steps = _placed(importer.steps(placed_rows, trajectory), placed_rows)
    return trajectory


def _from_document(importer: Importer, document: Mapping[str, Any]) -> Trajectory:
    trajectory = Trajectory(())
    for key, value in document.items():
        if key != importer.array_key:
            _note(importer, key, value, trajectory, key)
    rows = _Rows(iter(document[importer.array_key or ""]), importer.row_name, None)
    trajectory.steps = _placed(importer.steps(rows, trajectory), rows)
    return trajectory


def _open_rows(values: Iterable[object], line: Callable[[], str] | None, name: str | None = None) -> Trajectory:
    rows = _Rows(iter(values), name, line)
    importer = rows.look_for(_recognised, ROWS_LOOKED_AT)
    if importer is None:
        raise UnreadableTrajectory(_unknown(rows))
    trajectory = Trajectory(())
    rows.name = importer.row_name if name is None and line is None else name
    trajectory.steps = _placed(importer.steps(rows, trajectory), rows)
    return trajectory


def _unknown(rows: "_Rows") -> str:
    if rows.first is None:
        return "the list is empty, so that nobody can tell its format"
    place, row = rows.first
    for key in _by_array_key():
        if isinstance(row, Mapping) and key in row:
            return f"{place}: {key} must be a list, {found(row[key])}"
    titles = ", ".join(importer.title for importer in importers())
    return f"{place}: is of no known trajectory format (known are {titles})"


def _recognised(row: object) -> Importer | None:
    if not isinstance(row, Mapping):
        return None
    return next((importer for importer in importers() if importer.recognises(row)), None)


def _then_end(stream: JsonStream, values: Iterable[object]) -> Iterator[object]:
    yield from values
    if stream.peek():
        raise stream.unreadable("something follows the end of the trajectory")


def _note(importer: Importer, key: str, value: object, trajectory: Trajectory, place: str) -> None:
    try:
        importer.member(key, value, trajectory)
    except BadRow as bad:
        raise UnreadableTrajectory(f"{place}: {bad}") from None


class _Rows:
    """Rows that know where the last one stood; the first ones can be looked at before they are read."""

    def __init__(self, values: Iterator[object], name: str | None, line: Callable[[], str] | None) -> None:
        self.name = name
        self._values = values
        self._line = line
        self._looked_at: list[tuple[str, object]] = []
        self._number = 0
        self._known_line: str | None = None

    def look_for(self, wanted: Callable[[object], Importer | None], most: int) -> Importer | None:
        """The first answer that one of the first rows gives."""
        for value in islice(self._values, most):
            self._looked_at.append((self._line() if self._line else "", value))
            importer = wanted(value)
            if importer is not None:
                return importer
        return None

    @property
    def first(self) -> tuple[str, object] | None:
        """Where the first row stands, and what it is."""
        return (self._looked_at[0][0] or "row 1", self._looked_at[0][1]) if self._looked_at else None

    def __iter__(self) -> Iterator[object]:
        for line, value in self._looked_at:
            self._number += 1
            self._known_line = line
            yield value
        self._known_line = None
        for value in self._values:
            self._number += 1
            yield value

    @property
    def place(self) -> str:
        """Such as `line 12`, `step 3` or `line 1, step 3`."""
        line = self._known_line or (self._line() if self._line else "")
        number = f"{self.name} {self._number}" if self.name else ""
        return ", ".join([part for part in (line, number) if part])


def _placed(steps: Iterator[Step], rows: _Rows) -> Iterator[Step]:
    try:
        yield from steps
    except BadRow as bad:
        raise UnreadableTrajectory(f"{rows.place}: {bad}") from None
