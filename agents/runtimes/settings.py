"""Checks the settings of an agent's runtime, those of every agent included; knows no runtime, reads no files.

What is wrong is Refused at `runtime_settings.<key>`, all of it at once, with the nearest known key.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trinity.kernel.errors import Refused
from trinity.kernel.money import to_nano
from trinity.kernel.text import clean

FIELD = "runtime_settings"
AWAY_PATIENCE_SECONDS = 6 * 3600  # of an agent whose model is a service; 0 for any other
MOST_PATIENCE_SECONDS = 7 * 86_400
MOST_NAMES = 100
MOST_ARGUMENT_BYTES = 128 * 1024 - 1  # Linux takes no longer argument, its closing NUL counted


class Home(StrEnum):
    """Whose HOME the agent gets."""

    OWN = "own"  # one of its own, in $TRINITY_HOME
    OPERATOR = "operator"  # that of the account that runs Trinity, with its logins and keys


class WrongValue(ValueError):
    """What is wrong with one value; `path` leads to it below its setting, such as ".2"."""

    def __init__(self, sentence: str, path: str = "") -> None:
        super().__init__(sentence)
        self.path = path


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its check gives the value as it is kept, or raises WrongValue; a default stays."""

    name: str
    check: Callable[[Any], Any]
    default: Any = None
    required: bool = False


def cleaned(settings: object, own: Sequence[Setting], *, patience_seconds: int) -> dict[str, Any]:
    """All settings with their defaults: a runtime's `own` and those of every agent. null means the default.

    Raises Refused with every wrong setting.
    """
    if not isinstance(settings, Mapping):
        raise _refused({FIELD: ["Must be an object of settings."]})
    known = {setting.name: setting for setting in (*own, *_of_every_agent(patience_seconds))}
    errors = {f"{FIELD}.{clean(str(key))}": [_unknown(str(key), known)] for key in settings if key not in known}
    kept: dict[str, Any] = {}
    for name, setting in known.items():
        value = settings.get(name)
        try:
            if value is None and setting.required:
                raise WrongValue("This setting is required.")
            kept[name] = copy(setting.default) if value is None else setting.check(value)
        except WrongValue as wrong:
            errors[f"{FIELD}.{name}{wrong.path}"] = [str(wrong)]
    if errors:
        raise _refused(errors)
    return kept


def setting_refused(name: str, sentence: str) -> Refused:
    """A refusal of one setting, for rules that concern several."""
    return _refused({f"{FIELD}.{name}": [sentence]})


def a_text(value: Any, *, most: int = 1_000) -> str:
    """A text that says something, without NUL."""
    if not isinstance(value, str):
        raise WrongValue(f"Must be a text, not {_kind(value)}.")
    if not value.strip():
        raise WrongValue("Must not be empty.")
    if "\0" in value:
        raise WrongValue("Must not contain a NUL character.")
    if value != clean(value):
        raise WrongValue("Must not contain half of a surrogate pair.")
    if len(value) > most:
        raise WrongValue(f"Must not be longer than {most:,} characters; it has {len(value):,}.")
    return value


def one_of(words: type[StrEnum]) -> Callable[[Any], str]:
    """One of the words."""
    known = [word.value for word in words]

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            near = difflib.get_close_matches(str(value), known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise WrongValue(f"Must be one of {', '.join(known)}.{hint}")
        return value

    return check


def a_whole_number(least: int, most: int) -> Callable[[Any], int]:
    """A whole number in a range; 2.0 is 2, true and "2" are none."""

    def check(value: Any) -> int:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(whole, bool) or not isinstance(whole, int):
            raise WrongValue(f"Must be a whole number, not {_kind(value)}.")
        if not least <= whole <= most:
            raise WrongValue(f"Must be from {least:,} to {most:,}.")
        return whole

    return check


def a_yes_or_no(value: Any) -> bool:
    """true or false, and no other word for them."""
    if not isinstance(value, bool):
        raise WrongValue(f"Must be true or false, not {_kind(value)}.")
    return value


def dollars_above_0(value: Any) -> float:
    """A finite amount of dollars, of which something is left in nano-dollars."""
    nano = None if isinstance(value, str) else to_nano(value)
    if nano is None or nano <= 0:
        raise WrongValue("Must be a finite number of dollars above 0.")
    return float(value)


def a_list(value: Any, check: Callable[[Any], Any], *, least: int, most: int) -> list[Any]:
    """A list whose every member passes `check`; a wrong one is named by its index."""
    if not isinstance(value, list | tuple):
        raise WrongValue(f"Must be a list, not {_kind(value)}.")
    if not least <= len(value) <= most:
        raise WrongValue(f"Must have from {least:,} to {most:,} members; it has {len(value):,}.")
    kept = []
    for index, member in enumerate(value):
        try:
            kept.append(check(member))
        except WrongValue as wrong:
            raise WrongValue(str(wrong), f".{index}{wrong.path}") from None
    return kept


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_SECRET_NAMES = frozenset({"SECRET_KEY", "DATABASE_URL", "REDIS_URL"})
_SECRET_BEGINNINGS = ("TRINITY_", "DJANGO_")


def a_variable_name(value: Any) -> str:
    """The name of an environment variable that may be passed on to an agent."""
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise WrongValue("Must be the name of an environment variable, such as OPENAI_API_KEY, without a value.")
    if value in _SECRET_NAMES or value.startswith(_SECRET_BEGINNINGS):
        raise WrongValue(f"{value} is the server's own and is never passed on.")
    if value == "HOME":
        raise WrongValue("HOME is set by the setting `home`.")
    return value


def _variable_names(value: Any) -> list[str]:
    names = a_list(value, a_variable_name, least=0, most=MOST_NAMES)
    return list(dict.fromkeys(names))


def _of_every_agent(patience_seconds: int) -> tuple[Setting, ...]:
    return (
        Setting("home", one_of(Home), default=Home.OWN.value),
        Setting("env", _variable_names, default=[]),
        Setting(
            "unavailable_patience_seconds",
            a_whole_number(0, MOST_PATIENCE_SECONDS),
            default=patience_seconds,
        ),
    )


def _unknown(key: str, known: Mapping[str, Setting]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no such setting.{hint} Known: {', '.join(known)}."


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names: dict[type, str] = {
        str: "a text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "that")


def _refused(errors: Mapping[str, list[str]]) -> Refused:
    return Refused("; ".join(f"{name}: {said[0]}" for name, said in errors.items()), errors=errors)
