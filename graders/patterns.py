"""Chooses tools by regular expressions under RE2, where none can hang; never hands one to Python's `re`."""

from collections.abc import Callable
from typing import Any

import re2

from graders.errors import OptionError
from graders.wording import found, quoted, shown

MOST_REMEMBERED_TOOLS = 1024


def read_patterns(value: object) -> list[str]:
    """A list of patterns as a config holds it; raises OptionError that says which one is wrong, and where."""
    if not isinstance(value, list | tuple):
        raise OptionError(f"must be a list of regular expressions, {found(value)}")
    if not value:
        raise OptionError("is an empty list, which would watch nothing; leave the key out to watch every tool")
    for place, pattern in enumerate(value, 1):
        if not isinstance(pattern, str):
            raise OptionError(f"must hold regular expressions, entry {place}: {found(pattern)}")
        if not pattern.strip():
            raise OptionError(f"holds a blank pattern (entry {place}), which says nothing; leave it out")
        try:
            _compiled(pattern)
        except OptionError as error:
            raise OptionError(f"holds {quoted(pattern)} (entry {place}), which {error}") from None
    return list(value)


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except UnicodeEncodeError as error:
        raise OptionError(f"has a lone surrogate at character {error.start + 1}") from None
    except re2.error as error:
        raise OptionError(_reason(pattern, error)) from None


def _reason(pattern: str, error: Exception) -> str:
    """RE2's own reason in words, with the character at which it stopped."""
    said = error.args[0] if error.args else ""
    reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    _, _, fragment = reason.partition(": ")
    start = pattern.find(fragment) if fragment else -1
    where = f" at character {start + 1}" if start >= 0 else ""
    if fragment.startswith(("(?=", "(?!", "(?<=", "(?<!")):
        return f"uses look-around{where} ({shown(fragment)}), which RE2 does not have"
    if fragment.startswith("\\") and fragment[1:2].isdigit():
        return f"uses a back-reference{where} ({shown(fragment)}), which RE2 does not have"
    return f"is no valid RE2 pattern{where}: {shown(reason)}"


def tool_filter(patterns: list[str]) -> Callable[[str], bool]:
    """Whether one of the patterns is found in a tool's name; names are remembered, up to a bound."""
    searches = [_compiled(pattern).search for pattern in patterns]
    remembered: dict[str, bool] = {}

    def watches(tool: str) -> bool:
        known = remembered.get(tool)
        if known is None:
            if len(remembered) >= MOST_REMEMBERED_TOOLS:
                remembered.clear()
            # RE2 reads UTF-8, which has no lone surrogates; a name may have them all the same.
            name = tool.encode("utf-8", "replace").decode("utf-8")
            known = remembered[tool] = any(search(name) for search in searches)
        return known

    return watches
