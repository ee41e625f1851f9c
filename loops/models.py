"""Loop, Run and LoopEvent: what is durable of a loop; the rules stand in decisions, the writes in services."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from agents.models import Agent
from executions.models import Execution
from loops.decisions import LoopFacts
from loops.vocabulary import ACTIVE, ENDED, EventKind, LoopStatus, OnFailure, StopReason
from trinity.kernel.choices import choices_of, one_of
from trinity.kernel.ids import new_id
from trinity.kernel.text import first_line

# The same as `status in ACTIVE`, by the constraint loop_ended_is_at_rest. SQLite uses a partial index only when the
# query repeats its condition, and it never recognises a list of words again.
IS_ACTIVE = Q(completed_at__isnull=True)
# What an operator may set, and the engine never changes.
PARAMETERS = (
    "message",
    "max_runs",
    "stop_signal",
    "delay_seconds",
    "timeout_per_run",
    "max_duration_seconds",
    "no_progress_threshold",
    "max_cost_nano",
    "on_failure",
    "max_consecutive_failures",
    "model",
    "allowed_tools",
)
# What the rules move after each run.
COUNTERS = (
    "runs_completed",
    "failed_runs",
    "consecutive_failures",
    "repeat_count",
    "last_fingerprint",
    "spent_nano",
    "last_response",
)


def new_loop_id() -> str:
    return new_id("loop")


class Loop(models.Model):
    """A durable sequence of up to `max_runs` runs against one agent."""

    id = models.CharField(primary_key=True, max_length=32, default=new_loop_id, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="loops", db_index=False)

    message = models.TextField()
    max_runs = models.PositiveSmallIntegerField()
    stop_signal = models.CharField(max_length=200, blank=True, default="")
    delay_seconds = models.PositiveIntegerField(default=0)
    timeout_per_run = models.PositiveIntegerField()  # the effective one, seconds
    max_duration_seconds = models.PositiveIntegerField(null=True, blank=True)
    no_progress_threshold = models.PositiveIntegerField(default=3)
    max_cost_nano = models.BigIntegerField(null=True, blank=True)
    on_failure = models.CharField(max_length=10, choices=choices_of(OnFailure), default=OnFailure.ABORT)
    max_consecutive_failures = models.PositiveSmallIntegerField(default=3)
    model = models.CharField(max_length=200, blank=True, default="")
    allowed_tools = models.JSONField(null=True, blank=True)

    status = models.CharField(max_length=24, choices=choices_of(LoopStatus), default=LoopStatus.QUEUED)
    stop_reason = models.CharField(max_length=30, choices=choices_of(StopReason), blank=True, default="")
    error = models.TextField(blank=True, default="")
    runs_completed = models.PositiveSmallIntegerField(default=0)
    failed_runs = models.PositiveSmallIntegerField(default=0)
    consecutive_failures = models.PositiveSmallIntegerField(default=0)
    repeat_count = models.PositiveSmallIntegerField(default=0)
    last_fingerprint = models.CharField(max_length=64, blank=True, default="")
    spent_nano = models.BigIntegerField(default=0)
    last_response = models.TextField(null=True, blank=True)  # noqa: DJ001 — no reply yet is not an empty reply

    next_run_at = models.DateTimeField(null=True, blank=True)  # parked until then
    deadline_at = models.DateTimeField(null=True, blank=True)  # known once run 1 began
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    stop_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    stop_requested_by_agent = models.ForeignKey(
        Agent, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)  # the sequence of its newest event

    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    started_by_key_id = models.BigIntegerField(null=True, blank=True)
    source_agent = models.ForeignKey(Agent, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False)
    room_id = models.CharField(max_length=32, blank=True, default="")

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["agent", "-created_at", "-id"], name="loop_newest_of_agent"),
            models.Index(fields=["-created_at", "-id"], name="loop_newest"),
            models.Index(fields=["agent"], name="loop_active_of_agent", condition=IS_ACTIVE),
            models.Index(fields=["next_run_at"], name="loop_parked", condition=Q(next_run_at__isnull=False)),
            models.Index(
                fields=["deadline_at"],
                name="loop_deadline",
                condition=IS_ACTIVE & Q(deadline_at__isnull=False),
            ),
            models.Index(fields=["room_id", "-created_at"], name="loop_of_room", condition=~Q(room_id="")),
        ]
        constraints: ClassVar = [
            one_of("status", LoopStatus, name="loop_status_known"),
            one_of("stop_reason", StopReason, name="loop_reason_known", blank=True),
            one_of("on_failure", OnFailure, name="loop_policy_known"),
            models.CheckConstraint(
                condition=(Q(status__in=sorted(ENDED)) & ~Q(stop_reason=""))
                | (Q(status__in=sorted(ACTIVE)) & Q(stop_reason="")),
                name="loop_reason_if_and_only_if_ended",
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(ENDED), completed_at__isnull=False, next_run_at__isnull=True)
                | Q(status__in=sorted(ACTIVE), completed_at__isnull=True),
                name="loop_ended_is_at_rest",
            ),
            models.CheckConstraint(condition=Q(max_runs__gte=1, max_runs__lte=100), name="loop_max_runs_in_bounds"),
            models.CheckConstraint(
                condition=Q(runs_completed__lte=models.F("max_runs")), name="loop_runs_within_its_limit"
            ),
            models.CheckConstraint(condition=Q(spent_nano__gte=0), name="loop_spent_not_negative"),
            models.CheckConstraint(
                condition=Q(max_cost_nano__isnull=True) | Q(max_cost_nano__gt=0), name="loop_budget_positive"
            ),
            models.CheckConstraint(condition=~Q(no_progress_threshold=1), name="loop_threshold_never_one"),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def title(self) -> str:
        return first_line(self.message)

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def stop_requested(self) -> bool:
        return self.stop_requested_at is not None

    def facts(self, now: object) -> LoopFacts:
        """The loop as the rules see it at `now`."""
        return LoopFacts(
            now=now,  # type: ignore[arg-type]
            max_runs=self.max_runs,
            stop_signal=self.stop_signal,
            delay_seconds=self.delay_seconds,
            max_duration_seconds=self.max_duration_seconds,
            no_progress_threshold=self.no_progress_threshold,
            max_cost_nano=self.max_cost_nano,
            on_failure=OnFailure(self.on_failure),
            max_consecutive_failures=self.max_consecutive_failures,
            started_at=self.started_at,
            stop_requested=self.stop_requested,
            **{name: getattr(self, name) for name in COUNTERS},
        )


class Run(models.Model):
    """One numbered turn of a loop; its status is its execution's."""

    loop = models.ForeignKey(Loop, models.CASCADE, related_name="runs", db_index=False)
    run_number = models.PositiveSmallIntegerField()
    execution = models.OneToOneField(Execution, models.PROTECT, related_name="run")

    class Meta:
        ordering: ClassVar = ["run_number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["loop", "run_number"], name="a_run_number_once_in_a_loop"),
            models.CheckConstraint(condition=Q(run_number__gte=1), name="run_numbers_start_at_one"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_number} of {self.loop_id}"


class LoopEvent(models.Model):
    """One change of a loop, never changed afterwards; written in the transaction of the change."""

    loop = models.ForeignKey(Loop, models.CASCADE, related_name="events", db_index=False)
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=24, choices=choices_of(EventKind))
    facts = models.JSONField(default=dict, blank=True)
    by = models.CharField(max_length=40, blank=True, default="")  # who, when it was somebody: Viewer.caller
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["loop", "sequence"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["loop", "sequence"], name="an_event_once_in_a_loop"),
            one_of("kind", EventKind, name="loop_event_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.loop_id} #{self.sequence} {self.kind}"
