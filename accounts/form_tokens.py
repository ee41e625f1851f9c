"""A form that is sent twice does its work once: each drawn form has a token of its own; stores nothing by itself.

Without scripts nothing shuts a button after the first click, so a double click sends the form twice.
"""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from accounts.viewers import Viewer
from trinity.rest.idempotency import IdempotencyKey, key_of

FORM_TOKEN = "form_token"  # noqa: S105 — the field's name
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}\Z")


def new_token() -> str:
    """For one form as it is drawn."""
    return secrets.token_urlsafe(16)


def key_of_form(viewer: Viewer, route: str, token: str, asked: Mapping[str, Any]) -> IdempotencyKey | None:
    """What a form's work is remembered by; None when it came without a token, or with rubbish for one.

    Whoever goes back, changes what was typed and sends it again wants it done again: what was asked is part of the
    key, so that only the very same form is the same.
    """
    if not _TOKEN.match(token):
        return None
    key = key_of(viewer, route, token, dict(asked))
    assert key is not None  # noqa: S101 — there is a token
    return IdempotencyKey(key.caller, key.route, f"{token}.{key.body_hash}", key.body_hash)
