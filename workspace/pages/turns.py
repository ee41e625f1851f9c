"""What goes on in a room right now: a line for each turn that waits or works; writes nothing."""

import datetime as dt
from dataclasses import dataclass

from executions.waiting import Wait, waits_of
from workspace.models import Turn
from workspace.queries import Seat, unended_turns
from workspace.vocabulary import TurnState
from workspace.words import state_of, state_text, state_text_outside


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn; `words` go on after the agent's name."""

    id: int
    agent_name: str
    words: str
    works: bool
    since: dt.datetime | None
    cancellable: bool


def shown_turns(seat: Seat, now: dt.datetime) -> list[ShownTurn]:
    """The room's unended turns, oldest first, in two queries."""
    turns = list(unended_turns(seat.room.pk))
    waits = waits_of([turn.execution for turn in turns if turn.execution is not None], now)
    return [_shown(seat, turn, waits.get(turn.execution_id or "")) for turn in turns]


def _shown(seat: Seat, turn: Turn, wait: Wait | None) -> ShownTurn:
    state = state_of(turn, wait)
    execution = turn.execution
    activity = execution.activity if execution is not None else ""
    works = state is TurnState.WORKING
    return ShownTurn(
        id=turn.pk,
        agent_name=turn.agent.name,
        words=state_text_outside(state) if seat.outside else state_text(state, wait, activity),
        works=works,
        since=execution.started_at if works and execution is not None else None,
        cancellable=not works and seat.viewer.user is not None and turn.asked_by_id == seat.viewer.user.pk,
    )
