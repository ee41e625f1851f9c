"""Users, keys, the audit log and remembered answers; no rule about agents or loops stands here."""

import datetime as dt
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q

from accounts.vocabulary import AuditAction, UserKind
from trinity.kernel.choices import choices_of, one_of


class User(AbstractUser):
    """A person. `kind` decides what the platform shows; Django's own flags follow it."""

    kind = models.CharField(max_length=10, choices=choices_of(UserKind), default=UserKind.MEMBER)
    last_looked_at = models.DateTimeField(null=True, blank=True)

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [one_of("kind", UserKind, name="user_kind_known")]

    def save(self, *args: object, **kwargs: object) -> None:
        self.is_staff = self.is_superuser = self.is_admin
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def is_admin(self) -> bool:
        return self.kind == UserKind.ADMIN

    @property
    def is_client(self) -> bool:
        return self.kind == UserKind.CLIENT

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


class ApiKey(models.Model):
    """A bearer key of a user or of an agent; only the hash of its secret is kept."""

    prefix = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    name = models.CharField(max_length=100, blank=True)
    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="api_keys")
    # A plain column: accounts stands below agents and knows no table of theirs.
    agent_id = models.BigIntegerField(null=True, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, agent_id__isnull=True) | Q(user__isnull=True, agent_id__isnull=False),
                name="api_key_of_a_user_or_of_an_agent",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name or 'unnamed'})"

    def holds_at(self, now: dt.datetime) -> bool:
        """Whether the key may be used at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class AuditEvent(models.Model):
    """One line of the audit log: who did, or was refused, what."""

    at = models.DateTimeField()
    action = models.CharField(max_length=32, choices=choices_of(AuditAction))
    refused = models.BooleanField(default=False)
    target = models.CharField(max_length=200)
    by_user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    by_agent_id = models.BigIntegerField(null=True, blank=True)
    by_key_id = models.BigIntegerField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["target", "-id"], name="audit_by_target")]

    def __str__(self) -> str:
        return f"{self.action} {self.target}{' (refused)' if self.refused else ''}"


class RememberedAnswer(models.Model):
    """The first answer to an Idempotency-Key, kept 24 h (section 2)."""

    caller = models.CharField(max_length=40)
    route = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.JSONField()
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["caller", "route", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return f"{self.caller} {self.route} {self.key}"
