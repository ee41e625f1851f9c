"""Imports Vally's trajectory events: an object with `events`, a list of them, or one on each line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from graders.importers import base
from graders.importers.open_steps import OpenSteps
from graders.trajectory import MISSING, Call, Step, Trajectory

_EVENTS: Final = (
    "tool_call",
    "tool_result",
    "turn_start",
    "turn_end",
    "assistant_message",
    "user_message",
    "reasoning",
    "token_usage",
    "skill_activation",
    "error",
)


class VallyImporter(base.Importer):
    """A turn is one step. Where none were recorded, a call after a result or a text begins a step."""

    title = "Vally trajectory events"
    row_name = "event"
    array_key = "events"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return row.get("type") in _EVENTS and isinstance(row.get("data"), Mapping)

    def member(self, key: str, value: object, trajectory: Trajectory) -> None:
        if key == "endReason":
            trajectory.end_reason = base.optional_text(value, "endReason")
        elif key == "metadata" and isinstance(value, Mapping) and "endReason" in value:
            trajectory.end_reason = base.optional_text(value["endReason"], "metadata.endReason")
        elif key == "stimulus" and isinstance(value, Mapping):
            trajectory.max_iterations = base.iterations(value.get("simulation"), "stimulus.simulation")

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        reader = _VallyReader()
        for row in rows:
            event = base.mapping(row, "an event")
            kind = base.text(event.get("type"), "type")
            facts = base.mapping(event.get("data") or {}, "data")
            yield from reader.read(kind, facts)
        yield from reader.rest()


class _VallyReader:
    def __init__(self) -> None:
        self._open = OpenSteps()
        self._turn_of_lane: dict[str, int] = {}
        self._begun = 0

    def read(self, kind: str, facts: Mapping[str, Any]) -> Iterator[Step]:
        lane = base.lane_of(facts.get("agentId", facts.get("parentToolCallId")), "agentId")
        match kind:
            case "turn_start":
                self._begun += 1
                self._turn_of_lane[lane] = self._begun
                yield from self._open.begin(lane, self._begun)
            case "turn_end" | "assistant_message" if kind == "turn_end" or lane not in self._turn_of_lane:
                self._turn_of_lane.pop(lane, None)
                self._open.finish(lane)
            case "tool_call":
                yield from self._issue(facts, lane)
            case "tool_result":
                call_id = base.call_id(facts.get("toolCallId"), "data.toolCallId")
                result = facts.get("result", facts.get("error", MISSING))
                self._open.settle(call_id, result, facts.get("success") is False)

    def rest(self) -> Iterator[Step]:
        return self._open.close_all()

    def _issue(self, facts: Mapping[str, Any], lane: str) -> Iterator[Step]:
        if lane not in self._turn_of_lane and not self._open.waits(lane):
            self._begun += 1
            yield from self._open.begin(lane, self._begun)
        # Some executors write `name` where Vally's own write `toolName`.
        tool = base.text(facts.get("toolName", facts.get("name")), "data.toolName")
        call_id = base.call_id(facts.get("toolCallId"), "data.toolCallId")
        self._open.issue(Call(tool, base.decoded(facts.get("arguments")), MISSING, False, call_id, lane))


IMPORTER = VallyImporter()
