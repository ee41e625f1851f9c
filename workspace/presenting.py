"""Rooms as REST shows them: plain functions from values to JSON; reads no row by itself.

A client's answer is made apart and holds no member that a loop, a cost or somebody's run has a name in.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from accounts.presenting import actor_body
from executions.presenting import wait_body
from loops.presenting import words_body
from trinity.kernel.clock import wire_time
from trinity.kernel.money import to_dollars
from workspace.models import Message, Participant
from workspace.queries import Line, Page, Seat
from workspace.rail import Card, Work, WorkRow
from workspace.underway import ShownTurn
from workspace.vocabulary import MessageKind, ParticipantKind
from workspace.words import closed_text


def room_body(seat: Seat) -> dict[str, Any]:
    """A room in a list."""
    room = seat.room
    body = {
        "room_id": room.pk,
        "title": room.title,
        "closed": room.closed,
        "closed_because": closed_text(room, outside=seat.outside) or None,
        "version": seat.version,
        "last_seq": seat.last_seq,
        "unread": seat.unread,
        "starred": seat.mine.starred,
        "created_at": wire_time(room.created_at),
        "last_message_at": wire_time(room.last_message_at),
    }
    if seat.outside:
        return body
    return body | {
        "manages": seat.manages,
        "max_messages": room.max_messages,
        "max_cost_usd": to_dollars(room.max_cost_nano),
        "idle_hours": room.idle_hours,
        "closes_at": wire_time(room.closes_at) if not room.closed else None,
    }


def room_detail(
    seat: Seat,
    participants: Iterable[Participant],
    turns: Iterable[ShownTurn],
    page: Page,
    cards: Mapping[str, Card],
) -> dict[str, Any]:
    """A room with who takes part, what is under way, and a piece of its transcript."""
    return room_body(seat) | {
        "participants": [participant_body(one) for one in participants],
        "turns": [turn_body(one) for one in turns],
        "messages": [message_body(seat, line, cards) for line in page.lines],
        "older": page.older,
    }


def participant_body(participant: Participant) -> dict[str, Any]:
    """Who takes part: a person or an agent."""
    kind = ParticipantKind.AGENT if participant.agent_id is not None else ParticipantKind.PERSON
    return {"kind": str(kind), "name": participant.name, "since": wire_time(participant.added_at)}


def turn_body(turn: ShownTurn) -> dict[str, Any]:
    """An agent's turn that waits or goes on."""
    return {
        "turn_id": turn.id,
        "agent_name": turn.agent_name,
        "answers": turn.number,
        "state": str(turn.state),
        "words": turn.words,
        "cancellable": turn.cancellable,
    }


def message_body(seat: Seat, line: Line, cards: Mapping[str, Card]) -> dict[str, Any]:
    """One message as this viewer sees it."""
    message = line.message
    body = {
        "seq": line.number,
        "kind": str(message.kind),
        "author": actor_body(message.user, message.agent.name if message.agent is not None else None),
        "text": text_for(seat, message),
        "at": wire_time(message.at),
        "may_retry": line.may_retry,
    }
    if seat.outside:
        return body
    card = cards.get(message.loop_id or "")
    return body | {
        "members_only": message.members_only,
        "execution_id": line.turn.execution_id if line.turn is not None else None,
        "loop": card_body(seat, card) if card is not None else None,
    }


def text_for(seat: Seat, message: Message) -> str:
    """What a message says to this viewer: why a run failed may tell of a server's inside, which is no client's."""
    if seat.outside and message.kind == MessageKind.FAILED:
        return f"@{message.agent.name if message.agent is not None else ''} could not answer."
    return message.text


def card_body(seat: Seat, card: Card) -> dict[str, Any]:
    """A loop's card in the transcript, with its state as it is now."""
    loop = card.loop
    return {
        "loop_id": loop.pk,
        "agent_name": loop.agent.name,
        "title": loop.title,
        "status": str(loop.status),
        "words": words_body(loop, card.standing, seat.viewer),
        "version": loop.version,
        "run_number": card.standing.run_number or loop.runs_completed,
        "max_runs": loop.max_runs,
        "failed_runs": loop.failed_runs,
    }


def posted_body(seat: Seat, message: Message) -> dict[str, Any]:
    """What a message is answered that was just posted."""
    number = message.public_seq if seat.outside else message.seq
    return {"room_id": message.room_id, "seq": number, "at": wire_time(message.at)}


def work_body(work: Work) -> dict[str, Any]:
    """The Work tab."""
    return {
        "now": [_work_row(one) for one in work.now],
        "earlier": [_work_row(one) for one in work.earlier],
        "hidden": work.hidden,
    }


def _work_row(row: WorkRow) -> dict[str, Any]:
    return {
        "execution_id": row.execution.pk,
        "agent_name": row.execution.agent.name,
        "title": row.title,
        "kind": str(row.kind),
        "kind_words": row.kind_words,
        "outcome": str(row.outcome),
        "outcome_words": row.outcome_words,
        "waiting": wait_body(row.wait),
        "loop_id": row.execution.loop_id or None,
        "run_number": row.execution.run_number,
        "cost_usd": to_dollars(row.execution.cost_nano),
        "duration_ms": row.execution.duration_ms,
        "queued_at": wire_time(row.execution.queued_at),
        "completed_at": wire_time(row.execution.ended_at),
    }
