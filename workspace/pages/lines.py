"""The transcript's lines as plain values: what was said as safe HTML, cards of loops; makes no query."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from accounts.viewers import Viewer
from executions.models import Execution
from trinity.kernel.durations import milliseconds_text
from trinity.kernel.money import dollars_text
from trinity.markdown import markdown_html
from workspace.models import Message
from workspace.pages.loop_rows import RailRow
from workspace.queries import Line, Seat
from workspace.vocabulary import MessageKind

FIRST_CHARACTERS = 20_000  # of one message; markdown of more costs seconds
NOBODY = "somebody"  # whose account is gone


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line of the transcript."""

    number: int
    kind: str
    author: str
    by_agent: bool
    mine: bool
    at: dt.datetime
    html: SafeString | str
    characters: int
    cut: bool
    card: RailRow | None = None
    execution_id: str = ""  # for members that may see its page
    facts: str = ""  # how long it took and what it cost; for members
    may_retry: bool = False

    @property
    def mark(self) -> str:
        return self.author[:1]


def shown_lines(
    seat: Seat, lines: Iterable[Line], cards: Mapping[str, RailRow], usable: Collection[int]
) -> list[ShownLine]:
    """Lines as this viewer sees them; one about a loop that they may not see is left out. `usable` are the agents
    whose executions have a page for the viewer."""
    return [_shown_line(seat, one, cards, usable) for one in lines if _shown(one.message, cards)]


def _shown_line(seat: Seat, line: Line, cards: Mapping[str, RailRow], usable: Collection[int]) -> ShownLine:
    message = line.message
    execution = line.turn.execution if line.turn is not None and not seat.outside else None
    return ShownLine(
        number=line.number,
        kind=str(message.kind),
        author=_author(message),
        by_agent=message.agent_id is not None,
        mine=_is_mine(message, seat.viewer),
        at=message.at,
        html=_html(message),
        characters=len(message.text),
        cut=len(message.text) > FIRST_CHARACTERS,
        card=cards.get(message.loop_id or ""),
        execution_id=execution.pk if execution is not None and execution.agent_id in usable else "",
        facts=_facts(execution),
        may_retry=line.may_retry,
    )


def _shown(message: Message, cards: Mapping[str, RailRow]) -> bool:
    return message.kind != MessageKind.LOOP or message.loop_id in cards


def _author(message: Message) -> str:
    if message.agent is not None:
        return message.agent.name
    return message.user.display_name if message.user is not None else NOBODY


def _is_mine(message: Message, viewer: Viewer) -> bool:
    return viewer.user is not None and message.user_id == viewer.user.pk


def _html(message: Message) -> SafeString | str:
    """The room's own lines are text; a person's line ends stay, as they were typed."""
    text = message.text[:FIRST_CHARACTERS]
    if message.kind in (MessageKind.NOTICE, MessageKind.FAILED):
        return text
    return markdown_html(text, breaks=message.user_id is not None)


def _facts(execution: Execution | None) -> str:
    if execution is None or execution.duration_ms is None:
        return ""
    cost = f" · {dollars_text(execution.cost_nano)}" if execution.cost_nano is not None else ""
    return f"{milliseconds_text(execution.duration_ms)}{cost}"
