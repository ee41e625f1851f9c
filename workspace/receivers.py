"""What a room does when a turn's execution begins, waits or ends; runs inside the step of `executions`."""

import datetime as dt
import re
from collections.abc import Mapping

import structlog
from django.db.models import Sum

from agents.runtimes.base import Outcome
from executions import receivers
from executions.models import Execution
from executions.repairing import each_apart
from executions.step import AgentStep
from executions.vocabulary import Trigger
from trinity.kernel import rows
from trinity.kernel.partial import is_named
from trinity.kernel.statements import Statement
from workspace.models import IS_OPEN, Message, Participant, Room, Turn
from workspace.queries import turns_to_move
from workspace.record import RoomRecord, record_in, room_step
from workspace.services import close_when_full
from workspace.turns import end_turn, hand_over, may_loop, move_turns, takes_part, turn_of
from workspace.vocabulary import CloseReason, MessageKind, RoomEventKind, TurnEnding
from workspace.waking import Author, wake_by

log = structlog.get_logger(__name__)
NAMES_A_LOOP = re.compile(r"\bloop_[A-Za-z0-9_-]{16}(?![A-Za-z0-9_-])")
SPEAKS_OF_LOOPS = re.compile(r"\bloop(?:s|ed|ing)?\b", re.IGNORECASE)


class ChatReceiver:
    """Carries a room from one turn to the next. Chats that belong to no room are left alone."""

    def reads(self, execution: Execution) -> Mapping[str, Statement]:
        """Nothing ahead: a chat's step is not the path where round trips count."""
        return {}

    def may_begin(self, step: AgentStep, execution: Execution) -> bool:
        """Not in a room that was closed, nor for an agent that has left it."""
        turn = turn_of(execution)
        if turn is None:
            return True
        record = record_in(step, execution.room_id)
        if not turn.ended and not record.room.closed and takes_part(record, step.agent):
            return True
        end_turn(record, turn, TurnEnding.WITHDRAWN)
        return False

    def begun(self, step: AgentStep, execution: Execution) -> None:
        """The prompt is made now: it hands over what was written while the turn waited."""
        turn = turn_of(execution)
        if turn is None:
            return
        record = record_in(step, execution.room_id)
        execution.prompt = hand_over(step, record, turn)
        if execution.pk not in step.new:
            step.changes.append(rows.change(Execution, {"pk": execution.pk}, {"prompt": execution.prompt}))
        record.happened(RoomEventKind.ROOM_TURN)

    def waits(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        if execution.room_id:
            record_in(step, execution.room_id).happened(RoomEventKind.ROOM_TURN)

    def patience_ends(self, step: AgentStep, execution: Execution) -> dt.datetime | None:
        return None

    def ended(self, step: AgentStep, execution: Execution, outcome: Outcome) -> None:
        """The reply appears, or the failure does; then whoever it mentions is woken."""
        turn = turn_of(execution)
        if turn is None:
            return
        record = record_in(step, execution.room_id)
        if not takes_part(record, step.agent):
            end_turn(record, turn, TurnEnding.WITHDRAWN)
            record.notice(f"@{step.agent.name} was removed while it worked; its reply is not shown.")
        elif outcome.succeeded:
            _answered(step, record, turn, execution)
        else:
            reason = execution.error or "It ended without a reason."
            failed = record.say(MessageKind.FAILED, reason, agent=step.agent)
            end_turn(record, turn, TurnEnding.FAILED, reply=failed)
        close_when_spent(record)

    def withdrawn(self, step: AgentStep, execution: Execution) -> None:
        """Its agent was archived, or an owner took it out of the line; else whoever did has said so."""
        turn = turn_of(execution)
        if turn is None or turn.ended:
            return
        record = record_in(step, execution.room_id)
        end_turn(record, turn, TurnEnding.WITHDRAWN)
        record.notice(f"@{step.agent.name} will not answer: its turn was withdrawn.")

    def graded(self, step: AgentStep, execution: Execution) -> None:
        """A verdict is no news for a room."""


def _answered(step: AgentStep, record: RoomRecord, turn: Turn, execution: Execution) -> None:
    mine = Participant.objects.filter(room=record.room.pk, agent=step.agent.pk).first()
    members_only = turn.started_loop or _is_about_loops(record, execution.response)
    reply = record.say(MessageKind.SAID, execution.response, agent=step.agent, members_only=members_only)
    end_turn(record, turn, TurnEnding.ANSWERED, reply=reply)
    if members_only and not may_loop(turn):
        record.notice(f"@{step.agent.name} has answered; its answer is for members only.")
    if mine is not None and turn.handed_seq is not None:
        record.seen_by(mine, turn.handed_seq)
    close_when_full(record)
    if not record.room.closed:
        wake_by(record, reply, Author(turn.asked_by, step.agent))


def _is_about_loops(record: RoomRecord, text: str) -> bool:
    """Whether a reply speaks of a loop: it is kept from outsiders then. When in doubt it is, where there are loops."""
    if NAMES_A_LOOP.search(text):
        return True
    has_loops = Message.objects.filter(room=record.room.pk, kind=MessageKind.LOOP)
    return bool(SPEAKS_OF_LOOPS.search(text)) and has_loops.exists()


def close_when_spent(record: RoomRecord) -> None:
    """Close a room whose executions, its loops' runs among them, have cost what it may cost."""
    room = record.room
    if room.closed or room.max_cost_nano is None:
        return
    mine = Execution.objects.filter(is_named("room_id"), room_id=room.pk)
    if (mine.aggregate(spent=Sum("cost_nano"))["spent"] or 0) >= room.max_cost_nano:
        record.notice("This room is closed: it has reached its limit.")
        record.close(CloseReason.COST_BUDGET)


# --- repairs: what the sweep finds due -------------------------------------------------------------------


def move_waiting_turns(now: dt.datetime, limit: int) -> int:
    """Queue turns whose room nobody looked after: the process ended between the message and its turn."""
    return each_apart(dict.fromkeys(turns_to_move().values_list("room_id", "agent_id")[:limit]), move_turns)


def close_idle_rooms(now: dt.datetime, limit: int) -> int:
    """Close rooms in which nobody wrote for as long as they allow."""
    idle = Room.objects.filter(IS_OPEN, closes_at__lte=now).order_by("closes_at").values_list("pk")
    return each_apart(idle[:limit], _close_if_idle)


def _close_if_idle(room_id: str) -> bool:
    with room_step(room_id) as record:
        if record.room.closed or record.room.closes_at > record.now:
            return False  # somebody was faster, or wrote
        record.notice(f"This room is closed: nobody wrote for {record.room.idle_hours} hours.")
        record.close(CloseReason.IDLE)
    return True


def register() -> None:
    """Tell `executions` about rooms; called once, at start."""
    receivers.register(Trigger.CHAT, ChatReceiver())
    receivers.register_repair("turns", move_waiting_turns)
    receivers.register_repair("idle rooms", close_idle_rooms)
