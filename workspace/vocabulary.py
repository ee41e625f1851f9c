"""Words of the Workspace: kinds of message, how a turn ends, why a room is closed, what sockets are told."""

from enum import StrEnum

from trinity.kernel.vocabulary import Tone


class MessageKind(StrEnum):
    """What a message of a transcript is."""

    SAID = "said"  # by a person or an agent
    FAILED = "failed"  # a turn that brought no reply; the text is its reason
    NOTICE = "notice"  # the room itself says what happened: nobody wrote it
    LOOP = "loop"  # the card of a loop that was started here; for members only


class TurnEnding(StrEnum):
    """What came of an agent's turn."""

    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"  # its asker took it back
    WITHDRAWN = "withdrawn"  # the room was closed, or the agent left it


class TurnState(StrEnum):
    """What a turn that has not ended waits for or does; derived from rows, stored nowhere."""

    BEHIND_OTHERS = "behind_others"  # several mentions wake one after another
    SLOT = "slot"
    MODEL = "model"
    AGENT_STOPPED = "agent_stopped"
    WORKING = "working"


class CloseReason(StrEnum):
    """Why a room takes no more messages."""

    BY_SOMEBODY = "by_somebody"
    MAX_MESSAGES = "max_messages"
    COST_BUDGET = "cost_budget"
    IDLE = "idle"


class CloseAnswer(StrEnum):
    """What a request to close a room is answered."""

    CLOSED = "closed"
    ALREADY_CLOSED = "already_closed"


class CancelAnswer(StrEnum):
    """What a request to cancel a turn is answered."""

    CANCELLED = "cancelled"
    ALREADY_ENDED = "already_ended"


class RoomEventKind(StrEnum):
    """What a room's sockets are told; no event carries a text or a name."""

    ROOM_MESSAGE = "room_message"
    ROOM_TURN = "room_turn"
    ROOM_CHANGED = "room_changed"  # its name, who takes part, or that it is closed


class ParticipantKind(StrEnum):
    """Who can take part in a room."""

    PERSON = "person"
    AGENT = "agent"


class WorkKind(StrEnum):
    """How an execution of a room came to be (section 7, "The rail")."""

    YOU_ASKED = "you_asked"
    HANDED_ON = "handed_on"
    LOOP_RUN = "loop_run"
    SCHEDULED = "scheduled"
    REMINDER = "reminder"


class WorkOutcome(StrEnum):
    """The outcome word of an execution in the Work tab."""

    WAITING_FOR_SLOT = "waiting_for_slot"
    WAITING_FOR_MODEL = "waiting_for_model"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"


WORK_TONES: dict[WorkOutcome, Tone] = {
    WorkOutcome.WAITING_FOR_SLOT: Tone.ACTIVE,
    WorkOutcome.WAITING_FOR_MODEL: Tone.ACTIVE,
    WorkOutcome.WORKING: Tone.ACTIVE,
    WorkOutcome.DONE: Tone.OK,
    WorkOutcome.FAILED: Tone.BAD,
    WorkOutcome.TIMED_OUT: Tone.BAD,
    WorkOutcome.STOPPED: Tone.NEUTRAL,
}
