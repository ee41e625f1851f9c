"""How an agent's turn comes to its execution and to its end; runs inside steps, under the agent's and the room's lock.

A turn is written when somebody wakes an agent, under the room's lock alone. It gets its execution afterwards, in a step
of its agent: whoever holds a room must not wait for an agent. What is lost in between is found by the sweep.
"""

import secrets

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from accounts.models import User
from accounts.vocabulary import UserKind
from agents.models import Agent
from executions.models import Execution
from executions.services import queue_execution, withdraw
from executions.step import AgentStep, agent_step
from executions.vocabulary import Trigger
from trinity.kernel import rows
from workspace.models import TAKES_PART, UNENDED, Message, Participant, Turn
from workspace.prompts import UNSEEN_CHARACTERS, TurnFacts, Written, turn_prompt
from workspace.queries import turns_to_move
from workspace.record import RoomRecord, record_in
from workspace.vocabulary import MessageKind, RoomEventKind, TurnEnding

HANDED_LINES = 200
EARLIER_LINES = 20


def move_turns_of(room_id: str) -> None:
    """Queue what is first in its line in this room, and withdraw what waits in a closed one; safe at any time."""
    for agent_id in dict.fromkeys(turns_to_move().filter(room=room_id).values_list("agent_id", flat=True)):
        move_turns(room_id, agent_id)


def move_turns(room_id: str, agent_id: int) -> bool:
    """The same for one agent of the room."""
    with agent_step(agent_id) as step:
        record = record_in(step, room_id)
        turns = turns_to_move().filter(room=room_id, agent=agent_id).select_related("message", "execution")
        moved = [_move(step, record, turn) for turn in turns]
    return any(moved)


def _move(step: AgentStep, record: RoomRecord, turn: Turn) -> bool:
    if record.room.closed or step.agent.archived_at is not None or not takes_part(record, step.agent):
        take_back(step, record, turn, TurnEnding.WITHDRAWN)
        return True
    if turn.execution is not None:
        return False
    queue_turn(step, record, turn)
    return True


def queue_turn(step: AgentStep, record: RoomRecord, turn: Turn) -> Execution:
    """Give a turn its execution, which waits for a slot like any other. Its prompt is made when it begins."""
    execution = queue_execution(
        step,
        trigger=Trigger.CHAT,
        prompt=turn.message.text,
        timeout_seconds=step.agent.execution_timeout_seconds,
        room_id=record.room.pk,
        started_by_id=turn.asked_by_id,
        source_agent_id=turn.asked_by_agent_id,
    )
    turn.execution = execution
    step.changes.append(rows.change(Turn, {"pk": turn.pk}, {"execution_id": execution.pk}))  # after its own insert
    record.happened(RoomEventKind.ROOM_TURN)
    return execution


def end_turn(record: RoomRecord, turn: Turn, ending: TurnEnding, **columns: object) -> bool:
    """End a turn once; False when it has ended already."""
    ended = {"ending": ending, "ended_at": record.now, **columns}
    if not Turn.objects.filter(UNENDED, pk=turn.pk).update(**ended):
        return False
    for name, value in ended.items():
        setattr(turn, name, value)
    record.turns_may_move = True
    record.happened(RoomEventKind.ROOM_TURN)
    return True


def take_back(step: AgentStep, record: RoomRecord, turn: Turn, ending: TurnEnding, **columns: object) -> None:
    """End a turn that has not begun, and withdraw its execution if it has one."""
    end_turn(record, turn, ending, **columns)
    if turn.execution is not None:
        turn.execution.agent = step.agent
        withdraw(step, turn.execution)


def turn_of(execution: Execution) -> Turn | None:
    """The turn that this execution carries out; None for a call that belongs to no room."""
    if not execution.room_id:
        return None
    related = ("message", "asked_by")
    return Turn.objects.select_related(*related).defer("message__text").filter(execution=execution.pk).first()


def takes_part(record: RoomRecord, agent: Agent) -> bool:
    """Whether the agent is in the room now."""
    return Participant.objects.filter(TAKES_PART, room=record.room.pk, agent=agent.pk).exists()


# --- the prompt ------------------------------------------------------------------------------------------


def hand_over(step: AgentStep, record: RoomRecord, turn: Turn) -> str:
    """The prompt of a turn that begins now, and the note how far the transcript was handed with it."""
    room, agent = record.room, step.agent
    people = list(Participant.objects.filter(TAKES_PART, room=room.pk).select_related("user", "agent"))
    mine = next((one for one in people if one.agent_id == agent.pk), None)
    seen = mine.last_seen_seq if mine is not None else 0
    message = Message.objects.select_related("user", "agent").get(pk=turn.message_id)
    facts = TurnFacts(
        agent=agent.name,
        title=room.title,
        others=[_described(one) for one in people if one.agent_id != agent.pk and not _from_outside(one.user)],
        outsider_reads=any(_from_outside(one.user) for one in people),
        may_loop=may_loop(turn),
        earlier=_written(_handed(turn, agent).filter(Q(seq__lte=seen) | Q(agent=agent.pk)), EARLIER_LINES),
        unseen=_written(_handed(turn, agent).filter(seq__gt=seen).exclude(agent=agent.pk), HANDED_LINES),
        message=Written(message.seq, _author(message), message.text),
        mark=secrets.token_hex(8),
    )
    Turn.objects.filter(pk=turn.pk).update(handed_seq=room.last_seq)
    turn.handed_seq = room.last_seq
    return turn_prompt(facts)


def may_loop(turn: Turn) -> bool:
    """Whether a loop may be started in this turn: a loop is no client's to ask for (section 7)."""
    return not _from_outside(turn.asked_by)


def _handed(turn: Turn, agent: Agent) -> QuerySet[Message]:
    """What was said, but the message that is answered, and those that this agent answers in a later turn.

    Notices are left out: who is here is told anyway, and they name people from outside.
    """
    later = Turn.objects.filter(UNENDED, room=turn.room_id, agent=agent.pk, pk__gt=turn.pk).values("message")
    messages = Message.objects.filter(room=turn.room_id).exclude(pk=turn.message_id).exclude(pk__in=later)
    return messages.filter(kind__in=(MessageKind.SAID, MessageKind.FAILED)).select_related("user", "agent")


def _written(messages: QuerySet[Message], most: int) -> list[Written]:
    """The newest of these, oldest first; no text is longer than what a prompt can hold of it."""
    newest = messages.defer("text").annotate(begins=Left("text", UNSEEN_CHARACTERS + 1)).order_by("-seq")[:most]
    return [Written(one.seq, _author(one), one.begins) for one in reversed(newest)]


def _author(message: Message) -> str:
    """Who wrote it; of somebody from outside an agent never learns who it is."""
    if message.user is not None:
        return "somebody from outside" if _from_outside(message.user) else message.user.username
    return f"@{message.agent.name}" if message.agent is not None else "the room"


def _described(participant: Participant) -> str:
    return f"@{participant.name} (an agent)" if participant.agent_id is not None else participant.name


def _from_outside(user: object) -> bool:
    return isinstance(user, User) and user.kind == UserKind.CLIENT
