"""Reads fields that a caller gave, strictly: one wrong type or bound is a sentence at that field; knows no model."""

import datetime as dt
import difflib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from trinity.kernel.errors import Refused

Word = TypeVar("Word", bound=StrEnum)
Read = Callable[[Any], Any]
UNKNOWN_SAID = 20  # unknown fields named in one refusal: each costs a comparison, and a body may hold 100,000


class Wrong(ValueError):
    """What is wrong with one value, as a sentence that names the bound."""


def read(given: Mapping[str, Any], known: Mapping[str, Read], *, required: Sequence[str] = ()) -> dict[str, Any]:
    """The values of the known fields that were given and are not null; Refused with all that is wrong at once."""
    if not isinstance(given, Mapping):
        raise Refused(f"The body must be a JSON object; {found(given)} was given.")
    unknown = itertools.islice((name for name in given if name not in known), UNKNOWN_SAID)
    errors = {clip(name): [f"Unknown field.{nearest(name, known)}"] for name in unknown}
    errors |= {name: ["This field is required."] for name in required if given.get(name) is None}
    values: dict[str, Any] = {}
    for name, reader in known.items():
        if given.get(name) is not None:
            try:
                values[name] = reader(given[name])
            except Wrong as wrong:
                errors[name] = [str(wrong)]
    if errors:
        first, sentences = next(iter(errors.items()))
        raise Refused(f"{first}: {sentences[0]}", errors=errors)
    return values


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the known name that begins like `name` or else looks like it, or nothing."""
    said, names = str(name)[:200], [str(one) for one in known]
    begins = [one for one in names if said and (one.startswith(said) or said.startswith(one))]
    close = begins if len(begins) == 1 else difflib.get_close_matches(said, names, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def clip(name: object, limit: int = 100) -> str:
    """A caller's word, short and storable enough to be said back."""
    text = str(name).encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    return text if len(text) <= limit else text[:limit] + "…"


def found(value: object) -> str:
    """The value as JSON would show it, for a sentence."""
    kinds = {dict: "an object", list: "a list", type(None): "null"}
    if type(value) in kinds:
        return kinds[type(value)]
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number of more than 40 digits"  # Python prints none of more than 4,300
    return clip(json.dumps(value) if isinstance(value, str | bool | int | float) else type(value).__name__, 40)


def integer(value: object, low: int, high: int) -> int:
    """A whole number within the bounds; `2.0` is 2, a boolean or a string is no number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Wrong(f"Must be a whole number from {low:,} to {high:,}; {found(value)} was given.")
    if not low <= value <= high:
        raise Wrong(f"Must be from {low:,} to {high:,}; {found(value)} was given.")
    return value


def number(value: object) -> float:
    """Any JSON number, infinite ones included: the caller decides."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Wrong(f"Must be a number; {found(value)} was given.")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def text(value: object, low: int, high: int, *, strip: bool = False) -> str:
    """A string of `low` to `high` characters that can be stored; kept as it was sent unless `strip`."""
    if not isinstance(value, str):
        raise Wrong(f"Must be a string; {found(value)} was given.")
    value = value.strip() if strip else value
    if not low <= len(value) <= high:
        bounds = f"from {low:,} to {high:,}" if low else f"at most {high:,}"
        raise Wrong(f"Must have {bounds} characters; it has {len(value):,}.")
    _refuse_unstorable(value)
    return value


def _refuse_unstorable(value: str) -> None:
    if "\x00" in value:
        raise Wrong("Must not contain the NUL character.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Wrong(f"Must be valid Unicode; a lone surrogate stands at character {error.start + 1}.") from None


def texts(value: object, most: int, longest: int) -> tuple[str, ...]:
    """A list of one to `most` names; an empty list would read as "none" to one person and "all" to another."""
    if not isinstance(value, list):
        raise Wrong(f"Must be a list of names; {found(value)} was given.")
    if not value:
        raise Wrong("Must not be empty: leave it out for no restriction, or name the tools.")
    if len(value) > most:
        raise Wrong(f"Must have at most {most} names; it has {len(value):,}.")
    names = tuple(text(name, 1, longest) for name in value)
    if any(not name.strip() for name in names):
        raise Wrong("Must not contain a blank name.")
    return names


def word(value: object, vocabulary: type[Word]) -> Word:
    """One of the words of a vocabulary."""
    known = ", ".join(vocabulary)
    if not isinstance(value, str) or value not in list(vocabulary):
        hint = nearest(value, vocabulary) if isinstance(value, str) else ""
        raise Wrong(f"Must be one of: {known}; {found(value)} was given.{hint}")
    return vocabulary(value)


def boolean(value: object) -> bool:
    """true or false; nothing else is guessed."""
    if not isinstance(value, bool):
        raise Wrong(f"Must be true or false; {found(value)} was given.")
    return value


def moment(value: object) -> dt.datetime:
    """A point in time in ISO 8601 with its zone; without one, two readers would read two times."""
    if not isinstance(value, str):
        raise Wrong(f"Must be a time in ISO 8601; {found(value)} was given.")
    try:
        at = dt.datetime.fromisoformat(value).astimezone(dt.UTC) if _has_zone(value) else None
    except (ValueError, OverflowError):
        at = None
    if at is None:
        raise Wrong(
            f"Must be a time in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z; {found(value)} was given."
        )
    return at


def _has_zone(value: str) -> bool:
    return dt.datetime.fromisoformat(value).tzinfo is not None


def mapping(value: object) -> dict[str, Any]:
    """A JSON object that every database can store."""
    if not isinstance(value, dict):
        raise Wrong(f"Must be an object; {found(value)} was given.")
    _refuse_unstorable_in(value)
    return value


def listing(value: object) -> list[Any]:
    """A JSON list that every database can store; what stands in it is read elsewhere."""
    if not isinstance(value, list):
        raise Wrong(f"Must be a list; {found(value)} was given.")
    _refuse_unstorable_in(value)
    return value


def _refuse_unstorable_in(value: object) -> None:
    """NUL, lone surrogates and infinite numbers: PostgreSQL's JSON takes none of them."""
    match value:
        case dict():
            for name, inner in value.items():
                _refuse_unstorable(name)
                _refuse_unstorable_in(inner)
        case list():
            for inner in value:
                _refuse_unstorable_in(inner)
        case str():
            _refuse_unstorable(value)
        case float() if not math.isfinite(value):
            raise Wrong("Must not contain a number that is not finite.")
