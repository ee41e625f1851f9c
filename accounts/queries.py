"""Reads of keys: a person's own, or an agent's for who owns it; writes nothing."""

from django.db.models import QuerySet

from accounts.models import ApiKey
from accounts.services import forbidden
from accounts.viewers import Viewer
from trinity.kernel import fields
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


def keys_of(viewer: Viewer) -> QuerySet[ApiKey]:
    """The viewer's own keys, newest first. Refused to agents: their owner keeps their keys."""
    if viewer.user is None:
        raise forbidden("An agent has no say over keys; its owner does.")
    return ApiKey.objects.filter(user=viewer.user).order_by("-id")


def keys_of_agent(agent_id: int) -> QuerySet[ApiKey]:
    """The keys of an agent, newest first; who may see them is for the caller to decide."""
    return ApiKey.objects.filter(agent_id=agent_id).order_by("-id")


def key_in(keys: QuerySet[ApiKey], prefix: str) -> ApiKey:
    """The key with this prefix among these. Refused when there is none."""
    key = keys.filter(prefix=fields.clip(prefix)).first()
    if key is None:
        raise Refused(f"There is no key {fields.clip(prefix, 16)!r}.", code=RefusalCode.NOT_FOUND)
    return key
