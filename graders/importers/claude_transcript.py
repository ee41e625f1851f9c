"""Imports the transcripts that Claude Code keeps of its sessions (JSONL); follows no link to other files."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graders.importers import base
from graders.importers.claude_messages import ClaudeMessages
from graders.trajectory import MAIN_LANE, Step, Trajectory

# Older clients do not name a sub-agent, but each row names the one before it: so far back can a row point.
ROWS_REMEMBERED = 4096


class ClaudeTranscriptImporter(base.Importer):
    """A lane is a sub-agent's `agentId`, or, where older clients name none, its chain of rows."""

    title = "Claude Code transcript"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return "sessionId" in row or "isSidechain" in row or ("leafUuid" in row and row.get("type") == "summary")

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        messages = ClaudeMessages()
        lanes = _Lanes()
        for row in rows:
            row = base.mapping(row, "the row")
            lane = lanes.of(row)
            if row.get("type") in ("assistant", "user"):
                yield from messages.read(row, lane)
        yield from messages.rest()


class _Lanes:
    def __init__(self) -> None:
        self._lane_of_row: OrderedDict[str, str] = OrderedDict()

    def of(self, row: Mapping[str, Any]) -> str:
        if row.get("isSidechain") is not True:
            return MAIN_LANE
        agent = base.optional_text(row.get("agentId"), "agentId")
        if agent:
            return agent
        parent, own = row.get("parentUuid"), base.text(row.get("uuid"), "uuid")
        lane = self._lane_of_row.get(parent, own) if isinstance(parent, str) else own
        self._lane_of_row[own] = lane
        if len(self._lane_of_row) > ROWS_REMEMBERED:
            self._lane_of_row.popitem(last=False)
        return lane


IMPORTER = ClaudeTranscriptImporter()
