"""The rail's Loops tab as plain values: rows in the Workspace's words, grouped by agent; makes no query."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from accounts.viewers import Viewer
from loops.bars import Bar, bars_of
from loops.models import Loop
from loops.pages.opened import stopped_by
from loops.pages.rows import Row, row_of
from loops.presenting import words_body
from loops.sentences import why_ended
from loops.standing import Standing

FIRST_ENDED = 3  # of each agent, until all are asked for


@dataclass(frozen=True, slots=True)
class RailRow:
    """One loop as a person in the room reads it."""

    row: Row
    words: str  # section 2's table, column "Workspace"
    why: str  # with the number that decided it; blank while it is active
    bars: Sequence[Bar]  # how much of each guardrail is used; none once it has ended
    has_page: bool  # whether its own page may be seen

    @property
    def says(self) -> str:
        """What the live region speaks when the status changes."""
        return f"{self.row.title}: {self.words}"


@dataclass(frozen=True, slots=True)
class Group:
    """The loops of one agent; one that has none still has its line."""

    agent_name: str
    active: int
    rows: Sequence[RailRow]
    hidden: int  # ended ones that are not listed yet

    @property
    def signal(self) -> str:
        return f"{self.active} running" if self.active else "nothing in flight"


def rail_row(viewer: Viewer, loop: Loop, standing: Standing, now: dt.datetime, *, has_page: bool) -> RailRow:
    """The row of a loop of the viewer's room; whom it was stopped by must be loaded."""
    return RailRow(
        row=row_of(loop, standing, owned=False),
        words=words_body(loop, standing, viewer)["workspace"],
        why=why_ended(loop, stopped_by(loop)) if loop.ended else "",
        bars=() if loop.ended else bars_of(loop, now),
        has_page=has_page,
    )


def grouped(names: Iterable[str], rows: Iterable[RailRow], *, all_ended: bool) -> list[Group]:
    """Rows by agent: those who take part first, in their order; then others whose loops belong to the room."""
    by_agent: dict[str, list[RailRow]] = {name: [] for name in names}
    for one in rows:
        by_agent.setdefault(one.row.agent_name, []).append(one)
    return [_group(name, found, all_ended=all_ended) for name, found in by_agent.items()]


def _group(name: str, rows: Sequence[RailRow], *, all_ended: bool) -> Group:
    active = [one for one in rows if one.row.active]
    ended = [one for one in rows if not one.row.active]
    shown = ended if all_ended else ended[:FIRST_ENDED]
    return Group(name, len(active), [*active, *shown], len(ended) - len(shown))


def newest_end(rows: Iterable[RailRow]) -> dt.datetime | None:
    """When the last of these ended: what a browser compares with what its reader has seen."""
    return max((one.row.ended_at for one in rows if one.row.ended_at), default=None)


def rail_rows(
    viewer: Viewer,
    loops: Iterable[Loop],
    standings: Mapping[str, Standing],
    now: dt.datetime,
    usable: Collection[int],
) -> list[RailRow]:
    """A row for each loop; `usable` are the agents that the viewer has access to."""
    return [
        rail_row(viewer, loop, standings[loop.pk], now, has_page=loop.agent_id in usable or _started_by(loop, viewer))
        for loop in loops
    ]


def _started_by(loop: Loop, viewer: Viewer) -> bool:
    return viewer.user is not None and loop.started_by_id == viewer.user.pk
