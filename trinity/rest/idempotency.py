"""Gives the first answer again to the same Idempotency-Key; the answer is stored with what it made."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from accounts.models import RememberedAnswer
from accounts.services import ANSWERS_KEPT
from accounts.viewers import Viewer
from trinity.kernel import clock
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode

HEADER = "Idempotency-Key"
REPEATED_HEADER = "Idempotency-Replayed"
_KEY = re.compile(r"[\x20-\x7e]{1,255}\Z")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a door answers; `repeated` when it was given before."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """One caller's key on one route, with the hash of the body as parsed JSON."""

    caller: str
    route: str
    key: str
    body_hash: str

    def answer(self) -> Answer | None:
        """The answer that was given before. Refused (422) when the key came with another body."""
        found = self._remembered().first()
        if found is None:
            return None
        if found.at <= clock.now() - ANSWERS_KEPT:
            found.delete()
            return None
        if found.body_hash != self.body_hash:
            raise Refused("This Idempotency-Key came before with another body.", code=RefusalCode.KEY_REUSED)
        return Answer(found.status, json.loads(found.body), found.headers, repeated=True)

    def forget(self) -> None:
        """Let the next answer be remembered in place of the one before."""
        self._remembered().delete()

    def _remembered(self) -> QuerySet[RememberedAnswer]:
        return RememberedAnswer.objects.filter(caller=self.caller, route=self.route, key=self.key)

    def remember(self, answer: Answer) -> None:
        """Store the answer, in the transaction of what it answers."""
        RememberedAnswer.objects.create(
            caller=self.caller,
            route=self.route,
            key=self.key,
            body_hash=self.body_hash,
            status=answer.status,
            headers=dict(answer.headers),
            body=json.dumps(answer.body),  # as text: PostgreSQL's JSON would give its members in another order
            at=clock.now(),
        )


def once(key: IdempotencyKey | None, make: Callable[[], Answer]) -> Answer:
    """The answer that this key got before, else a new one, stored with what it made.

    Call it inside a transaction that holds the lock of what the route is about: twins that come at once then wait
    for each other, and the later one finds the first one's answer.
    """
    if key is None:
        return make()
    found = key.answer()
    if found is None:
        found = make()
        key.remember(found)
    return found


def key_of(viewer: Viewer, route: str, header: str | None, body: Any) -> IdempotencyKey | None:
    """The key of a request, or None when it has none. Refused when it is not 1–255 printable ASCII characters."""
    if header is None:
        return None
    if not _KEY.match(header) or not header.strip():
        raise refused_field(HEADER, "Must have 1 to 255 printable ASCII characters.")
    canonical = json.dumps(_plain(body), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return IdempotencyKey(viewer.caller, route, header, hashlib.sha256(canonical.encode()).hexdigest())


def _plain(value: Any) -> Any:
    """Numbers that are one number to JSON compare as one: 2.0 is 2."""
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
    return value
