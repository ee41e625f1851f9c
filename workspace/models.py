"""Room, Participant, Message and Turn: what is durable of a conversation; the writes stand in services.

Members and outsiders (clients) count differently. `seq` and `version` count everything; `public_seq` and
`public_version` count what an outsider may see, so that no gap in their numbers tells of what is kept from them.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from accounts.models import User
from agents.models import Agent
from executions.models import Execution
from loops.models import Loop
from trinity.kernel.choices import choices_of, one_of
from trinity.kernel.ids import new_id
from workspace.vocabulary import CloseReason, MessageKind, TurnEnding

TITLE_CHARACTERS = 200
TEXT_CHARACTERS = 100_000
MAX_MESSAGES = (1, 100_000)
IDLE_HOURS = (1, 8_760)
DEFAULT_MAX_MESSAGES = 200
DEFAULT_IDLE_HOURS = 168

IS_OPEN = Q(closed_at__isnull=True)
UNENDED = Q(ended_at__isnull=True)
TAKES_PART = Q(removed_at__isnull=True)


def new_room_id() -> str:
    return new_id("room")


def _person() -> "models.ForeignKey[User | None, User | None]":
    """A person who did something; the row outlives them."""
    return models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")


def _agent() -> "models.ForeignKey[Agent | None, Agent | None]":
    """An agent that did something."""
    return models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)


class Room(models.Model):
    """One persistent, shared conversation. Its row is the lock of everything in it; an agent's lock comes first."""

    id = models.CharField(primary_key=True, max_length=32, default=new_room_id, editable=False)
    title = models.CharField(max_length=TITLE_CHARACTERS)
    opened_by = _person()
    opened_by_agent = _agent()
    created_at = models.DateTimeField()

    max_messages = models.PositiveIntegerField(default=DEFAULT_MAX_MESSAGES)
    max_cost_nano = models.BigIntegerField(null=True, blank=True)
    idle_hours = models.PositiveIntegerField(default=DEFAULT_IDLE_HOURS)
    closes_at = models.DateTimeField()  # without a further message

    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.CharField(max_length=16, choices=choices_of(CloseReason), blank=True, default="")
    closed_by = _person()

    last_seq = models.PositiveIntegerField(default=0)
    last_public_seq = models.PositiveIntegerField(default=0)
    said_count = models.PositiveIntegerField(default=0)  # what `max_messages` bounds: said by people and agents
    turns_without_person = models.PositiveIntegerField(default=0)  # woken since a person last wrote
    last_message_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=0)
    public_version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-last_message_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["-last_message_at", "-id"], name="room_newest"),
            models.Index(fields=["closes_at"], name="room_idle", condition=IS_OPEN),
        ]
        constraints: ClassVar = [
            one_of("close_reason", CloseReason, name="room_close_reason_known", blank=True),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True, close_reason="")
                | (Q(closed_at__isnull=False) & ~Q(close_reason="")),
                name="room_closed_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(max_cost_nano__isnull=True) | Q(max_cost_nano__gt=0), name="room_budget_positive"
            ),
            models.CheckConstraint(condition=Q(max_messages__gte=1, idle_hours__gte=1), name="room_limits_positive"),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def closed(self) -> bool:
        return self.closed_at is not None


class Participant(models.Model):
    """A person or an agent in a room. One who was removed keeps the row, and sees nothing any more."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="participants", db_index=False)
    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="rooms")
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="rooms")
    added_by = _person()
    added_by_agent = _agent()
    added_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)
    last_seen_seq = models.PositiveIntegerField(default=0)  # an outsider's counts by `public_seq`
    starred = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["added_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "user"], name="a_person_once_in_a_room"),
            models.UniqueConstraint(fields=["room", "agent"], name="an_agent_once_in_a_room"),
            models.CheckConstraint(
                condition=Q(user__isnull=False, agent__isnull=True) | Q(user__isnull=True, agent__isnull=False),
                name="participant_is_a_person_or_an_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} in {self.room_id}"

    @property
    def name(self) -> str:
        """What stands behind the @; user or agent must be loaded."""
        return self.user.username if self.user is not None else self.agent.name if self.agent is not None else ""


class Message(models.Model):
    """One line of the transcript; never changed. Neither an author nor an agent: the room itself says it."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="messages", db_index=False)
    seq = models.PositiveIntegerField()
    public_seq = models.PositiveIntegerField(null=True, blank=True)  # none: for members only
    kind = models.CharField(max_length=8, choices=choices_of(MessageKind))
    user = _person()
    agent = _agent()
    text = models.TextField(blank=True)
    loop = models.ForeignKey(Loop, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["room", "seq"]
        constraints: ClassVar = [
            one_of("kind", MessageKind, name="message_kind_known"),
            models.UniqueConstraint(fields=["room", "seq"], name="a_seq_once_in_a_room"),
            models.UniqueConstraint(fields=["room", "public_seq"], name="a_public_seq_once_in_a_room"),
            models.CheckConstraint(
                condition=~Q(kind=MessageKind.LOOP) | Q(loop__isnull=False, public_seq__isnull=True),
                name="message_loop_for_members_only",
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=True) | Q(agent__isnull=True), name="message_has_one_author"
            ),
            models.CheckConstraint(
                condition=Q(public_seq__isnull=True) | Q(public_seq__lte=F("seq")), name="message_public_seq_within"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.room_id} #{self.seq}"

    @property
    def members_only(self) -> bool:
        return self.public_seq is None


class Turn(models.Model):
    """One agent's turn to answer one message. It gets its execution when it is first in its line, and ends with it."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="turns", db_index=False)
    message = models.ForeignKey(Message, models.CASCADE, related_name="turns")  # what it answers
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="turns", db_index=False)
    asked_by = _person()  # the person at the beginning of the chain
    asked_by_agent = _agent()  # the agent that handed on
    asked_at = models.DateTimeField()
    execution = models.OneToOneField(Execution, models.PROTECT, null=True, blank=True, related_name="turn")
    reply = models.OneToOneField(Message, models.SET_NULL, null=True, blank=True, related_name="answers")
    handed_seq = models.PositiveIntegerField(null=True, blank=True)  # up to here the transcript was handed to it
    started_loop = models.BooleanField(default=False)  # what it says of that is for members
    ending = models.CharField(max_length=10, choices=choices_of(TurnEnding), blank=True, default="")
    ended_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = _person()
    retry_of = models.OneToOneField("self", models.SET_NULL, null=True, blank=True, related_name="retry")

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["room", "id"], name="turn_unended_of_room", condition=UNENDED),
            models.Index(fields=["id"], name="turn_unended", condition=UNENDED),
        ]
        constraints: ClassVar = [
            one_of("ending", TurnEnding, name="turn_ending_known", blank=True),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ending="") | (Q(ended_at__isnull=False) & ~Q(ending="")),
                name="turn_ended_has_an_ending",
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk} in {self.room_id}"

    @property
    def ended(self) -> bool:
        return self.ended_at is not None
