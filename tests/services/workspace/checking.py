"""What must be true of a room after every step; moves nothing."""

from workspace.models import Message, Room, Turn
from workspace.vocabulary import MessageKind, TurnEnding


def check_room(room_id: str) -> list[str]:
    """A sentence for each thing that is not as it must be."""
    room = Room.objects.get(pk=room_id)
    messages = list(Message.objects.filter(room=room).order_by("seq"))
    public = [one.public_seq for one in messages if one.public_seq is not None]
    turns = list(Turn.objects.filter(room=room).select_related("execution", "reply"))
    unended = [turn for turn in turns if not turn.ended]
    claims = {
        "messages are numbered without gaps": [one.seq for one in messages] == list(range(1, room.last_seq + 1)),
        "so are those that everybody sees": public == list(range(1, room.last_public_seq + 1)),
        "what was said is counted": room.said_count == sum(one.kind == MessageKind.SAID for one in messages),
        "outsiders are told no more than members": room.public_version <= room.version,
        "no room holds more than it may": room.said_count <= room.max_messages + _in_flight_at_the_end(turns),
        "what was answered has its reply": all(
            turn.reply is not None for turn in turns if turn.ending in (TurnEnding.ANSWERED, TurnEnding.FAILED)
        ),
        "an ended execution has ended its turn": not any(
            turn.execution is not None and turn.execution.ended for turn in unended
        ),
        "of one message or one agent one turn at a time has an execution": _no_two_side_by_side(unended),
    }
    return [claim for claim, holds in claims.items() if not holds]


def _in_flight_at_the_end(turns: list[Turn]) -> int:
    """Replies that came after their room was closed."""
    return sum(turn.ending == TurnEnding.ANSWERED for turn in turns)


def _no_two_side_by_side(turns: list[Turn]) -> bool:
    with_execution = [turn for turn in turns if turn.execution is not None]
    agents = [turn.agent_id for turn in with_execution]
    messages = [turn.message_id for turn in with_execution]
    return len(set(agents)) == len(agents) and len(set(messages)) == len(messages)
