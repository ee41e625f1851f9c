"""Accounts as REST shows them: plain functions from rows to JSON; reads no row by itself and shows no secret."""

from typing import Any

from accounts.models import ApiKey, User
from accounts.services import NewKey
from accounts.vocabulary import ActorKind
from trinity.kernel.clock import wire_time


def key_body(key: ApiKey) -> dict[str, Any]:
    """A key, without its secret."""
    return {
        "prefix": key.prefix,
        "name": key.name,
        "created_at": wire_time(key.created_at),
        "expires_at": wire_time(key.expires_at),
        "revoked_at": wire_time(key.revoked_at),
        "last_used_at": wire_time(key.last_used_at),
    }


def new_key_body(new: NewKey) -> dict[str, Any]:
    """A key just made, with its secret: shown once."""
    return key_body(new.key) | {"secret": new.secret}


def actor_body(user: User | None, agent_name: str | None) -> dict[str, Any] | None:
    """Who did something: a person or an agent; None when nobody is known any more."""
    if user is not None:
        return {"kind": str(ActorKind.USER), "name": user.username}
    return {"kind": str(ActorKind.AGENT), "name": agent_name} if agent_name is not None else None
