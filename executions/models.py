"""Execution: one call of an agent with one prompt, and what came of it; moves stand in services."""

import datetime as dt
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from agents.models import Agent
from agents.runtimes.base import ErrorKind
from executions.vocabulary import ENDED, UNENDED, ExecutionStatus, Trigger
from trinity.kernel.choices import choices_of, one_of
from trinity.kernel.ids import new_id

IN_FLIGHT = Q(status=ExecutionStatus.RUNNING)
WAITING = Q(status=ExecutionStatus.QUEUED)


def new_execution_id() -> str:
    return new_id("exec")


class Execution(models.Model):
    """One call. Columns of the claim say who carries it out; they are empty while nobody does."""

    id = models.CharField(primary_key=True, max_length=32, default=new_execution_id, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="executions", db_index=False)
    trigger = models.CharField(max_length=10, choices=choices_of(Trigger))
    # Parents are plain columns: executions stands below the apps that own them.
    loop_id = models.CharField(max_length=32, blank=True, default="")
    run_number = models.PositiveIntegerField(null=True, blank=True)
    room_id = models.CharField(max_length=32, blank=True, default="")

    prompt = models.TextField()
    model = models.CharField(max_length=200, blank=True, default="")
    allowed_tools = models.JSONField(null=True, blank=True)
    timeout_seconds = models.PositiveIntegerField()

    status = models.CharField(max_length=10, choices=choices_of(ExecutionStatus), default=ExecutionStatus.QUEUED)
    not_before = models.DateTimeField(null=True, blank=True)
    waits_for_model = models.CharField(max_length=20, blank=True, default="")  # the error kind, while away
    away_since = models.DateTimeField(null=True, blank=True)

    response = models.TextField(blank=True, default="")
    error_kind = models.CharField(max_length=20, blank=True, default="", choices=choices_of(ErrorKind))
    error = models.TextField(blank=True, default="")
    cost_nano = models.BigIntegerField(null=True, blank=True)
    cost_estimated = models.BooleanField(default=False)
    input_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    cache_read_tokens = models.BigIntegerField(null=True, blank=True)
    cache_write_tokens = models.BigIntegerField(null=True, blank=True)
    used_model = models.CharField(max_length=200, blank=True, default="")
    permission_denials = models.JSONField(default=list, blank=True)
    notes = models.JSONField(default=list, blank=True)  # sentences for the reader: what was cut, what it did not have
    tool_calls = models.PositiveIntegerField(default=0)
    to_grade = models.BooleanField(default=False)  # its trajectory is stored, and no grader has seen it yet
    activity = models.CharField(max_length=400, blank=True, default="")
    commits = models.PositiveIntegerField(null=True, blank=True)
    lines_added = models.PositiveIntegerField(null=True, blank=True)
    lines_removed = models.PositiveIntegerField(null=True, blank=True)

    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    duration_ms = models.BigIntegerField(null=True, blank=True)

    attempt = models.PositiveIntegerField(default=1)
    claim_token = models.CharField(max_length=32, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=64, blank=True, default="")
    host = models.CharField(max_length=255, blank=True, default="")
    spool_id = models.CharField(max_length=32, blank=True, default="")
    abandon_requested_at = models.DateTimeField(null=True, blank=True)

    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    started_by_key_id = models.BigIntegerField(null=True, blank=True)
    source_agent = models.ForeignKey(Agent, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["agent", "queued_at", "id"], name="execution_waiting", condition=WAITING),
            models.Index(fields=["agent"], name="execution_in_flight", condition=IN_FLIGHT),
            models.Index(fields=["lease_until"], name="execution_lease", condition=IN_FLIGHT),
            models.Index(fields=["claim_token"], name="execution_claim", condition=IN_FLIGHT),
            models.Index(fields=["-queued_at", "-id"], name="execution_newest"),
            models.Index(fields=["id"], name="execution_to_grade", condition=Q(to_grade=True)),
            models.Index(fields=["agent", "-queued_at", "-id"], name="execution_newest_of_agent"),
            models.Index(fields=["loop_id", "run_number"], name="execution_of_loop", condition=~Q(loop_id="")),
            models.Index(fields=["room_id", "-queued_at"], name="execution_of_room", condition=~Q(room_id="")),
        ]
        constraints: ClassVar = [
            one_of("status", ExecutionStatus, name="execution_status_known"),
            one_of("trigger", Trigger, name="execution_trigger_known"),
            models.CheckConstraint(
                condition=Q(cost_nano__isnull=True) | Q(cost_nano__gte=0), name="execution_cost_not_negative"
            ),
            models.UniqueConstraint(
                fields=["loop_id"],
                condition=Q(status__in=[*sorted(UNENDED)]) & ~Q(loop_id=""),
                name="one_run_of_a_loop_at_a_time",
            ),
            models.CheckConstraint(condition=~IN_FLIGHT | ~Q(claim_token=""), name="execution_in_flight_is_claimed"),
            models.CheckConstraint(
                condition=Q(status__in=[*sorted(ENDED)], ended_at__isnull=False)
                | Q(status__in=[*sorted(UNENDED)], ended_at__isnull=True),
                name="execution_ended_has_an_end",
            ),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def in_flight(self) -> bool:
        return self.status == ExecutionStatus.RUNNING

    @property
    def waiting(self) -> bool:
        return self.status == ExecutionStatus.QUEUED

    def running_for(self, now: dt.datetime) -> dt.timedelta:
        """How long the run has been in flight at `now`; zero before it began."""
        return max(dt.timedelta(0), now - self.started_at) if self.started_at else dt.timedelta(0)


class Trajectory(models.Model):
    """The ordered tool calls of one execution, compressed; a table of its own keeps execution rows narrow."""

    execution = models.OneToOneField(Execution, models.CASCADE, primary_key=True, related_name="trajectory")
    compressed = models.BinaryField()

    def __str__(self) -> str:
        return f"trajectory of {self.execution_id}"


class Verdict(models.Model):
    """What a grader says of one ended execution (section 4)."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="verdicts")
    position = models.PositiveSmallIntegerField()
    type = models.CharField(max_length=60)
    name = models.CharField(max_length=200, blank=True)
    error = models.BooleanField(default=False)  # an error is no verdict
    passed = models.BooleanField(null=True)
    score = models.FloatField(null=True)
    summary = models.CharField(max_length=200)
    evidence = models.TextField()
    details = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["execution", "position"], name="one_verdict_per_grader")
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.execution_id}: {self.summary}"
