"""How the `claude` CLI is called, and what its first event means when a call was restricted."""

import json
import re

import pytest

from agents.runtimes.base import AgentCall, Ending, ErrorKind
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused

from .printing import FINAL, json_lines, printed, recorded

CLAUDE = runtime("claude-code")
SERVERS = {"demo": {"command": "demo-server"}, "web": {"url": "http://localhost/mcp"}}


def clean(**settings):
    return CLAUDE.clean_settings({"permission_mode": "default", **settings})


def started(call: AgentCall | None = None, **settings):
    return CLAUDE.command(call or AgentCall(prompt="Do it"), clean(**settings))


def option(argv, name: str) -> str | None:
    """The value of `--name=value`; None when it is not there."""
    return next((part.partition("=")[2] for part in argv if part.startswith(f"--{name}=")), None)


def errors_of(**settings) -> list[str]:
    with pytest.raises(Refused) as refusal:
        CLAUDE.clean_settings(settings)
    return sorted(refusal.value.errors)


def test_settings_have_defaults_but_for_the_permission_mode():
    assert clean() == {
        "program": "claude",
        "permission_mode": "default",
        "approved_tools": [],
        "max_turns": None,
        "max_budget_usd": None,
        "mcp_servers": {},
        "home": "own",
        "env": [],
        "unavailable_patience_seconds": 21_600,
        "isolation": None,
    }
    assert errors_of() == ["runtime_settings.permission_mode"]


def test_it_runs_headless_with_the_prompt_on_stdin():
    spec = started(AgentCall(prompt="Grüße"), program="/opt/claude")

    assert spec.argv[:4] == ("/opt/claude", "--print", "--output-format=stream-json", "--verbose")
    assert spec.stdin == "Grüße".encode()
    assert "Grüße" not in " ".join(spec.argv)
    assert (spec.final_types, spec.interrupt_first) == (("result",), True)


def test_every_run_is_a_fresh_session():
    argv = started().argv

    assert "--no-session-persistence" in argv
    assert not [part for part in argv if re.match(r"--(resume|continue|session-id|fork-session)", part)]


@pytest.mark.parametrize("prompt", ["/compact", "/", "/etc/x is a path", "//"])
def test_a_prompt_that_begins_with_a_slash_is_no_command(prompt):
    assert started(AgentCall(prompt=prompt)).stdin == b"\n" + prompt.encode()


@pytest.mark.parametrize("prompt", ["do /compact", " /x", "\n/x", "-p", ""])
def test_any_other_prompt_stays_as_it_is(prompt):
    assert started(AgentCall(prompt=prompt)).stdin == prompt.encode()


def test_wake_up_and_loop_tools_are_denied_in_every_call():
    denied = "ScheduleWakeup,CronCreate,CronDelete,CronList,Monitor,RemoteTrigger,SendMessage,Skill(loop)"

    for call in (AgentCall(prompt="x"), AgentCall(prompt="x", allowed_tools=("Read",))):
        assert option(started(call).argv, "disallowedTools") == denied


def test_nothing_is_reported_and_nothing_updated():
    env = started().env

    for name in (
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    ):
        assert env[name] == "1"


def test_a_model_is_passed_on_and_no_model_is_the_clients_own():
    assert option(started(AgentCall(prompt="x", model="-opus")).argv, "model") == "-opus"
    assert option(started().argv, "model") is None


def test_limits_and_approvals_are_passed_on():
    argv = started(max_turns=5, max_budget_usd=0.5, approved_tools=["Read", "Bash(git *)"]).argv

    assert option(argv, "max-turns") == "5"
    assert option(argv, "max-budget-usd") == "0.5"
    assert option(argv, "allowedTools") == "Read,Bash(git *)"
    assert not [part for part in started().argv if re.match("--max-|--allowedTools", part)]


def test_allowed_tools_are_what_the_client_offers():
    argv = started(AgentCall(prompt="x", allowed_tools=("Read", "Bash"))).argv

    assert option(argv, "tools") == "Read,Bash"
    assert option(started().argv, "tools") is None
    assert CLAUDE.restricts_tools(clean()) is True


def test_servers_of_the_folder_are_never_taken():
    assert "--strict-mcp-config" in started().argv
    assert option(started().argv, "mcp-config") is None


def test_servers_of_the_settings_are_given():
    config = json.loads(option(started(mcp_servers=SERVERS).argv, "mcp-config"))

    assert config == {
        "mcpServers": {
            "demo": {"command": "demo-server"},
            "web": {"type": "http", "url": "http://localhost/mcp"},
        }
    }


def test_a_restricted_call_gets_only_servers_with_an_allowed_tool():
    none = started(AgentCall(prompt="x", allowed_tools=("Read",)), mcp_servers=SERVERS).argv
    one = started(AgentCall(prompt="x", allowed_tools=("Read", "mcp__demo__add")), mcp_servers=SERVERS).argv

    assert option(none, "mcp-config") is None
    assert list(json.loads(option(one, "mcp-config"))["mcpServers"]) == ["demo"]
    assert option(one, "tools") == "Read"


@pytest.mark.parametrize(
    ("allowed", "refused", "let_through"),
    [
        (
            ["mcp__demo__add"],
            ["mcp__demo__boom", "mcp__demo__add2", "mcp__web__add"],
            ["mcp__demo__add", "Bash"],
        ),
        (["mcp__demo"], ["mcp__web__x", "mcp__demo2__x"], ["mcp__demo__add", "mcp__demo__boom", "Read"]),
        (["mcp__demo__a", "mcp__web"], ["mcp__demo__b"], ["mcp__demo__a", "mcp__web__b"]),
    ],
)
def test_a_hook_refuses_mcp_tools_that_are_not_allowed(allowed, refused, let_through):
    argv = started(AgentCall(prompt="x", allowed_tools=tuple(allowed)), mcp_servers=SERVERS).argv
    settings = json.loads(option(argv, "settings"))
    (hook,) = settings["hooks"]["PreToolUse"]

    assert settings["disableAllHooks"] is False
    assert hook["hooks"][0]["command"].endswith("exit 2")
    assert [tool for tool in refused if not re.fullmatch(hook["matcher"], tool)] == []
    assert [tool for tool in let_through if re.fullmatch(hook["matcher"], tool)] == []


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("Bash(git *)", "without a pattern"),
        ("Read,Write", "without a pattern"),
        ("", "name of a tool"),
        ("-p", "name of a tool"),
        ("Monitor", "denied in every run"),
        ("mcp__nobody__x", "no MCP server"),
    ],
)
def test_a_tool_that_cannot_be_allowed_is_refused_at_its_place(tool, words):
    with pytest.raises(Refused) as refusal:
        started(AgentCall(prompt="x", allowed_tools=("Read", tool)), mcp_servers=SERVERS)

    assert words in refusal.value.errors["allowed_tools.1"][0]


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"permission_mode": "plan!"}, "permission_mode"),
        ({"permission_mode": None}, "permission_mode"),
        ({"program": ""}, "program"),
        ({"program": ["claude"]}, "program"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": "5"}, "max_turns"),
        ({"max_budget_usd": 0}, "max_budget_usd"),
        ({"max_budget_usd": float("inf")}, "max_budget_usd"),
        ({"max_budget_usd": True}, "max_budget_usd"),
        ({"approved_tools": "Bash"}, "approved_tools"),
        ({"approved_tools": ["Read", "A,B"]}, "approved_tools.1"),
        ({"mcp_servers": []}, "mcp_servers"),
        ({"mcp_servers": {"a b": {"command": "x"}}}, "mcp_servers"),
        ({"mcp_servers": {"a__b": {"command": "x"}}}, "mcp_servers"),
        ({"mcp_servers": {"demo": "x"}}, "mcp_servers.demo"),
        ({"mcp_servers": {"demo": {}}}, "mcp_servers.demo"),
        ({"mcp_servers": {"demo": {"command": "x", "url": "y"}}}, "mcp_servers.demo"),
        ({"mcp_servers": {"demo": {"command": "x\0"}}}, "mcp_servers"),
        ({"mcp_servers": {"demo": {"command": "x" * 70_000}}}, "mcp_servers"),
        ({"permision_mode": "plan"}, "permision_mode"),
    ],
)
def test_a_wrong_setting_is_refused_at_its_place(settings, where):
    assert f"runtime_settings.{where}" in errors_of(**{"permission_mode": "default", **settings})


def init(tools=("Bash", "Read"), **statuses: str) -> dict:
    servers = [{"name": name, "status": status} for name, status in statuses.items()]
    return {"type": "system", "subtype": "init", "tools": list(tools), "mcp_servers": servers}


def read(tmp_path, first: dict, *, allowed=None, **settings):
    call = AgentCall(prompt="x", allowed_tools=allowed)
    return CLAUDE.read(printed(tmp_path, json_lines(first, FINAL), call=call), clean(**settings))


def test_it_reads_the_clients_stream():
    outcome = CLAUDE.read(recorded("claude/two_stream"), clean())

    assert (outcome.ending, outcome.response) == (Ending.COMPLETED, "The note says hi. [[DONE]]")


@pytest.mark.parametrize("status", ["failed", "needs-auth", "pending", "disabled", "odd"])
def test_a_server_that_is_not_connected_when_it_begins_fails_the_run(tmp_path, status):
    outcome = read(tmp_path, init(demo=status, web="connected"), mcp_servers=SERVERS)

    assert outcome.error_kind is ErrorKind.MCP_UNAVAILABLE
    assert outcome.error.endswith("not connected: demo")


def test_a_server_that_is_not_even_named_fails_the_run(tmp_path):
    outcome = read(tmp_path, init(demo="connected"), mcp_servers=SERVERS)

    assert outcome.error.endswith("not connected: web")


def test_a_server_that_the_call_did_not_get_is_not_missed(tmp_path):
    assert read(tmp_path, init(), allowed=("Read",), mcp_servers=SERVERS).succeeded


def test_an_allowed_tool_that_this_version_lacks_is_noted(tmp_path):
    outcome = read(tmp_path, init(), allowed=("Read", "Grep", "LS"))

    assert outcome.succeeded
    assert outcome.notes == ("Allowed, but not among the tools of this agent: Grep, LS.",)


def test_a_run_that_was_left_without_any_tool_fails(tmp_path):
    outcome = read(tmp_path, init(tools=()), allowed=("Raed",))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.AGENT_ERROR)
    assert "Raed" in outcome.error
    assert outcome.response == "done"


def test_one_tool_under_two_names_is_there(tmp_path):
    assert read(tmp_path, init(tools=("Task",)), allowed=("Agent",)).notes == ()
    assert read(tmp_path, init(demo="connected"), allowed=("mcp__demo",), mcp_servers=SERVERS).notes == ()


def test_output_without_a_first_event_says_nothing_of_tools(tmp_path):
    outcome = CLAUDE.read(
        printed(tmp_path, json_lines(FINAL), call=AgentCall(prompt="x", allowed_tools=("Raed",))),
        clean(mcp_servers=SERVERS),
    )

    assert (outcome.succeeded, outcome.notes) == (True, ())
