"""The runtime `codex`: how `codex exec` is called, in a fresh session each time, and how its JSONL is read.

It prints no cost: its tokens are priced, and the cost is marked as an estimate. It cannot restrict tools.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Any

from agents.runtimes import endings
from agents.runtimes.base import AgentCall, CommandSpec, Ending, ErrorKind, Outcome, Printed, TokenUsage
from agents.runtimes.codex_events import FINAL_TYPES, HeardOfCodex, tool_call
from agents.runtimes.doing import activity_line
from agents.runtimes.faults import Fault, advised, fault
from agents.runtimes.keeping import kept_reply, name_of
from agents.runtimes.lines import json_objects, objects_in, parse
from agents.runtimes.mcp_settings import mcp_servers
from agents.runtimes.settings import AWAY_PATIENCE_SECONDS, Setting, cleaned
from agents.runtimes.usage import price_nano, whole_number
from agents.runtimes.values import a_text, one_of
from trinity.kernel.errors import refused_field
from trinity.kernel.text import clean


class Sandbox(StrEnum):
    """What the agent's commands may write."""

    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"
    FULL_ACCESS = "danger-full-access"


class CodexRuntime:
    """Starts `codex exec --json` with its own loop (`goals`) off."""

    name = "codex"
    answers_in_worker = False

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return cleaned(settings, _SETTINGS, patience_seconds=AWAY_PATIENCE_SECONDS)

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return False

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        """Refused with `allowed_tools`, which it could not keep."""
        if call.allowed_tools is not None:
            raise refused_field("allowed_tools", "Codex cannot restrict its tools.")
        options = [*_OPTIONS, *(f"mcp_servers.{name}={_toml(server)}" for name, server in _servers(settings))]
        model = [f"--model={clean(call.model)}"] if call.model else []
        return CommandSpec(
            argv=(
                settings["program"],
                "exec",
                "--json",
                "--ephemeral",
                "--skip-git-repo-check",
                f"--sandbox={settings['sandbox']}",
                *(f"--config={option}" for option in options),
                *model,
                "-",
            ),
            stdin=clean(call.prompt).encode(),
            final_types=FINAL_TYPES,
        )

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        heard = HeardOfCodex()
        for line in json_objects(printed.stdout):
            heard.hear(line)
        judged = endings.forced_end(printed)
        if judged is None and heard.final is None:
            judged = _end_without_final(printed)
        elif judged is None:
            judged = _judge_final(heard, printed)
        return replace(judged, **_facts(heard, printed))

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        for line in reversed(tail.splitlines()):
            for printed in reversed(objects_in(line)):
                item = printed.get("item")
                call = tool_call(item) if isinstance(item, dict) else None
                if call is not None:
                    return activity_line(*call)
        return None


_OPTIONS = (
    "features.goals=false",  # as an option, since `--disable` refuses a name that a version does not know
    "analytics.enabled=false",
    "feedback.enabled=false",
    "check_for_update_on_startup=false",
)


def _servers(settings: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each must connect, or the run fails; nobody is there to approve its calls."""
    demands = {"required": True, "default_tools_approval_mode": "approve"}
    return [(name, demands | server) for name, server in settings["mcp_servers"].items()]


def _toml(value: Any) -> str:
    """A TOML value on one line; a JSON text is a TOML text, but for a DEL."""
    if isinstance(value, dict):
        parts = (f"{_toml(key)}={_toml(part)}" for key, part in value.items() if part is not None)
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_toml(part) for part in value if part is not None) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _judge_final(heard: HeardOfCodex, printed: Printed) -> Outcome:
    final = heard.final or {}
    if final.get("type") == "turn.completed":
        return Outcome(ending=Ending.COMPLETED)
    error = final.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    found = _fault(message if isinstance(message, str) else heard.last_error, printed)
    tool_used = bool(heard.trajectory.calls_seen or heard.middle_cut or printed.truncated_bytes)
    return replace(endings.failed(found.kind, found.sentence), away=found.away(tool_used=tool_used))


def _fault(message: str, printed: Printed) -> Fault:
    """The message may be the JSON that the model's service answered."""
    answered = parse(message)
    error = answered.get("error") if isinstance(answered, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return fault(message, now=endings.ended_at(printed))
    names = (error.get("code"), error.get("type"))
    return fault(error["message"], now=endings.ended_at(printed), words=names)


_MCP_FAILED = re.compile(r"required MCP servers failed to initialize: ([^\n]{1,500})")


def _end_without_final(printed: Printed) -> Outcome:
    ended = endings.end_without_answer(printed, expected="end of its turn")
    if failed := _MCP_FAILED.search(ended.error):
        return endings.failed(
            ErrorKind.MCP_UNAVAILABLE, advised(ErrorKind.MCP_UNAVAILABLE, f"not connected: {failed[1]}")
        )
    return ended


def _facts(heard: HeardOfCodex, printed: Printed) -> dict[str, Any]:
    model = name_of(printed.call.model) if printed.call else ""
    tokens = _tokens(heard.final or {})
    cost = price_nano(tokens, model=model, provider="openai", at=endings.ended_at(printed))
    return {
        "response": kept_reply(heard.last_text),
        "cost_nano": cost,
        "cost_estimated": cost is not None,
        "tokens": tokens,
        "model": model,
        "steps": heard.trajectory.steps(),
        "notes": (*endings.cut_notes(printed), *heard.trajectory.notes()),
    }


def _tokens(final: Mapping[str, Any]) -> TokenUsage:
    """Of the whole run. `input_tokens` includes the cached ones, `output_tokens` the thoughts."""
    usage = final.get("usage")
    if not isinstance(usage, dict):
        return TokenUsage()
    return TokenUsage(
        input=whole_number(usage.get("input_tokens")),
        output=whole_number(usage.get("output_tokens")),
        cache_read=whole_number(usage.get("cached_input_tokens")),
        cache_write=whole_number(usage.get("cache_write_input_tokens")),
    )


_SETTINGS = (
    Setting("program", partial(a_text, most=4_096), default="codex"),
    Setting("sandbox", one_of(Sandbox), default=Sandbox.WORKSPACE_WRITE.value),
    Setting("mcp_servers", mcp_servers, default={}),
)
