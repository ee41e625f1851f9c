"""The shapes of rooms in REST, for the schema; reads and writes nothing.

What stands under `required=False` is for members and agents: a client's answers do not have it.
"""

from typing import Any

from rest_framework import serializers

from accounts.schemas import Actor
from executions.schemas import Waiting
from loops.schemas import LoopWords
from loops.vocabulary import LoopStatus
from trinity.rest.shapes import OPTIONAL, Shape, dollars, moment, optional_integer, text, word
from workspace.models import IDLE_HOURS, MAX_MESSAGES, TEXT_CHARACTERS, TITLE_CHARACTERS
from workspace.parameters import NAME_CHARACTERS, TAKING_PART
from workspace.vocabulary import (
    CancelAnswer,
    CloseAnswer,
    MessageKind,
    ParticipantKind,
    TurnState,
    WorkKind,
    WorkOutcome,
)

MEMBERS: dict[str, Any] = {"required": False}


def _names(low: int, help_text: str, **more: Any) -> serializers.ListField:
    child = serializers.CharField(min_length=1, max_length=NAME_CHARACTERS)
    return serializers.ListField(child=child, min_length=low, max_length=TAKING_PART, help_text=help_text, **more)


class NewRoom(Shape):
    """A room to be opened."""

    agents = _names(1, "The agents that take part; one at least.")
    people = _names(0, "The usernames of people who take part, clients among them.", **OPTIONAL)
    title = serializers.CharField(
        min_length=1, max_length=TITLE_CHARACTERS, help_text="None: how the first message begins.", **OPTIONAL
    )
    text = serializers.CharField(
        min_length=1, max_length=TEXT_CHARACTERS, trim_whitespace=False, help_text="The first message.", **OPTIONAL
    )
    max_messages = optional_integer(*MAX_MESSAGES, default=200, help_text="The room closes when it has so many.")
    max_cost_usd = serializers.FloatField(
        help_text="The room closes when it has cost so much; more than 0.", **OPTIONAL
    )
    idle_hours = optional_integer(*IDLE_HOURS, default=168, help_text="The room closes when nobody wrote for so long.")


class NewTitle(Shape):
    """Another name of a room."""

    title = serializers.CharField(min_length=1, max_length=TITLE_CHARACTERS)


class NewMessage(Shape):
    """A message to be posted."""

    text = text(1, TEXT_CHARACTERS, help_text="`@name` wakes an agent.")


class NewParticipant(Shape):
    """Who is to take part: one of the two."""

    agent = serializers.CharField(min_length=1, max_length=NAME_CHARACTERS, **OPTIONAL)
    user = serializers.CharField(min_length=1, max_length=NAME_CHARACTERS, **OPTIONAL)


class RoomShape(Shape):
    """A room in a list."""

    room_id = serializers.CharField()
    title = serializers.CharField()
    closed = serializers.BooleanField()
    closed_because = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(help_text="Goes up with every change that the caller may see.")
    last_seq = serializers.IntegerField(help_text="The newest message's.")
    unread = serializers.IntegerField()
    starred = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    last_message_at = serializers.DateTimeField()
    manages = serializers.BooleanField(help_text="Whether the caller may rename and close it.", **MEMBERS)
    max_messages = serializers.IntegerField(**MEMBERS)
    max_cost_usd = serializers.FloatField(allow_null=True, **MEMBERS)
    idle_hours = serializers.IntegerField(**MEMBERS)
    closes_at = serializers.DateTimeField(allow_null=True, help_text="Without a further message.", **MEMBERS)


class ParticipantShape(Shape):
    """A person or an agent in a room."""

    kind = word(ParticipantKind)
    name = serializers.CharField()
    since = serializers.DateTimeField()


class TurnShape(Shape):
    """An agent's turn that waits or goes on."""

    turn_id = serializers.IntegerField()
    agent_name = serializers.CharField()
    answers = serializers.IntegerField(allow_null=True, help_text="The message that it answers.")
    state = word(TurnState)
    words = serializers.CharField()
    cancellable = serializers.BooleanField()


class CardShape(Shape):
    """A loop that was started in the room, as it is now."""

    loop_id = serializers.CharField()
    agent_name = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    status = word(LoopStatus)
    words = LoopWords()
    version = serializers.IntegerField()
    run_number = serializers.IntegerField()
    max_runs = serializers.IntegerField()
    failed_runs = serializers.IntegerField()


class MessageShape(Shape):
    """One message of the transcript."""

    seq = serializers.IntegerField(help_text="1 is the first; without gaps for whoever asks.")
    kind = word(MessageKind)
    author = Actor(allow_null=True, help_text="Null: the room itself.")
    text = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()
    may_retry = serializers.BooleanField()
    members_only = serializers.BooleanField(**MEMBERS)
    execution_id = serializers.CharField(allow_null=True, help_text="Of the turn that brought it.", **MEMBERS)
    loop = CardShape(allow_null=True, **MEMBERS)


class RoomDetail(RoomShape):
    """A room with who takes part, what is under way, and a piece of its transcript, oldest first."""

    participants = ParticipantShape(many=True)
    turns = TurnShape(many=True)
    messages = MessageShape(many=True)
    older = serializers.BooleanField(help_text="Whether there are messages before these.")


class Renamed(Shape):
    """What a request to rename is answered."""

    room_id = serializers.CharField()
    title = serializers.CharField()


class Posted(Shape):
    """What a message is answered."""

    room_id = serializers.CharField()
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()


class ClosedRoom(Shape):
    """What a request to close is answered."""

    room_id = serializers.CharField()
    status = word(CloseAnswer)


class CancelledTurn(Shape):
    """What a request to cancel is answered."""

    turn_id = serializers.IntegerField()
    status = word(CancelAnswer)


class Retried(Shape):
    """What a request to try again is answered."""

    turn_id = serializers.IntegerField()


class WorkRowShape(Shape):
    """An execution that belongs to a room."""

    execution_id = serializers.CharField()
    agent_name = serializers.CharField()
    title = serializers.CharField()
    kind = word(WorkKind)
    kind_words = serializers.CharField()
    outcome = word(WorkOutcome)
    outcome_words = serializers.CharField()
    waiting = Waiting(allow_null=True)
    loop_id = serializers.CharField(allow_null=True)
    run_number = serializers.IntegerField(allow_null=True)
    cost_usd = dollars("Null is unknown, never 0.")
    duration_ms = serializers.IntegerField(allow_null=True)
    queued_at = serializers.DateTimeField()
    completed_at = moment()


class WorkShape(Shape):
    """What waits or goes on, and what ended within 30 days, newest first."""

    now = WorkRowShape(many=True)
    earlier = WorkRowShape(many=True)
    hidden = serializers.IntegerField(help_text="Ended ones that are not listed.")
