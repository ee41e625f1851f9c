"""The rail as plain values: Work and Loops of a room, and what it signals while it is shut; writes nothing."""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from accounts.viewers import Viewer
from agents.models import Agent
from agents.queries import usable_agents
from executions.listing import category_class
from executions.vocabulary import CATEGORY_OF, Trigger
from loops.board import newest, slim
from loops.models import Loop
from loops.standing import standings_of
from trinity.kernel.clock import wire_time
from trinity.kernel.money import dollars_text
from trinity.kernel.vocabulary import Tone
from workspace.pages.loop_rows import Group, RailRow, grouped, newest_end, rail_rows
from workspace.queries import Seat
from workspace.rail import WorkRow, agents_in, room_executions, room_loops

LISTED = 50  # loops of a room; every active one besides


@dataclass(frozen=True, slots=True)
class Opened:
    """Which lists the reader asked for whole."""

    works: bool = False
    loops: bool = False

    @classmethod
    def of(cls, query: QueryDict) -> "Opened":
        return cls(works="all" in query.getlist("works"), loops="all" in query.getlist("loops"))

    def pairs(self) -> list[tuple[str, str]]:
        return [(name, "all") for name, opened in (("works", self.works), ("loops", self.loops)) if opened]

    @property
    def with_works(self) -> str:
        return f"?{urlencode(replace(self, works=True).pairs())}"

    @property
    def with_loops(self) -> str:
        return f"?{urlencode(replace(self, loops=True).pairs())}"


@dataclass(frozen=True, slots=True)
class ShownWork:
    """One execution in the Work tab."""

    id: str
    agent_name: str
    title: str
    kind: str
    category_class: str
    words: str
    tone: Tone
    works: bool
    note: str  # what it waits for, or does
    loop_id: str
    run_number: int | None
    at: dt.datetime
    since: dt.datetime | None
    duration_ms: int | None
    cost: str
    has_page: bool


@dataclass(frozen=True, slots=True)
class Rail:
    """Both tabs."""

    now: list[ShownWork]
    earlier: list[ShownWork]
    works_hidden: int
    groups: list[Group]
    running: int  # loops that are active
    newest_work: str  # when the last one ended, as the wire tells times; blank: none has
    newest_loop: str
    opened: Opened
    startable: bool

    @property
    def active(self) -> bool:
        """Whether something goes on by itself, so that an open page asks again."""
        return bool(self.now or self.running)

    @property
    def works_all(self) -> int:
        return len(self.earlier) + self.works_hidden

    @property
    def has_loops(self) -> bool:
        return any(group.rows for group in self.groups)


def rail_of(seat: Seat, opened: Opened, now: dt.datetime) -> Rail:
    """The rail of a member's room. Refused (not found) to clients."""
    work = room_executions(seat, now, all_earlier=opened.works)
    agents = agents_in(seat)
    usable = usable_ids(seat.viewer)
    rows = rows_of(seat, newest(room_loops(seat), LISTED), now, usable)
    ends = [one.execution.ended_at for one in work.earlier if one.execution.ended_at]
    return Rail(
        now=[_shown(one, usable) for one in work.now],
        earlier=[_shown(one, usable) for one in work.earlier],
        works_hidden=work.hidden,
        groups=grouped([one.name for one in agents], rows, all_ended=opened.loops),
        running=sum(one.row.active for one in rows),
        newest_work=wire_time(max(ends, default=None)) or "",
        newest_loop=wire_time(newest_end(rows)) or "",
        opened=opened,
        startable=startable(agents),
    )


def rows_of(seat: Seat, loops: Sequence[Loop], now: dt.datetime, usable: Collection[int]) -> list[RailRow]:
    """Rows of the room's loops, in two queries."""
    return rail_rows(seat.viewer, loops, standings_of(loops, now), now, usable)


def cards_in(seat: Seat, loop_ids: Iterable[str], now: dt.datetime) -> dict[str, RailRow]:
    """The rows of those of these loops that the viewer may see, by id; none for a client."""
    ids = [one for one in loop_ids if one]
    if seat.outside or not ids:
        return {}
    loops = list(slim(room_loops(seat)).filter(pk__in=ids))
    return {one.row.id: one for one in rows_of(seat, loops, now, usable_ids(seat.viewer))}


def usable_ids(viewer: Viewer) -> frozenset[int]:
    """The agents whose own pages the viewer may see; who takes part without access sees their work here only."""
    return frozenset(usable_agents(viewer).values_list("pk", flat=True))


def startable(agents: Iterable[Agent]) -> bool:
    """Whether a loop can be started on at least one of them."""
    return any(one.running for one in agents)


def _shown(work: WorkRow, usable: Collection[int]) -> ShownWork:
    execution = work.execution
    return ShownWork(
        id=execution.pk,
        agent_name=execution.agent.name,
        title=work.title,
        kind=work.kind_words,
        category_class=category_class(CATEGORY_OF[Trigger(execution.trigger)]),
        words=work.outcome_words,
        tone=work.tone,
        works=execution.in_flight,
        note=_note(work),
        loop_id=execution.loop_id,
        run_number=execution.run_number,
        at=execution.queued_at,
        since=execution.started_at if execution.in_flight else None,
        duration_ms=execution.duration_ms,
        cost=dollars_text(execution.cost_nano),
        has_page=execution.agent_id in usable,
    )


def _note(work: WorkRow) -> str:
    """What goes on beside its outcome word, which is not said twice."""
    if work.wait is not None:
        return work.wait.words.removeprefix(work.outcome_words.lower()).lstrip(", ")
    return work.execution.activity if work.execution.in_flight else ""
