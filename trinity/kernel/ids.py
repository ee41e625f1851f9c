"""Makes the ids that people and programs see; knows no table."""

import secrets

ID_CHARACTERS = 16


def new_id(prefix: str) -> str:
    """`prefix_` and 16 URL-safe random characters (96 bits)."""
    return f"{prefix}_{secrets.token_urlsafe(12)}"
