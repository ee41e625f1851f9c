"""Counts how often actions stand in a row in one lane, in one pass; knows no options, words or verdict."""

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

MOST_CALL_IDS = 100
MOST_GAP_TOOLS = 10


@dataclass(slots=True)
class Gap:
    """Steps of a lane, between two steps of a row, that had no watched call."""

    steps: int = 0
    tools: list[str] = field(default_factory=list)

    def add(self, steps: int, tools: Iterable[str]) -> None:
        self.steps += steps
        for tool in tools:
            if len(self.tools) < MOST_GAP_TOOLS and tool not in self.tools:
                self.tools.append(tool)


class Seen(NamedTuple):
    """One action of one step, or the whole step: what rows need to know of it."""

    step: int  # counts the trajectory's model steps from 1
    tools: tuple[str, ...]
    call_ids: list[str]
    gap: Gap | None  # what lay between this step and the lane's last one with a watched call


@final
class Row:
    """A block of steps that stands again and again with nothing between: period 1 is one action in a row."""

    __slots__ = ("call_ids", "first_step", "gap", "ids_left_out", "lane", "last_step", "retries", "tools")

    def __init__(self, lane: str, block: Sequence[Seen]) -> None:
        first = block[0]
        self.lane = lane
        self.tools = tuple([seen.tools for seen in block])
        self.retries = 0
        self.first_step = self.last_step = first.step
        self.call_ids = first.call_ids[:MOST_CALL_IDS]
        self.ids_left_out = len(first.call_ids) - len(self.call_ids)
        self.gap: Gap | None = None  # what lay before the first step is not of the row
        for seen in block[1:]:
            self.join(seen)

    @property
    def period(self) -> int:
        return len(self.tools)

    def join(self, seen: Seen) -> None:
        """One more step of the row; whoever joins a whole block counts the retry."""
        step, _, call_ids, gap = seen
        self.last_step = step
        if gap is not None:
            self.gap = self.gap or Gap()
            self.gap.add(gap.steps, gap.tools)
        if call_ids:
            room = MOST_CALL_IDS - len(self.call_ids)
            if room:
                self.call_ids += call_ids[:room]
            if len(call_ids) > room:
                self.ids_left_out += len(call_ids) - room


class Cycle:
    """The count of one period above 1: how long each step has equalled the one a period before it."""

    __slots__ = ("_partial", "_row", "period")

    def __init__(self, period: int) -> None:
        self.period = period
        self._row: Row | None = None
        self._partial: list[Seen] = []

    @property
    def begun(self) -> bool:
        return self._row is not None

    def begin(self, lane: str, block: Sequence[Seen]) -> None:
        """A step equals the one a period ago for the first time; `block` is the period before it."""
        self._row = Row(lane, block)

    def equal(self, seen: Seen) -> Row | None:
        """The step equals the one a period ago; the row when that made a block whole."""
        self._partial.append(seen)
        if self._row is None or len(self._partial) < self.period:  # half a block does not count
            return None
        self._row.retries += 1
        for step in self._partial:
            self._row.join(step)
        self._partial.clear()
        return self._row

    def differs(self) -> None:
        """The step ends the row."""
        if self._row is not None:
            self._row = None
            self._partial.clear()


class Lane:
    """One agent's rows: its last step's actions, and the keys of `longest_period` steps when above 1."""

    __slots__ = ("_cycles", "_gap", "_recent", "_rows", "name")

    def __init__(self, name: str, longest_period: int) -> None:
        self.name = name
        self._rows: dict[Hashable, Seen | Row] = {}
        self._gap: Gap | None = None
        self._cycles = [Cycle(period) for period in range(2, longest_period + 1)]
        self._recent: deque[tuple[frozenset[Hashable], Seen] | None] = deque(maxlen=longest_period)

    def rest(self, tools: Iterable[str]) -> None:
        """A step without a watched call: it neither counts nor breaks."""
        self._gap = self._gap or Gap()
        self._gap.add(1, tools)

    def take_gap(self) -> Gap | None:
        """What lay before the step that comes now; the next gap starts after it."""
        gap, self._gap = self._gap, None
        return gap

    def advance(self, actions: dict[Hashable, Seen | Row], whole: Seen | None = None) -> list[Row]:
        """A step with watched calls: `actions` has each of its actions once, and is the lane's from now on.

        `whole` is the step as cycles compare it; None when it had a call that equals nothing, or when there
        are no cycles to count. Answers the rows that grew.
        """
        grown = self._advance_cycles(frozenset(actions), whole) if self._cycles else []
        before = self._rows
        for key, seen in actions.items():
            earlier = before.get(key)
            if earlier is None or type(seen) is Row:
                continue
            row = earlier if type(earlier) is Row else Row(self.name, (earlier,))
            row.retries += 1
            row.join(seen)
            actions[key] = row
            grown.append(row)
        self._rows = actions
        return grown

    def _advance_cycles(self, keys: frozenset[Hashable], whole: Seen | None) -> list[Row]:
        hash(keys)  # the set keeps it: unequal sets are then told apart without looking into them
        grown = []
        for cycle in self._cycles:
            row = None if whole is None else self._advance_cycle(cycle, keys, whole)
            if whole is None:
                cycle.differs()
            elif row is not None:
                grown.append(row)
        self._recent.append(None if whole is None else (keys, whole))
        return grown

    def _advance_cycle(self, cycle: Cycle, keys: frozenset[Hashable], whole: Seen) -> Row | None:
        earlier = self._recent[-cycle.period] if len(self._recent) >= cycle.period else None
        if earlier is None or earlier[0] != keys:
            cycle.differs()
            return None
        if not cycle.begun:
            block = list(self._recent)[-cycle.period :]
            cycle.begin(self.name, [step[1] for step in block if step is not None])
        return cycle.equal(whole)
