"""The runtime `claude-code`: how the `claude` CLI is called, headless and in a fresh session each time.

What it prints is read by `stream_json`. All flags and variables were tried with 2.1.197 and 2.1.332.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Any

from agents.runtimes import stream_json
from agents.runtimes.base import AgentCall, CommandSpec, Ending, ErrorKind, Outcome, Printed
from agents.runtimes.claude_events import Heard
from agents.runtimes.mcp_settings import mcp_servers
from agents.runtimes.settings import AWAY_PATIENCE_SECONDS, Setting, cleaned
from agents.runtimes.values import WrongValue, a_list, a_text, a_whole_number, dollars_above_0, one_of
from trinity.kernel.errors import refused_field
from trinity.kernel.text import clean

# They report success and then never fire, or keep the process alive after its answer.
DENIED_TOOLS = (
    "ScheduleWakeup",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Monitor",
    "RemoteTrigger",
    "SendMessage",
    "Skill(loop)",
)
MCP_WAIT_MILLISECONDS = 30_000
MOST_APPROVED = 500
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,199}")
_SAME_TOOLS = {"Agent": "Task"}  # one tool with two names: allowed by either, listed by the second
_NOT_ALLOWED = "echo 'This tool is not among the allowed tools.' >&2; exit 2"


class PermissionMode(StrEnum):
    """What the agent may do without asking; nobody is there to be asked."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    AUTO = "auto"
    BYPASS = "bypassPermissions"
    DONT_ASK = "dontAsk"
    PLAN = "plan"


class ClaudeCodeRuntime:
    """Starts `claude -p`; `allowed_tools` really restrict it, MCP tools too."""

    name = "claude-code"
    answers_in_worker = False

    def clean_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return cleaned(settings, _SETTINGS, patience_seconds=AWAY_PATIENCE_SECONDS)

    def restricts_tools(self, settings: Mapping[str, Any]) -> bool:
        return True

    def command(self, call: AgentCall, settings: Mapping[str, Any]) -> CommandSpec:
        """Refused at `allowed_tools` for a tool that cannot be allowed."""
        servers = _servers(call, settings)
        prompt = clean(call.prompt)
        if prompt.startswith("/"):  # would be a command of the CLI, and the model would never see it
            prompt = "\n" + prompt
        return CommandSpec(
            argv=(*_argv(settings, servers), *_model(call), *_tools(call, servers)),
            stdin=prompt.encode(),
            env=_ENVIRONMENT,
            final_types=stream_json.FINAL_TYPES,
        )

    def read(self, printed: Printed, settings: Mapping[str, Any]) -> Outcome:
        heard = stream_json.hear(printed)
        if heard.tools is not None:
            _mark_unreached(heard, _servers(printed.call, settings))
        outcome = stream_json.judge(heard, printed)
        if unknown := _unknown_approvals(heard, printed.call, settings):
            outcome = replace(outcome, notes=(*outcome.notes, _not_there("Approved", unknown)))
        missing = _missing_tools(heard, printed.call)
        if not missing:
            return outcome
        return _without_tools(outcome, missing, all_missing=not heard.tools)

    def activity(self, tail: bytes, settings: Mapping[str, Any]) -> str | None:
        return stream_json.activity(tail)


_ENVIRONMENT = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    # A shell or a sub-agent in the background would outlive the answer, and a second answer would follow.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    # Else the older client begins while servers connect, and its first event does not tell which failed.
    "MCP_CONNECTION_NONBLOCKING": "0",
    "MCP_CONNECT_TIMEOUT_MS": str(MCP_WAIT_MILLISECONDS),
}


def _argv(settings: Mapping[str, Any], servers: Mapping[str, Any]) -> list[str]:
    argv = [
        settings["program"],
        "--print",
        "--output-format=stream-json",
        "--verbose",
        "--no-session-persistence",
        f"--permission-mode={settings['permission_mode']}",
        f"--disallowedTools={','.join(DENIED_TOOLS)}",
        "--strict-mcp-config",  # none from the folder, which the agent itself can write
    ]
    if servers:
        argv.append(f"--mcp-config={json.dumps({'mcpServers': servers})}")
    if settings["approved_tools"]:
        argv.append(f"--allowedTools={','.join(settings['approved_tools'])}")
    argv += [f"{flag}={settings[name]}" for name, flag in _LIMIT_FLAGS.items() if settings[name] is not None]
    return argv


def _model(call: AgentCall) -> list[str]:
    return [f"--model={clean(call.model)}"] if call.model else []


def _tools(call: AgentCall, servers: Mapping[str, Any]) -> list[str]:
    if call.allowed_tools is None:
        return []
    built_in = [tool for tool in call.allowed_tools if not tool.startswith("mcp__")]
    for index, tool in enumerate(call.allowed_tools):
        _check_tool(f"allowed_tools.{index}", tool, servers)
    restriction = [f"--tools={','.join(built_in)}"]
    if servers:
        restriction.append(f"--settings={json.dumps(_only(call.allowed_tools))}")
    return restriction


def _check_tool(field: str, tool: str, servers: Mapping[str, Any]) -> None:
    if not _TOOL.fullmatch(tool):
        raise refused_field(field, "Must be the name of a tool, such as Bash, without a pattern.")
    if tool in DENIED_TOOLS:
        raise refused_field(field, f"{tool} is denied in every run: loops and waiting are Trinity's part.")
    if tool.startswith("mcp__") and not any(_is_of(tool, server) for server in servers):
        raise refused_field(field, f"The agent has no MCP server for {tool}.")


def _is_of(tool: str, server: str) -> bool:
    return tool == f"mcp__{server}" or tool.startswith(f"mcp__{server}__")


def _only(allowed: tuple[str, ...]) -> dict[str, Any]:
    """`--tools` leaves MCP tools alone: a hook refuses those not allowed, in every permission mode."""
    whole = [tool + "__.*" for tool in allowed if tool.startswith("mcp__") and tool.count("__") == 1]
    single = [tool for tool in allowed if tool.startswith("mcp__") and tool.count("__") > 1]
    hook = {
        "matcher": f"(?!(?:{'|'.join(whole + single)})$)mcp__.*",
        "hooks": [{"type": "command", "command": _NOT_ALLOWED}],
    }
    return {
        "disableAllHooks": False,
        "hooks": {"PreToolUse": [hook]},
    }  # settings in the folder could say True


def _servers(call: AgentCall | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The servers that this call gets: of those without an allowed tool none is started."""
    servers: dict[str, Any] = settings["mcp_servers"]
    if call is None or call.allowed_tools is None:
        return servers
    return {name: server for name, server in servers.items() if any(_is_of(tool, name) for tool in call.allowed_tools)}


def _mark_unreached(heard: Heard, expected: Mapping[str, Any]) -> None:
    """The client waited for its servers: one that is not connected in the first event has failed."""
    statuses = {**dict.fromkeys(expected, "not told"), **heard.servers}
    heard.servers = {name: status if status == "connected" else "failed" for name, status in statuses.items()}


def _missing_tools(heard: Heard, call: AgentCall | None) -> list[str]:
    if call is None or call.allowed_tools is None or heard.tools is None:
        return []
    there = {*heard.tools, *(f"mcp__{name}" for name in heard.servers)}
    return [tool for tool in call.allowed_tools if not {tool, _SAME_TOOLS.get(tool, tool)} & there]


def _unknown_approvals(heard: Heard, call: AgentCall | None, settings: Mapping[str, Any]) -> list[str]:
    """Approved tools that this version does not have: it says nothing of a rule for a tool that is not there."""
    if heard.tools is None or (call is not None and call.allowed_tools is not None):
        return []
    names = dict.fromkeys(rule.partition("(")[0].strip() for rule in settings["approved_tools"])
    return [name for name in names if not name.startswith("mcp__") and _SAME_TOOLS.get(name, name) not in heard.tools]


def _not_there(how: str, tools: list[str]) -> str:
    return f"{how}, but not among the tools of this agent: {', '.join(tools)}."


def _without_tools(outcome: Outcome, missing: list[str], *, all_missing: bool) -> Outcome:
    """Of several allowed tools one may be unknown to a version; none at all was surely not meant."""
    sentence = _not_there("Allowed", missing)
    noted = replace(outcome, notes=(*outcome.notes, sentence))
    if not outcome.succeeded or not all_missing:
        return noted
    sentence += " Correct the names in `allowed_tools`."
    return replace(noted, ending=Ending.FAILED, error_kind=ErrorKind.AGENT_ERROR, error=sentence)


def _server_settings(value: Any) -> dict[str, Any]:
    servers = mcp_servers(value)
    for server in servers.values():
        if "url" in server:
            server.setdefault("type", "http")  # without it the client takes the server for a command
    return servers


def _rule(value: Any) -> str:
    """One rule of the CLI, such as "Bash(git *)"; a comma would begin another."""
    rule = a_text(value, most=500)
    if "," in rule:
        raise WrongValue("Must be one rule, without a comma.")
    return rule


_LIMIT_FLAGS = {"max_turns": "--max-turns", "max_budget_usd": "--max-budget-usd"}
_SETTINGS = (
    Setting("program", partial(a_text, most=4_096), default="claude"),
    Setting("permission_mode", one_of(PermissionMode), required=True),
    Setting("approved_tools", partial(a_list, check=_rule, least=0, most=MOST_APPROVED), default=[]),
    Setting("max_turns", a_whole_number(1, 10_000)),
    Setting("max_budget_usd", dollars_above_0),
    Setting("mcp_servers", _server_settings, default={}),
)
