"""Checks single values of settings: each gives the value as it is kept, or raises WrongValue; knows no setting."""

import difflib
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from trinity.kernel.money import to_nano
from trinity.kernel.text import clean


class WrongValue(ValueError):
    """What is wrong with one value; `path` leads to it below its setting, such as ".2"."""

    def __init__(self, sentence: str, path: str = "") -> None:
        super().__init__(sentence)
        self.path = path


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
