"""Imports OpenAI-style chat messages: an object with `messages`, a list of them, or one on each line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from graders.errors import BadRow
from graders.importers import base
from graders.importers.open_steps import OpenSteps
from graders.trajectory import MISSING, Call, Step, Trajectory

_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


class ChatImporter(base.Importer):
    """One assistant message is one step; a lane is the participant whom the message names, if it does."""

    title = "OpenAI-style chat messages"
    row_name = "message"
    array_key = "messages"

    def recognises(self, row: Mapping[str, Any]) -> bool:
        return row.get("role") in _ROLES and "type" not in row and ("content" in row or "tool_calls" in row)

    def steps(self, rows: Iterable[object], trajectory: Trajectory) -> Iterator[Step]:
        messages = OpenSteps()
        for number, row in enumerate(rows, 1):
            message = base.mapping(row, "a message")
            role = base.text(message.get("role"), "role")
            if role not in _ROLES:
                raise base.unknown(role, "the role")
            _refuse_anthropic_blocks(message)
            if role == "assistant":
                lane = base.lane_of(message.get("name"), "name")
                yield from messages.begin(lane, number)
                for call in _calls(message, lane, number):
                    messages.issue(call)
            elif role == "tool":
                messages.settle(base.call_id(message.get("tool_call_id"), "tool_call_id"), *_result(message))
            elif role == "function":  # before there were ids, a result came right after its one call
                messages.settle(f"function_call {number - 1}", *_result(message))
        yield from messages.close_all()


def _calls(message: Mapping[str, Any], lane: str, number: int) -> Iterator[Call]:
    for place, call in enumerate(base.array(message.get("tool_calls") or [], "tool_calls"), 1):
        call = base.mapping(call, f"tool call {place}")
        named = call.get("custom") if call.get("type") == "custom" else call.get("function")
        named = base.mapping(named, f"tool call {place}: function")
        call_id = base.call_id(call.get("id"), f"tool call {place}: id")
        yield _call(named, call_id, lane, f"tool call {place}")
    if message.get("function_call") is not None:
        named = base.mapping(message["function_call"], "function_call")
        yield _call(named, f"function_call {number}", lane, "function_call")


def _call(named: Mapping[str, Any], call_id: str | None, lane: str, what: str) -> Call:
    arguments = named.get("arguments", named.get("input"))
    if isinstance(arguments, str) and arguments.strip() in {"", "null"}:
        arguments = None  # so recorders write a call without arguments
    tool = base.text(named.get("name"), f"{what}: name")
    return Call(tool, base.decoded(arguments), MISSING, False, call_id, lane)


def _result(message: Mapping[str, Any]) -> tuple[object, bool]:
    """Chat messages have no error flag; what a tool said is all there is."""
    return message.get("content", MISSING), False


def _refuse_anthropic_blocks(message: Mapping[str, Any]) -> None:
    """Anthropic's messages have the same roles but hold their calls in the content; skipping would lie."""
    content = message.get("content")
    for block in content if isinstance(content, list | tuple) else ():
        if isinstance(block, Mapping) and block.get("type") in ("tool_use", "tool_result"):
            raise BadRow(f"has a content block of type {block['type']}: these are Anthropic's messages, not OpenAI's")


IMPORTER = ChatImporter()
