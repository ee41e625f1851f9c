"""The settings of the runtime `model`; checks them one by one, and reaches no service."""

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from agents.runtimes.keeping import json_size
from agents.runtimes.model_api.vocabulary import KEY_VARIABLES, Protocol
from agents.runtimes.settings import Setting
from agents.runtimes.values import (
    WrongValue,
    a_text,
    a_variable_name,
    a_whole_number,
    a_yes_or_no,
    dollars_above_0,
    one_of,
)
from trinity.kernel.text import clean

MOST_EXTRA_CHARACTERS = 10_000
MOST_DOLLARS = 1_000_000
_PRICES = ("input", "output", "cache_read", "cache_write")


def key_variable(settings: Mapping[str, Any]) -> str | None:
    """The NAME of the variable with the key: the setting, else that of the protocol's own provider.

    A service at an address of one's own gets no key that was not named: the provider's would go to a stranger.
    """
    named: str | None = settings["key_variable"]
    if named is not None or settings["base_url"] is not None:
        return named
    return KEY_VARIABLES[Protocol(settings["protocol"])]


def _address(value: Any) -> str:
    address = a_text(value, most=2_000).strip()
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises for what is no port
    except ValueError:
        raise WrongValue("Must be an address such as http://localhost:11434/v1.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(blank in address for blank in " \t\r\n"):
        raise WrongValue("Must be an address such as http://localhost:11434/v1.")
    if parts.username is not None or parts.password is not None:
        raise WrongValue("Must hold no user and no password: name the variable that holds the key in `key_variable`.")
    if parts.query or parts.fragment:
        raise WrongValue("Must end with a path, such as /v1; what follows a ? or a # is not taken.")
    return address


def _temperature(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise WrongValue("Must be a number from 0 to 2.")
    return float(value)


def _price(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise WrongValue('Must be an object such as {"input": 0.5, "output": 1.5}: dollars for a million tokens.')
    if unknown := [str(key) for key in value if key not in _PRICES]:
        raise WrongValue(f"There is no price {unknown[0][:100]!r}. Known: {', '.join(_PRICES)}.")
    if missing := [name for name in _PRICES[:2] if value.get(name) is None]:
        raise WrongValue(f"Must say the price of {' and of '.join(missing)}.")
    return {name: _price_of(name, part) for name, part in value.items() if part is not None}


def _price_of(name: str, value: Any) -> float:
    wrong = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong or not math.isfinite(value) or not 0 <= value <= MOST_DOLLARS:
        raise WrongValue(f"Must be a number of dollars from 0 to {MOST_DOLLARS:,}.", f".{name}")
    return float(value)


def _extra_body(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise WrongValue('Must be an object that is sent with each request, such as {"num_ctx": 32768}.')
    try:
        written = json.dumps(value, allow_nan=False)
        size = json_size(value)
    except (ValueError, TypeError, RecursionError):
        raise WrongValue("Must be plain JSON.") from None
    if size > MOST_EXTRA_CHARACTERS:
        raise WrongValue(f"Must not be longer than {MOST_EXTRA_CHARACTERS:,} characters.")
    if "\\u0000" in written or clean(str(value)) != str(value):
        raise WrongValue("Must not contain NUL characters or halves of surrogate pairs.")
    if taken := [key for key in ("model", "messages", "tools", "stream") if key in value]:
        raise WrongValue(f"Must not set {taken[0]}: that is the runtime's part.")
    return value


def _or_blank(check: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "" if value == "" else check(value)


SETTINGS = (
    Setting("protocol", one_of(Protocol), required=True),
    Setting("base_url", _address),
    Setting("key_variable", a_variable_name),
    Setting("instructions", _or_blank(partial(a_text, most=20_000)), default=""),
    Setting("max_requests", a_whole_number(1, 10_000), default=100),
    Setting("max_tool_calls", a_whole_number(1, 100_000), default=500),
    Setting("max_budget_usd", dollars_above_0),
    Setting("max_tokens", a_whole_number(1, 10_000_000)),
    Setting("temperature", _temperature),
    Setting("extra_body", _extra_body),
    Setting("price", _price),
    Setting("stream", a_yes_or_no, default=True),
    Setting("shell_timeout_seconds", a_whole_number(1, 7_200), default=120),
    Setting("request_timeout_seconds", a_whole_number(1, 7_200), default=600),
    Setting("retry_seconds", a_whole_number(0, 3_600), default=120),
)
