"""Checks the setting `mcp_servers` of the runtimes that know it; reaches no server."""

import json
import re
from typing import Any

from agents.runtimes.keeping import json_size
from agents.runtimes.values import WrongValue
from trinity.kernel.text import clean

MOST_SERVERS = 50
MOST_CHARACTERS = 60_000  # of the whole setting: it is handed over as one argument

_NAME = re.compile(r"(?!.*__)[A-Za-z0-9_-]{1,64}")
_EXAMPLE = '{"demo": {"command": "demo-server"}} or {"demo": {"url": "http://localhost/mcp"}}'


def mcp_servers(value: Any) -> dict[str, dict[str, Any]]:
    """Servers by name; each as the agent's own configuration has it, with a `command` or a `url`."""
    if not isinstance(value, dict):
        raise WrongValue(f"Must be an object of servers, such as {_EXAMPLE}.")
    if len(value) > MOST_SERVERS:
        raise WrongValue(f"Must not name more than {MOST_SERVERS} servers.")
    for name, server in value.items():
        _check(name, server)
    try:
        text = json.dumps(value, allow_nan=False)
        size = json_size(value)
    except (ValueError, TypeError, RecursionError):
        raise WrongValue("Must be plain JSON.") from None
    if size > MOST_CHARACTERS:
        raise WrongValue(f"Must not be longer than {MOST_CHARACTERS:,} characters.")
    if "\\u0000" in text or clean(str(value)) != str(value):
        raise WrongValue("Must not contain NUL characters or halves of surrogate pairs.")
    return {name: dict(server) for name, server in value.items()}


def _check(name: object, server: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise WrongValue("A server's name has 1 to 64 letters, digits, - or _, and no two _ in a row.")
    if not isinstance(server, dict):
        raise WrongValue(f"Must be an object, such as {_EXAMPLE}.", f".{name}")
    places = [key for key in ("command", "url") if isinstance(server.get(key), str) and server[key].strip()]
    if len(places) != 1:
        raise WrongValue("Must have either a `command` or a `url`.", f".{name}")
