"""What a room says of turns that wait or go on, as plain values for pages and REST; moves nothing."""

import datetime as dt
from dataclasses import dataclass

from executions.waiting import Wait, waits_of
from workspace.models import Turn
from workspace.queries import Seat, unended_turns
from workspace.vocabulary import TurnState
from workspace.words import state_of, state_text, state_text_outside


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn: "@scribe: waiting for a slot, 2nd in line"."""

    id: int
    agent_name: str
    number: int | None  # the message that it answers, as this viewer counts
    state: TurnState
    words: str
    cancellable: bool
    since: dt.datetime | None  # it has worked from here on


def shown_turns(seat: Seat, at: dt.datetime) -> list[ShownTurn]:
    """The room's turns that have not ended, oldest first, in two queries. An outsider is told the state alone."""
    turns = list(unended_turns(seat.room.pk))
    waits = waits_of([turn.execution for turn in turns if turn.execution is not None], at)
    return [_shown(seat, turn, waits.get(turn.execution_id or "")) for turn in turns]


def _shown(seat: Seat, turn: Turn, wait: Wait | None) -> ShownTurn:
    state, execution = state_of(turn, wait), turn.execution
    asked = seat.viewer.user is not None and turn.asked_by_id == seat.viewer.user.pk
    activity = execution.activity if execution is not None else ""
    return ShownTurn(
        id=turn.pk,
        agent_name=turn.agent.name,
        number=turn.message.public_seq if seat.outside else turn.message.seq,
        state=state,
        words=state_text_outside(state) if seat.outside else state_text(state, wait, activity),
        cancellable=state is not TurnState.WORKING and (asked or seat.manages),
        since=execution.started_at if execution is not None and execution.in_flight else None,
    )
