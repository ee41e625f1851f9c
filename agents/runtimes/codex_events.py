"""Gathers what counts of the events that `codex exec --json` prints; judges nothing and never raises."""

from dataclasses import dataclass, field
from typing import Any

from agents.runtimes.claude_events import result_value
from agents.runtimes.trajectory import NO_RESULT, TrajectoryBuilder

FINAL_TYPES = ("turn.completed", "turn.failed")


@dataclass
class HeardOfCodex:
    """What was printed, in one pass. Items that are no tool calls (plans, thoughts) are passed over.

    Codex prints no message ids. Calls that are under way together were issued together: they are one step.
    """

    final: dict[str, Any] | None = None
    trajectory: TrajectoryBuilder = field(default_factory=TrajectoryBuilder)
    last_text: str = ""
    last_error: str = ""
    middle_cut: bool = False
    _step: int = 0
    _under_way: set[str] = field(default_factory=set)
    _known: set[str] = field(default_factory=set)

    def hear(self, printed: dict[str, Any]) -> None:
        """One JSON object; what is unknown is passed over."""
        kind, item = printed.get("type"), printed.get("item")
        if kind in FINAL_TYPES:
            self.final = printed
        elif kind == "error":
            self.last_error = _text(printed.get("message"))
        elif kind in ("item.started", "item.updated", "item.completed") and isinstance(item, dict):
            self._item(item, completed=kind == "item.completed")
        elif isinstance(printed.get("truncated_bytes"), int):  # the runner's mark
            self.middle_cut = True
            self.trajectory.event("output_cut", bytes=printed["truncated_bytes"])

    def _item(self, item: dict[str, Any], *, completed: bool) -> None:
        if item.get("type") == "agent_message":
            self.last_text = _text(item.get("text"))
            return
        call = tool_call(item)
        id = item.get("id")
        if call is None or not isinstance(id, str):
            return
        self._begin(id, *call)
        if completed:
            self._under_way.discard(id)
            self._end(id, item)

    def _begin(self, id: str, tool: str, args: Any) -> None:
        if id in self._known:
            return
        if not self._under_way:
            self._step += 1
        self._known.add(id)
        self._under_way.add(id)
        self.trajectory.call(self._step, tool, args, id=id)

    def _end(self, id: str, item: dict[str, Any]) -> None:
        failed = item.get("status") in ("failed", "declined") or item.get("exit_code") not in (None, 0)
        self.trajectory.result(id, _result(item), is_error=failed)


def tool_call(item: dict[str, Any]) -> tuple[str, Any] | None:
    """The tool and the arguments of an item; None for one that is no tool call."""
    kind = item.get("type")
    if kind == "command_execution":
        return kind, {"command": item.get("command")}
    if kind == "file_change":
        return kind, {"changes": item.get("changes")}
    if kind == "web_search":
        return kind, {"query": item.get("query")}
    if kind == "mcp_tool_call":  # named as Claude Code names it
        return f"mcp__{_text(item.get('server'))}__{_text(item.get('tool'))}", item.get("arguments")
    if kind == "collab_tool_call":
        return _text(item.get("tool")), {"prompt": item.get("prompt"), "to": item.get("receiver_thread_ids")}
    return None


def _result(item: dict[str, Any]) -> Any:
    """What the item says came of it."""
    error = item.get("error")
    if isinstance(error, dict):
        return _text(error.get("message"))
    result = item.get("result")
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        return result_value(result["content"])
    if result is None:
        result = item.get("aggregated_output")
    return NO_RESULT if result is None else result


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
