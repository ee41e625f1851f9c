"""Finds whether an agent spun on the same action (section 4, loop-outcome); reads no config, writes no words.

The rules that decide the hard cases stand here and in `graders.rows`: a key goes on when the lane's next
step with a watched call has it too; the longest row counts, never a sum; recovery does not erase a loop.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graders.equality import canonical
from graders.kind import Ending
from graders.patterns import tool_filter
from graders.rows import Gap, Lane, Row, Seen
from graders.trajectory import MISSING, Call, Step
from graders.vocabulary import EndReason, Match, Signal

_NO_ARGUMENTS = canonical({})


def _name_args_key(call: Call) -> Hashable:
    return (call.tool, _NO_ARGUMENTS if call.args is None else canonical(call.args))


def _name_key(call: Call) -> Hashable:
    return call.tool


def _observation_key(call: Call) -> Hashable | None:
    """None when no result was recorded: it equals nothing and ends the row."""
    return None if call.result is MISSING else (call.tool, call.is_error, canonical(call.result))


_KEYS: dict[Match, Callable[[Call], Hashable | None]] = {
    Match.NAME_ARGS: _name_args_key,
    Match.NAME: _name_key,
    Match.OBSERVATION: _observation_key,
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was observed in one trajectory, before it is compared with what was expected."""

    retries: int
    signals: tuple[Signal, ...]
    longest: Row | None  # None when nothing was repeated
    steps: int
    watched_calls: int
    unwatched_calls: int
    missing_results: int  # watched calls of which no result was recorded

    @property
    def looped(self) -> bool:
        return bool(self.signals)


class LoopDetector:
    """Counts in one pass; memory is bounded by the lanes and the steps that are still compared."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._limit: int = options["max_acceptable_retries"]
        self._key_of = _KEYS[Match(options["match"])]
        self._watches = tool_filter(options["tools"]) if options["tools"] is not None else None
        self._longest_period: int = options["max_cycle_period"]
        self._lanes: dict[str, Lane] = {}
        self._longest: Row | None = None
        self._retries = 0
        self._steps = self._watched = self._unwatched = self._missing = 0

    def see(self, step: Step) -> None:
        """Count one model step; its calls may be of several lanes."""
        self._steps += 1
        calls = step.calls
        if not calls:
            self._lane(step.lane).rest(())
        elif len(calls) == 1 or len({call.lane for call in calls}) == 1:
            self._see_lane(calls[0].lane, calls)
        else:
            by_lane: dict[str, list[Call]] = {}
            for call in calls:
                by_lane.setdefault(call.lane, []).append(call)
            for lane, own_calls in by_lane.items():
                self._see_lane(lane, own_calls)

    def findings(self, ending: Ending) -> Findings:
        """What was observed; the cap knows no match, no tools and no limit."""
        signals = []
        if self._retries > self._limit:
            signals.append(Signal.RETRIES)
        if ending.end_reason == EndReason.SIMULATION_CAP:
            signals.append(Signal.CAP)
        return Findings(
            retries=self._retries,
            signals=tuple(signals),
            longest=self._longest,
            steps=self._steps,
            watched_calls=self._watched,
            unwatched_calls=self._unwatched,
            missing_results=self._missing,
        )

    def _lane(self, name: str) -> Lane:
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = Lane(name, self._longest_period)
        return lane

    def _see_lane(self, name: str, calls: Sequence[Call]) -> None:
        lane = self._lanes.get(name) or self._lane(name)
        watched = calls
        if self._watches is not None:
            watched = [call for call in calls if self._watches(call.tool)]
            self._unwatched += len(calls) - len(watched)
        if not watched:
            lane.rest([call.tool for call in calls])
            return
        self._watched += len(watched)
        gap = lane.take_gap()
        actions, comparable = self._actions_of(watched, gap)
        whole = self._whole_step(watched, gap) if comparable and self._longest_period > 1 else None
        for row in lane.advance(actions, whole):
            if row.retries >= self._retries:
                self._weigh(row)

    def _actions_of(self, watched: Sequence[Call], gap: Gap | None) -> tuple[dict[Hashable, Seen | Row], bool]:
        """Each action once, with the ids of all the calls that are it; False when a call equals nothing."""
        actions: dict[Hashable, Seen | Row] = {}
        comparable = True
        for call in watched:
            if call.result is MISSING:
                self._missing += 1
            key = self._key_of(call)
            if key is None:
                comparable = False
                continue
            seen = actions.get(key)
            if seen is None:
                seen = actions[key] = Seen(self._steps, (call.tool,), [], gap)
            if call.id is not None:
                seen.call_ids.append(call.id)
        return actions, comparable

    def _whole_step(self, watched: Sequence[Call], gap: Gap | None) -> Seen:
        tools = sorted({call.tool for call in watched})
        return Seen(self._steps, tuple(tools), [call.id for call in watched if call.id is not None], gap)

    def _weigh(self, row: Row) -> None:
        if row.retries > self._retries or self._ties_lower(row):
            self._retries, self._longest = row.retries, row

    def _ties_lower(self, row: Row) -> bool:
        """Of actions that a step repeats equally often the same one is named, whatever their order in it."""
        longest = self._longest
        return longest is not None and (
            (row.last_step, row.period, row.first_step) == (longest.last_step, longest.period, longest.first_step)
            and row.lane == longest.lane
            and row.tools < longest.tools
        )
