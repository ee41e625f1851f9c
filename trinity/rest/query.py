"""Reads query parameters as strictly as a body: unknown, doubled and wrong ones are refused by name; knows no table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.http import QueryDict

from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode

LIMIT = (1, 200)
DEFAULT_LIMIT = 50
MOST = 999_999_999
_DIGITS = re.compile(r"[0-9]{1,9}\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter: how its text is read, and what the schema says of it."""

    read: Callable[[str], Any]
    says: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    default: Any = None


def read_query(given: QueryDict, known: Mapping[str, Parameter]) -> dict[str, Any]:
    """A value for each known parameter. Refused with all that is wrong at once, each by its name."""
    errors = {
        fields.clip(name): [f"Unknown query parameter.{fields.nearest(name, known)}"]
        for name in list(given)[: fields.UNKNOWN_SAID]
        if name not in known
    }
    values = {name: parameter.default for name, parameter in known.items()}
    for name, parameter in known.items():
        try:
            if name in given:
                values[name] = parameter.read(_only(given.getlist(name)))
        except fields.Wrong as wrong:
            errors[name] = [str(wrong)]
    if errors:
        first, sentences = next(iter(errors.items()))
        raise Refused(f"{first}: {sentences[0]}", errors=errors)
    return values


def limit(default: int = DEFAULT_LIMIT) -> Parameter:
    """How many rows at most."""
    schema = {"type": "integer", "minimum": LIMIT[0], "maximum": LIMIT[1], "default": default}
    return Parameter(_limit, "How many at most.", schema, default)


def word(vocabulary: type[StrEnum], says: str) -> Parameter:
    """One of a vocabulary's words; an unknown one is refused with the list of the known."""
    return Parameter(lambda value: fields.word(value, vocabulary), says, {"type": "string", "enum": list(vocabulary)})


def name(says: str, longest: int) -> Parameter:
    """A name or an id."""
    schema = {"type": "string", "minLength": 1, "maxLength": longest}
    return Parameter(lambda value: fields.text(value, 1, longest), says, schema)


def number(says: str) -> Parameter:
    """A whole number of at most nine digits, or none."""
    schema = {"type": "integer", "minimum": 0, "maximum": MOST}
    return Parameter(lambda value: _whole(value, 0, MOST), says, schema)


def flag(says: str) -> Parameter:
    """true or false; none is false."""
    words = {"true": True, "false": False}

    def read(value: str) -> bool:
        if value not in words:
            raise fields.Wrong(f"Must be true or false; {fields.found(value)} was given.")
        return words[value]

    return Parameter(read, says, {"type": "boolean", "default": False}, False)


def path_number(value: str) -> int:
    """A number of an address. Refused (not found) when it is none: there is no such row."""
    if not _DIGITS.match(value):
        raise Refused("There is nothing here.", code=RefusalCode.NOT_FOUND)
    return int(value)


def in_path(says: str, pattern: str) -> Parameter:
    """A part of the address."""
    return Parameter(str, says, {"type": "string", "pattern": f"^{pattern}$"})


def _limit(value: str) -> int:
    return _whole(value, *LIMIT)


def _whole(value: str, low: int, high: int) -> int:
    if not _DIGITS.match(value):
        raise fields.Wrong(f"Must be a whole number from {low} to {high}; {fields.found(value)} was given.")
    return fields.integer(int(value), low, high)


def _only(values: list[str]) -> str:
    if len(values) > 1:
        raise fields.Wrong(f"Must be given once; it was given {len(values)} times.")
    return values[0]
