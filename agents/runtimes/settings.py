"""Checks the settings of an agent's runtime, those of every agent included; knows no runtime, reads no files.

What is wrong is Refused at `runtime_settings.<key>`, all of it at once, with the nearest known key.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents.runtimes.isolation import isolation
from agents.runtimes.values import WrongValue, a_list, a_variable_name, a_whole_number, one_of
from trinity.kernel.errors import Refused
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
        Setting("isolation", isolation),
    )


def _unknown(key: str, known: Mapping[str, Setting]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no such setting.{hint} Known: {', '.join(known)}."


def _refused(errors: Mapping[str, list[str]]) -> Refused:
    return Refused("; ".join(f"{name}: {said[0]}" for name, said in errors.items()), errors=errors)
