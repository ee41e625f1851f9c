"""Writes of accounts: users, keys, the audit log; decides nothing about agents."""

import datetime as dt
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.models import ApiKey, AuditEvent, RememberedAnswer, User
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction, UserKind
from trinity.kernel import clock, rows
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.statements import carry_out
from trinity.kernel.vocabulary import RefusalCode

KEY_PREFIX = "trk"
ANSWERS_KEPT = dt.timedelta(hours=24)
LAST_USED_EVERY = dt.timedelta(minutes=1)  # so that a busy key costs no write per request


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; `secret` is shown once and never again."""

    key: ApiKey
    secret: str


def hash_secret(secret: str) -> str:
    """SHA-256 as hex; the secret has 192 random bits, so no salt or stretching is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def create_user(username: str, *, kind: UserKind, password: str | None = None) -> tuple[User, str]:
    """A new user and the password (a random one when none is given). Refused when the name is taken."""
    fresh = password or secrets.token_urlsafe(12)
    user = User(username=username, kind=kind)
    user.set_password(fresh)
    try:
        if password:
            validate_password(password, user)
        user.full_clean(exclude=["password"])
        with transaction.atomic():
            user.save()
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"password": error.messages}
        name, sentences = next(iter(fields.items()))
        raise Refused(f"{name}: {sentences[0]}", errors=fields) from error
    except IntegrityError as error:
        raise refused_field("username", "A user with that username already exists.") from error
    return user, fresh


def create_key(
    *,
    user: User | None = None,
    agent_id: int | None = None,
    name: str = "",
    expires_at: dt.datetime | None = None,
    by: Viewer | None = None,
) -> NewKey:
    """A new key of a user or of an agent."""
    if expires_at is not None and expires_at <= clock.now():
        raise refused_field("expires_at", "Must lie in the future.")
    prefix, secret = secrets.token_hex(5), secrets.token_urlsafe(24)
    whole = f"{KEY_PREFIX}_{prefix}_{secret}"
    with transaction.atomic():
        key = ApiKey.objects.create(
            prefix=prefix,
            secret_hash=hash_secret(whole),
            user=user,
            agent_id=agent_id,
            name=name,
            expires_at=expires_at,
        )
        audit(AuditAction.KEY_CREATED, f"key:{prefix}", by=by)
    return NewKey(key, whole)


def revoke_key(key: ApiKey, *, by: Viewer | None = None) -> None:
    """End a key now; safe to repeat."""
    with transaction.atomic():
        moved = ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=clock.now())
        if moved:
            audit(AuditAction.KEY_REVOKED, f"key:{key.prefix}", by=by)


def key_for_secret(secret: str) -> ApiKey | None:
    """The living key with this secret, or None; compared in constant time."""
    prefix = secret.removeprefix(f"{KEY_PREFIX}_").partition("_")[0]
    if not secret.startswith(f"{KEY_PREFIX}_") or not prefix.isalnum() or not secret.isascii():
        return None
    its_user = rows.Sql(f'(SELECT user_id FROM "{ApiKey._meta.db_table}" WHERE prefix = %s)', (prefix,))  # noqa: S608
    found, user = carry_out(rows.finding(ApiKey, "prefix", prefix), rows.finding(User, "id", its_user))
    key = rows.row_in(ApiKey, found)
    now = clock.now()
    if key is None or not secrets.compare_digest(key.secret_hash, hash_secret(secret)):
        return None
    key.user = rows.row_in(User, user)
    if not key.holds_at(now) or (key.user is not None and not key.user.is_active):
        return None
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key


def looked_now(user: User) -> None:
    """The user has seen what the dashboard told; what ends from now on is new to them."""
    User.objects.filter(pk=user.pk).update(last_looked_at=clock.now())


def audit(
    action: AuditAction,
    target: str,
    *,
    by: Viewer | None,
    refused: bool = False,
    facts: Mapping[str, object] | None = None,
) -> AuditEvent:
    """Write one line of the audit log, in the transaction that is open."""
    line = audit_line(action, target, by=by, refused=refused, facts=facts)
    line.save(force_insert=True)
    return line


def audit_line(
    action: AuditAction,
    target: str,
    *,
    by: Viewer | None,
    refused: bool = False,
    facts: Mapping[str, object] | None = None,
) -> AuditEvent:
    """The line itself, for a step that writes it with its other rows."""
    return AuditEvent(
        at=clock.now(),
        action=action,
        refused=refused,
        target=target[:200],
        by_user=by.user if by else None,
        by_agent_id=by.agent_id if by else None,
        by_key_id=by.key_id if by else None,
        facts=dict(facts or {}),
    )


def forget_answers() -> int:
    """Delete remembered answers that are too old to be given again; returns how many."""
    return RememberedAnswer.objects.filter(at__lte=clock.now() - ANSWERS_KEPT).delete()[0]


def forbidden(detail: str) -> Refused:
    """The refusal of one who may see that it exists, but may not do this."""
    return Refused(detail, code=RefusalCode.FORBIDDEN)
