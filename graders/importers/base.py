"""What an importer is, and the checks that all of them share; knows no format."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from graders.errors import BadRow
from graders.options import whole_number
from graders.trajectory import MAIN_LANE, Step, Trajectory
from graders.wording import found, quoted


class Importer:
    """Turns the rows of one format into steps; a module of `graders.importers` offers one as `IMPORTER`.

    A format is either rows (one JSON value after another, or one array of them) told apart by `recognises`,
    or one object whose rows stand in the array `array_key`.
    """

    title: ClassVar[str]
    row_name: ClassVar[str] = "row"
    array_key: ClassVar[str | None] = None

    def recognises(self, row: Mapping[str, Any]) -> bool:
        """Whether a file with such a row is of this format; never true for two importers."""
        return False

    def member(self, key: str, value: object, trajectory: Trajectory) -> None:
        """Take notice of what stands beside the array of rows; raises BadRow when it is wrong."""

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        """The steps, as soon as nothing more can be recorded of them; sets how the trajectory ended.

        Raises BadRow for a row that breaks the format.
        """
        raise NotImplementedError


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """`value` when it is an object; raises BadRow."""
    if isinstance(value, Mapping):
        return value
    raise BadRow(f"{what} must be an object, {found(value)}")


def array(value: object, what: str) -> list[Any] | tuple[Any, ...]:
    """`value` when it is an array; raises BadRow."""
    if isinstance(value, list | tuple):
        return value
    raise BadRow(f"{what} must be a list, {found(value)}")


def text(value: object, what: str) -> str:
    """`value` when it is text; raises BadRow."""
    if isinstance(value, str):
        return value
    raise BadRow(f"{what} must be text, {found(value)}")


def optional_text(value: object, what: str) -> str | None:
    """`value` when it is text or null; raises BadRow."""
    return None if value is None else text(value, what)


def call_id(value: object, what: str) -> str | None:
    """An id as text; recorders also number their calls."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else optional_text(value, what)


def lane_of(value: object, what: str) -> str:
    """The lane that an agent's name stands for; the main one for null."""
    return optional_text(value, what) or MAIN_LANE


def iterations(simulation: object, what: str) -> int | None:
    """`max_iterations` of a simulation, which may be null or may not say; raises BadRow."""
    if simulation is None:
        return None
    value = mapping(simulation, what).get("max_iterations")
    number = whole_number(value)
    if value is not None and (number is None or number < 0):
        raise BadRow(f"{what}.max_iterations must be an integer ≥ 0, {found(value)}")
    return number


def decoded(arguments: object) -> object:
    """Arguments as the tool got them: JSON text of an object or a list is decoded, other text stays."""
    if not isinstance(arguments, str) or arguments.lstrip()[:1] not in {"{", "["}:
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def unknown(value: str, what: str) -> BadRow:
    """The error for a word that a format does not have."""
    return BadRow(f"{what} {quoted(value)} is unknown")
