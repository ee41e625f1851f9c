"""Reads the assistant and user messages that Claude Code writes, in whatever row; opens no file."""

from collections.abc import Iterator, Mapping
from typing import Any

from graders.importers import base
from graders.importers.open_steps import OpenSteps
from graders.trajectory import MISSING, Call, Step


class ClaudeMessages:
    """Several rows with one message id are one step, whatever stands between them (section 4)."""

    def __init__(self) -> None:
        self._open = OpenSteps()

    def read(self, row: Mapping[str, Any], lane: str) -> Iterator[Step]:
        """Take in one row of type `assistant` or `user`; hands out a step when the lane's next one begins."""
        message = base.mapping(row.get("message"), "message")
        content = message.get("content")
        blocks = [] if content is None or isinstance(content, str) else base.array(content, "message.content")
        if row["type"] == "assistant":
            yield from self._open.begin(lane, message.get("id"))
        for place, block in enumerate(blocks, 1):
            self._read_block(base.mapping(block, f"content block {place}"), lane, row["type"], place)

    def rest(self) -> Iterator[Step]:
        """The steps that nothing more was written of."""
        return self._open.close_all()

    def _read_block(self, block: Mapping[str, Any], lane: str, role: str, place: int) -> None:
        kind = base.text(block.get("type"), f"content block {place}: type")
        # A server's own tools come as server_tool_use and, in the same message, web_search_tool_result.
        if role == "assistant" and kind.endswith("tool_use"):
            self._open.issue(
                Call(
                    tool=base.text(block.get("name"), f"content block {place}: name"),
                    args=base.decoded(block.get("input")),
                    result=MISSING,
                    id=base.optional_text(block.get("id"), f"content block {place}: id"),
                    lane=lane,
                )
            )
        elif kind.endswith("tool_result"):
            call_id = base.optional_text(block.get("tool_use_id"), f"content block {place}: tool_use_id")
            # Anthropic's API lets an empty result leave its content out: it was recorded all the same.
            self._open.settle(call_id, block.get("content", ""), block.get("is_error") is True)
