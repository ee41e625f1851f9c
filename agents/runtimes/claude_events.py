"""Gathers what counts of the events that Claude Code prints, in one pass; judges nothing and never raises.

Whatever shape a line has, the next one is heard: an agent may print anything.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from agents.runtimes.keeping import REPLY_CHARACTERS, cut_middle, name_of
from agents.runtimes.trajectory import TrajectoryBuilder

FINAL_TYPE = "result"
MCP_FAILURES = frozenset({"failed", "needs-auth"})
MOST_NAMES = 100  # of refused tools and of servers
SYNTHETIC_MODEL = "<synthetic>"  # of a message that the program, not the model, wrote
CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use")


def is_final(printed: dict[str, Any]) -> bool:
    """Whether this is a final object; a program that gives its lines no type may leave it out here too."""
    return printed.get("type") == FINAL_TYPE or ("type" not in printed and {"result", "is_error"} <= printed.keys())


def mappings(value: object) -> list[dict[str, Any]]:
    """The objects of a list; nothing for anything else."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def said_in(content: object) -> list[dict[str, Any]]:
    """The blocks of a message's content, which may be plain text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else mappings(content)


def result_value(content: object) -> Any:
    """A tool result as it is recorded: texts become one text, an empty result is an empty text."""
    if content is None:
        return ""
    blocks = mappings(content)
    if isinstance(content, list) and len(blocks) == len(content):
        texts = [
            block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)
        ]
        if len(texts) == len(blocks):
            return "\n".join(texts)
    return content


@dataclass
class Heard:
    """Everything that counts of what was printed, gathered in one pass."""

    final: dict[str, Any] | None = None
    trajectory: TrajectoryBuilder = field(default_factory=TrajectoryBuilder)
    last_text: str = ""  # the main agent's last message
    model: str = ""
    tools: tuple[str, ...] | None = None  # as the first event lists them
    servers: dict[str, str] = field(default_factory=dict)  # MCP server → the worst status that was told
    denials: dict[str, None] = field(default_factory=dict)
    api_error: dict[str, Any] = field(default_factory=dict)  # the last synthetic message's marks
    limit_resets_at: object = None
    retrying: object = None  # the last event was a retry: its error status
    middle_cut: bool = False
    _text_key: object = None
    _line_number: int = 0

    def hear(self, printed: dict[str, Any]) -> None:
        """One JSON object; what is unknown is passed over."""
        self._line_number += 1
        kind = printed.get("type")
        if is_final(printed):
            self.final = printed
        elif isinstance(kind, str) and kind in _HEARD:
            self.retrying = None
            _HEARD[kind](self, printed)
        elif isinstance(printed.get("truncated_bytes"), int):  # the runner's mark
            self.middle_cut = True
            self.trajectory.event("output_cut", bytes=printed["truncated_bytes"])

    def _system(self, event: dict[str, Any]) -> None:
        subtype = event.get("subtype")
        if subtype == "init":
            self._init(event)
        elif subtype == "permission_denied":
            self.deny(event.get("tool_name"))
        elif subtype == "api_retry":
            self.retrying = event.get("error_status")

    def _init(self, event: dict[str, Any]) -> None:
        self.model = self.model or name_of(event.get("model"))
        tools = event.get("tools")
        if self.tools is None and isinstance(tools, list):
            self.tools = tuple(name_of(tool) for tool in tools)
        for server in mappings(event.get("mcp_servers"))[:MOST_NAMES]:
            name, status = name_of(server.get("name")), name_of(server.get("status"))
            if self.servers.get(name) not in MCP_FAILURES:
                self.servers[name] = status

    def _assistant(self, line: dict[str, Any]) -> None:
        message = line.get("message")
        if not isinstance(message, dict):
            return
        parent = line.get("parent_tool_use_id")
        agent = parent if isinstance(parent, str) else None
        if message.get("model") == SYNTHETIC_MODEL or line.get("is_api_error_message") is True:
            self.api_error = line if agent is None else self.api_error
            return
        key = (agent, message["id"] if isinstance(message.get("id"), str) else self._line_number)
        self.trajectory.step(key)
        if agent is None:
            self.model = name_of(message.get("model")) or self.model
            self.api_error = {}  # the model answers again
        for block in said_in(message.get("content")):
            if block.get("type") in CALL_BLOCKS:
                self._call(key, block, agent)
            elif agent is None and block.get("type") == "text" and isinstance(block.get("text"), str):
                self._say(key, block["text"])

    def _call(self, key: Hashable, block: dict[str, Any], agent: str | None) -> None:
        id = block.get("id")
        self.trajectory.call(
            key, block.get("name"), block.get("input"), id=id if isinstance(id, str) else None, agent=agent
        )

    def _user(self, line: dict[str, Any]) -> None:
        message = line.get("message")
        for block in mappings(message.get("content") if isinstance(message, dict) else None):
            id = block.get("tool_use_id")
            if isinstance(id, str) and str(block.get("type")).endswith("tool_result"):
                failed = block.get("is_error") is True
                self.trajectory.result(id, result_value(block.get("content")), is_error=failed)

    def _rate_limit(self, event: dict[str, Any]) -> None:
        info = event.get("rate_limit_info")
        if isinstance(info, dict) and info.get("status") == "rejected":
            self.limit_resets_at = info.get("resetsAt")

    def _say(self, key: object, text: str) -> None:
        self.last_text = self.last_text + text if key == self._text_key else text
        self._text_key = key
        if len(self.last_text) > 2 * REPLY_CHARACTERS:  # one message, endlessly spread over lines
            self.last_text = cut_middle(self.last_text, REPLY_CHARACTERS)

    def deny(self, tool: object) -> None:
        """A tool was refused; each is kept once, in order."""
        name = name_of(tool)
        if name and len(self.denials) < MOST_NAMES:
            self.denials[name] = None


_HEARD: dict[str, Callable[[Heard, dict[str, Any]], None]] = {
    "system": Heard._system,
    "assistant": Heard._assistant,
    "user": Heard._user,
    "rate_limit_event": Heard._rate_limit,
}
