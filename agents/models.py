"""Agents, who may use them, and which agent may call which; how one is called stands in runtimes."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from accounts.models import User
from agents.vocabulary import AgentStatus
from trinity.kernel.choices import choices_of, one_of

NAME_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
EXECUTION_TIMEOUT_SECONDS = (10, 7200)
MAX_PARALLEL_TASKS = (1, 100)


class Agent(models.Model):
    """Who does the work: a name, a runtime, a folder of its own, limits (section 1).

    Its row is the one lock: executions and loops of an agent change only while it is held. Agents are
    archived, never deleted, and a name is never used again.
    """

    name = models.CharField(max_length=63, unique=True, validators=[RegexValidator(rf"^{NAME_PATTERN}\Z")])
    title = models.CharField(max_length=200, blank=True)
    owner = models.ForeignKey(User, models.PROTECT, related_name="agents")
    runtime = models.CharField(max_length=40)
    runtime_settings = models.JSONField(default=dict, blank=True)
    workspace = models.CharField(max_length=4096)
    place = models.CharField(max_length=63, default="default")
    status = models.CharField(max_length=10, choices=choices_of(AgentStatus), default=AgentStatus.RUNNING)
    archived_at = models.DateTimeField(null=True, blank=True)
    execution_timeout_seconds = models.PositiveIntegerField(
        default=900, validators=[MinValueValidator(10), MaxValueValidator(7200)]
    )
    max_parallel_tasks = models.PositiveIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    model = models.CharField(max_length=200, blank=True)
    graders = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            one_of("status", AgentStatus, name="agent_status_known"),
            models.CheckConstraint(
                condition=Q(
                    execution_timeout_seconds__gte=EXECUTION_TIMEOUT_SECONDS[0],
                    execution_timeout_seconds__lte=EXECUTION_TIMEOUT_SECONDS[1],
                ),
                name="agent_timeout_in_bounds",
            ),
            models.CheckConstraint(condition=Q(max_parallel_tasks__gte=1), name="agent_has_a_slot"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def running(self) -> bool:
        """Whether it admits executions."""
        return self.status == AgentStatus.RUNNING and self.archived_at is None


class AgentShare(models.Model):
    """A user who may use an agent as its owner does, but for changing who may use it."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="shares")
    user = models.ForeignKey(User, models.CASCADE, related_name="agent_shares")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["agent", "user"], name="agent_shared_once_with_a_user")
        ]

    def __str__(self) -> str:
        return f"{self.agent} → {self.user}"


class AgentPermission(models.Model):
    """The caller agent may call the target agent."""

    caller = models.ForeignKey(Agent, models.CASCADE, related_name="permissions")
    target = models.ForeignKey(Agent, models.CASCADE, related_name="permitted_callers")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["caller", "target"], name="agent_permitted_once"),
            models.CheckConstraint(condition=~Q(caller=F("target")), name="agent_needs_no_permission_on_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.caller} → {self.target}"
