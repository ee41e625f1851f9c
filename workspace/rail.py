"""What stands in a room's rail, for members: its agents' executions (Work) and its loops; writes nothing.

An outsider has no rail: every read here is refused to a client as if it did not exist.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import usable_agents
from executions.models import Execution
from executions.queries import visible_executions
from executions.vocabulary import UNENDED
from executions.waiting import Wait, waits_of
from loops.models import Loop
from loops.queries import loops_with_people
from loops.standing import Standing, standings_of
from trinity.kernel.partial import is_named
from trinity.kernel.text import first_line
from trinity.kernel.vocabulary import Tone
from workspace.models import Turn
from workspace.queries import Line, Seat, participants_in, room_not_found
from workspace.vocabulary import WORK_TONES, WorkKind, WorkOutcome
from workspace.words import kind_of, kind_text, outcome_of, outcome_text

EARLIER_DAYS = 30
FIRST_EARLIER = 3  # until all are asked for
MOST_EARLIER = 200


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One execution in the Work tab."""

    execution: Execution
    title: str  # how the message that woke it, or its prompt, begins
    kind: WorkKind
    kind_words: str  # "You asked", or "Asked by bob"
    outcome: WorkOutcome
    outcome_words: str  # "Stopped by you"
    tone: Tone
    wait: Wait | None


@dataclass(frozen=True, slots=True)
class Work:
    """The Work tab: what waits or goes on, and what ended within 30 days, newest first."""

    now: tuple[WorkRow, ...]
    earlier: tuple[WorkRow, ...]
    hidden: int  # ended ones that are not listed


def room_executions(seat: Seat, at: dt.datetime, *, all_earlier: bool = False) -> Work:
    """Each execution that belongs to the room, in five queries at most. Refused (not found) to clients.

    A person who takes part sees them all; an agent those of agents that it may call.
    """
    refuse_outsiders(seat)
    mine = _executions(seat)
    now = list(mine.filter(status__in=UNENDED))
    since = at - dt.timedelta(days=EARLIER_DAYS)
    ended = mine.exclude(status__in=UNENDED).filter(queued_at__gte=since)
    earlier = list(ended[: MOST_EARLIER if all_earlier else FIRST_EARLIER])
    hidden = 0 if all_earlier else max(0, ended.order_by().count() - len(earlier))
    rows = _rows(seat, [*now, *earlier], at)
    return Work(tuple(rows[: len(now)]), tuple(rows[len(now) :]), hidden)


def room_loops(seat: Seat) -> QuerySet[Loop]:
    """The room's loops, newest first: those started from it, and those of its agents that the viewer has access to.

    Refused (not found) to clients.
    """
    refuse_outsiders(seat)
    taking_part = seat.room.participants.filter(removed_at=None, agent__isnull=False).values("agent")
    seen = Q(is_named("room_id"), room_id=seat.room.pk)
    if seat.viewer.is_person:
        seen |= Q(agent__in=taking_part) & _usable(seat.viewer)
        return loops_with_people().filter(seen)
    return loops_with_people().filter(seen | Q(agent__in=taking_part)).filter(_usable(seat.viewer))


@dataclass(frozen=True, slots=True)
class Card:
    """A loop's card in the transcript: the loop and what it is doing now."""

    loop: Loop
    standing: Standing


def cards_of(seat: Seat, lines: Iterable[Line], at: dt.datetime) -> dict[str, Card]:
    """The cards among these messages by loop id, in three queries at most, and none when there is no card.

    Whoever takes part sees the state of a loop that was started here, also without access to its agent.
    """
    ids = {one.message.loop_id for one in lines if one.message.loop_id}
    if not ids or seat.outside:
        return {}
    loops = list(loops_with_people().filter(pk__in=ids))
    standings = standings_of(loops, at)
    return {loop.pk: Card(loop, standings[loop.pk]) for loop in loops}


def agents_in(seat: Seat) -> list[Agent]:
    """The agents that take part, in the order in which they came: the groups of the Loops tab."""
    return [one.agent for one in participants_in(seat.room.pk) if one.agent is not None]


def usable_agents_in(seat: Seat) -> set[int]:
    """The ids of the agents that take part and that the viewer has access to: none for a client."""
    here = seat.room.participants.filter(removed_at=None, agent__isnull=False).values("agent")
    return set(usable_agents(seat.viewer).filter(pk__in=here).values_list("pk", flat=True))


def refuse_outsiders(seat: Seat) -> None:
    """To a client the rail does not exist."""
    if seat.outside:
        raise room_not_found(seat.room.pk)


def _usable(viewer: Viewer) -> Q:
    return Q() if viewer.is_admin else Q(agent__in=usable_agents(viewer).values("pk"))


def _executions(seat: Seat) -> QuerySet[Execution]:
    found = Execution.objects if seat.viewer.is_person else visible_executions(seat.viewer)
    return (
        found.filter(is_named("room_id"), room_id=seat.room.pk)
        .select_related("agent", "started_by", "source_agent")
        .defer("prompt", "response", "allowed_tools")
        .annotate(prompt_begins=Substr("prompt", 1, 400))
        .order_by("-queued_at", "-id")
    )


def _rows(seat: Seat, executions: Sequence[Execution], at: dt.datetime) -> list[WorkRow]:
    waits = waits_of(executions, at)
    ids = [one.pk for one in executions]
    turns = Turn.objects.filter(execution__in=ids).select_related("asked_by", "asked_by_agent", "cancelled_by")
    by_execution = {turn.execution_id: turn for turn in turns.annotate(asked=Substr("message__text", 1, 400))}
    loops = {one.pk: one for one in loops_with_people().filter(pk__in={one.loop_id for one in executions} - {""})}
    return [_row(seat, one, by_execution.get(one.pk), loops.get(one.loop_id), waits.get(one.pk)) for one in executions]


def _row(seat: Seat, execution: Execution, turn: Turn | None, loop: Loop | None, wait: Wait | None) -> WorkRow:
    kind = kind_of(execution, turn)
    outcome = outcome_of(execution, wait)
    begins = turn.asked if turn is not None else execution.prompt_begins  # type: ignore[attr-defined]
    stopped_by = turn.cancelled_by if turn is not None else loop.stop_requested_by if loop is not None else None
    return WorkRow(
        execution=execution,
        title=first_line(begins) or "untitled",
        kind=kind,
        kind_words=kind_text(kind, turn, seat.viewer),
        outcome=outcome,
        outcome_words=outcome_text(outcome, stopped_by, seat.viewer),
        tone=WORK_TONES[outcome],
        wait=wait,
    )
