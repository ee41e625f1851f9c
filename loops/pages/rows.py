"""One loop as a row of a list: plain values for the template; decides nothing and makes no query."""

import datetime as dt
from dataclasses import dataclass

from loops.board import title_of
from loops.models import Loop
from loops.pages.shown import Shown
from loops.sentences import Line, doing_now, note
from loops.standing import Standing
from loops.words import loop_words
from trinity.kernel.money import dollars_text
from trinity.kernel.vocabulary import Tone


@dataclass(frozen=True, slots=True)
class Row:
    """What one line of a list of loops shows."""

    id: str
    agent_name: str
    title: str
    version: int
    status: str
    badge: str
    tone: Tone
    reason: str
    active: bool
    pulses: bool
    in_line: bool  # its run waits, for a place that others move, too
    number: int  # the run in flight, else the runs completed
    max_runs: int
    failed_runs: int
    note: Line | None
    doing: Line | None
    began_at: dt.datetime | None
    ended_at: dt.datetime | None
    created_at: dt.datetime
    cost: str
    stop_requested: bool
    abandons: str  # the execution that its owner may abandon now, if any

    @property
    def stoppable(self) -> bool:
        return self.active and not self.stop_requested

    @property
    def says(self) -> str:
        """What the live region speaks when the status changes."""
        return f"{self.title}: {self.badge}" + (f", {self.reason}" if self.reason else "")


def row_of(loop: Loop, standing: Standing, *, owned: bool) -> Row:
    """The row of a loop; `owned` says whether the reader may abandon a run of it."""
    words = loop_words(loop.status, loop.stop_reason)
    number = standing.run_number
    return Row(
        id=loop.pk,
        agent_name=loop.agent.name,
        title=title_of(loop),
        version=loop.version,
        status=loop.status,
        badge=words.badge,
        tone=words.tone,
        reason=words.reason,
        active=not loop.ended,
        pulses=number is not None,
        in_line=standing.wait is not None,
        number=number if number is not None else loop.runs_completed,
        max_runs=loop.max_runs,
        failed_runs=loop.failed_runs,
        note=note(standing),
        doing=None if loop.ended else doing_now(loop, standing),
        began_at=loop.started_at,
        ended_at=loop.completed_at,
        created_at=loop.created_at,
        cost=dollars_text(loop.spent_nano or None),
        stop_requested=loop.stop_requested,
        abandons=_abandoned_by_owner(standing) if owned else "",
    )


def _abandoned_by_owner(standing: Standing) -> str:
    """Only after a stop was asked for: a run that is merely slow ends by its timeout."""
    execution = standing.execution
    if execution is None or not execution.in_flight or not standing.stop_requested:
        return ""
    return "" if execution.abandon_requested_at else execution.pk


@dataclass(frozen=True, slots=True)
class Card:
    """A row with what is open in it; `inside` is an `opened.Inside` when it is open."""

    row: Row
    shown: Shown
    inside: object | None = None

    @property
    def open(self) -> bool:
        return self.inside is not None

    @property
    def toggle(self) -> str:
        """The query of the card with this loop closed or opened."""
        return (Shown() if self.open else Shown(open=frozenset({self.row.id}))).query()
