"""Imports what `claude --output-format stream-json` prints, one object per line; starts no process."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graders.errors import BadRow
from graders.importers import base
from graders.importers.claude_messages import ClaudeMessages
from graders.trajectory import Step, Trajectory


class ClaudeStreamImporter(base.Importer):
    """A lane is the `parent_tool_use_id`: the call that started the sub-agent."""

    title = "Claude Code stream-json"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return row.get("type") in ("system", "assistant", "user", "result", "stream_event") and "session_id" in row

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        messages = ClaudeMessages()
        has_record = False
        for row in rows:
            row = base.mapping(row, "the row")
            kind = row.get("type")
            has_record = has_record or kind in ("system", "assistant")
            if kind in ("assistant", "user"):
                lane = base.lane_of(row.get("parent_tool_use_id"), "parent_tool_use_id")
                yield from messages.read(row, lane)
            elif kind == "result":
                trajectory.end_reason = _end_reason(row)
        if not has_record:
            raise BadRow(
                "only Claude Code's final result stands here, without its tool calls; "
                "record with --output-format stream-json"
            )
        yield from messages.rest()


def _end_reason(result: Mapping[str, Any]) -> str | None:
    """Newer clients say it in `terminal_reason`, older ones in `subtype`."""
    reason = result.get("terminal_reason") or result.get("subtype")
    return base.optional_text(reason, "terminal_reason")


IMPORTER = ClaudeStreamImporter()
