"""The fields of a key as a caller gave them; writes no row."""

from collections.abc import Mapping
from typing import Any

from trinity.kernel import fields

KEY_NAME_CHARACTERS = 100

_FIELDS: dict[str, fields.Read] = {
    "name": lambda value: fields.text(value, 0, KEY_NAME_CHARACTERS),
    "expires_at": fields.moment,
}


def read_new_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """`name` and `expires_at` of a new key. Refused with every wrong field."""
    return fields.read(given, _FIELDS)
