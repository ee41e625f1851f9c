"""Finds the names behind an @ in a text, in their order; knows nobody and wakes nobody."""

import re

from agents.models import NAME_PATTERN

# What is quoted as code addresses nobody (a decorator, a package, an address).
_CODE = re.compile(r"^(?P<fence>```|~~~).*?(?:^(?P=fence)|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_MENTION = re.compile(rf"(?<![\w@./:+-])@(?P<name>{NAME_PATTERN})(?![\w@-])", re.IGNORECASE)
MOST = 20  # names that one message may address


def mentioned_names(text: str) -> tuple[str, ...]:
    """Each name once, in order of first mention, in small letters as names are; whether anybody has it is not asked."""
    found = dict.fromkeys(match["name"].lower() for match in _MENTION.finditer(_CODE.sub(" ", text)))
    return tuple(found)[:MOST]
