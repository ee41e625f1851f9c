"""The options of a grader: their types, and reading what a config holds; guesses nothing left open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graders.errors import OptionError
from graders.patterns import read_patterns
from graders.vocabulary import OptionType
from graders.wording import found, listed, nearest, quoted


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a grader's config, as the catalogue shows it and as its value is checked."""

    name: str
    type: OptionType
    meaning: str
    required: bool = False
    default: Any = None
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()

    def read(self, value: object) -> Any:
        """The value as the judge takes it (3.0 becomes 3); raises OptionError naming what was found."""
        return _READERS[self.type](self, value)

    def as_catalogued(self) -> dict[str, Any]:
        """Plain values for the catalogue; bounds and choices only where there are any."""
        entry: dict[str, Any] = {
            "name": self.name,
            "type": self.type.value,
            "required": self.required,
            "default": self.default,
            "meaning": self.meaning,
        }
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "choices": list(self.choices) or None}
        return entry | {key: value for key, value in bounds.items() if value is not None}


def read_options(options: tuple[Option, ...], config: Mapping[object, object]) -> dict[str, Any]:
    """Every option with its value or default.

    Raises OptionErrors with a sentence for each key at fault: unknown, missing, or of a wrong value.
    """
    known = {option.name: option for option in options}
    errors: dict[str, list[str]] = {}
    for key in config:
        if key not in known:
            errors[str(key)] = [unknown_key(key, list(known))]
    values = {}
    for option in options:
        try:
            values[option.name] = _value_of(option, config)
        except OptionError as error:
            errors[option.name] = [f"{option.name} {error}"]
    if errors:
        raise OptionErrors(errors)
    return values


class OptionErrors(ValueError):
    """All that is wrong with one config: sentences by key."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("; ".join(sentence for sentences in errors.values() for sentence in sentences))
        self.errors = errors


def unknown_key(key: object, known: list[str]) -> str:
    """The sentence about a key that nobody knows, with the nearest one that is known."""
    if not isinstance(key, str):
        return f"a key must be text, {found(key)}; the known keys are {listed(known)}"
    return (
        f"unknown key {quoted(key)}; the nearest known key is {quoted(nearest(key, known) or '')} "
        f"(known: {listed(known)})"
    )


def _value_of(option: Option, config: Mapping[object, object]) -> Any:
    if option.name in config:
        return option.read(config[option.name])
    if option.required:
        raise OptionError("is required and has no default: say it explicitly")
    return option.default


def _read_integer(option: Option, value: object) -> int:
    whole = whole_number(value)
    below = option.minimum is not None and whole is not None and whole < option.minimum
    above = option.maximum is not None and whole is not None and whole > option.maximum
    if whole is None or below or above:
        raise OptionError(f"must be {_integer_wanted(option)}, {found(value)}")
    return whole


def whole_number(value: object) -> int | None:
    """`value` when it is a whole JSON number (3.0 is 3); None for booleans, text, fractions and the rest."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _integer_wanted(option: Option) -> str:
    if option.minimum is not None and option.maximum is not None:
        return f"an integer from {option.minimum} to {option.maximum}"
    return "an integer" if option.minimum is None else f"an integer ≥ {option.minimum}"


def _read_boolean(option: Option, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise OptionError(f"must be true or false, {found(value)}")


def _read_choice(option: Option, value: object) -> str:
    if isinstance(value, str) and value in option.choices:
        return value
    near = nearest(value, option.choices) if isinstance(value, str) else None
    hint = f"; the nearest is {quoted(near)}" if near else ""
    raise OptionError(f"must be one of {', '.join(map(quoted, option.choices))}, {found(value)}{hint}")


def _read_patterns(option: Option, value: object) -> list[str]:
    return read_patterns(value)


_READERS: dict[OptionType, Callable[[Option, object], Any]] = {
    OptionType.INTEGER: _read_integer,
    OptionType.BOOLEAN: _read_boolean,
    OptionType.CHOICE: _read_choice,
    OptionType.PATTERNS: _read_patterns,
}
