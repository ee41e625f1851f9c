"""The fields of rooms and messages as a caller gave them: types and bounds; knows no row."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trinity.kernel import fields
from trinity.kernel.errors import refused_field
from trinity.kernel.money import MAX_NANO, NANO, to_nano
from workspace.models import (
    DEFAULT_IDLE_HOURS,
    DEFAULT_MAX_MESSAGES,
    IDLE_HOURS,
    MAX_MESSAGES,
    TEXT_CHARACTERS,
    TITLE_CHARACTERS,
)

TAKING_PART = 50  # agents, and as many people, of one room
NAME_CHARACTERS = 150
MAX_COST_USD = MAX_NANO // NANO


@dataclass(frozen=True, slots=True)
class RoomParameters:
    """A room to be opened."""

    agents: tuple[str, ...]
    people: tuple[str, ...] = ()
    title: str = ""
    text: str = ""  # the first message
    max_messages: int = DEFAULT_MAX_MESSAGES
    max_cost_nano: int | None = None
    idle_hours: int = DEFAULT_IDLE_HOURS


def written_text(value: object) -> str:
    """The text of a message: 1 to 100,000 characters, not all of them blank."""
    found = fields.text(value, 1, TEXT_CHARACTERS)
    if not found.strip():
        raise fields.Wrong("Must not be blank.")
    return found


def _title(value: object) -> str:
    found = fields.text(value, 1, TITLE_CHARACTERS, strip=True)
    if "\n" in found or "\r" in found:
        raise fields.Wrong("Must be one line.")
    return found


def _names(value: object) -> tuple[str, ...]:
    """Names, each once, in their order; none is a list too."""
    found = fields.listing(value)
    if len(found) > TAKING_PART:
        raise fields.Wrong(f"Must have at most {TAKING_PART} names; it has {len(found):,}.")
    return tuple(dict.fromkeys(fields.text(name, 1, NAME_CHARACTERS) for name in found))


def _one_name_or_more(value: object) -> tuple[str, ...]:
    found = _names(value)
    if not found:
        raise fields.Wrong("Must name one agent at least.")
    return found


def _budget(value: object) -> int:
    number = fields.number(value)
    if not math.isfinite(number) or not 0 < number <= MAX_COST_USD:
        raise fields.Wrong(f"Must be more than 0 and at most {MAX_COST_USD:,} dollars.")
    return max(1, to_nano(value) or 0)


_ROOM: dict[str, fields.Read] = {
    "agents": _one_name_or_more,
    "people": _names,
    "title": _title,
    "text": written_text,
    "max_messages": lambda value: fields.integer(value, *MAX_MESSAGES),
    "max_cost_usd": _budget,
    "idle_hours": lambda value: fields.integer(value, *IDLE_HOURS),
}


def read_room(given: Mapping[str, Any]) -> RoomParameters:
    """A room as asked for. Refused with every wrong field, its bound and what was found."""
    values = fields.read(given, _ROOM, required=("agents",))
    return RoomParameters(**{"max_cost_nano" if name == "max_cost_usd" else name: one for name, one in values.items()})


def read_text(given: Mapping[str, Any]) -> str:
    """The text of a message to post."""
    text: str = fields.read(given, {"text": written_text}, required=("text",))["text"]
    return text


def read_title(given: Mapping[str, Any]) -> str:
    """The new name of a room."""
    title: str = fields.read(given, {"title": _title}, required=("title",))["title"]
    return title


def read_participant(given: Mapping[str, Any]) -> tuple[str, str]:
    """Who is to take part: the name of an agent or the username of a person, one of the two."""
    known = {name: lambda value: fields.text(value, 1, NAME_CHARACTERS) for name in ("agent", "user")}
    values = fields.read(given, known)
    if len(values) != 1:
        raise refused_field("agent", "Name an agent or a user, one of the two.")
    return values.get("agent", ""), values.get("user", "")
