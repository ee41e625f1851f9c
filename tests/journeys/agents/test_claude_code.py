"""The real Claude Code, every version found, against a model service of our own."""

import datetime as dt
import json
import sys
import time
from pathlib import Path

import pytest

from agents.runtimes.base import AgentCall, Ending, ErrorKind
from agents.runtimes.claude_code import DENIED_TOOLS
from agents.runtimes.registry import runtime
from trinity.kernel import clock

from .conftest import CLAUDE, each
from .model_servers import AnthropicHandler, ModelServer, serving

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("program", each(CLAUDE, "claude"))]

CLAUDE_CODE = runtime("claude-code")
ADDER = {"command": sys.executable, "args": [str(Path(__file__).with_name("mcp_adder.py"))]}
SCENARIOS = {
    "two": [
        ["I will list.", ("Bash", {"command": "echo from-bash"})],
        [("Read", {"file_path": "note.txt"})],
        ["It says hi. [[DONE]]"],
    ],
    "parallel": [
        [("Bash", {"command": "echo one"}), ("Bash", {"command": "echo two >&2; exit 3"})],
        ["parallel finished"],
    ],
    "write": [[("Write", {"file_path": "made.txt", "content": "x"})], ["wrote"]],
    "forever": [[("Bash", {"command": "echo again"})]],
    "sleep": [[("Bash", {"command": "sleep 300"})]],
    "background": [[("Bash", {"command": "sleep 300", "run_in_background": True})], ["started"]],
    "add": [[("mcp__adder__add", {"a": 2, "b": 40})], ["added"]],
    "wake": [
        [
            ("ScheduleWakeup", {"delaySeconds": 60, "reason": "again", "prompt": "again"}),
            ("CronCreate", {"cron": "* * * * *", "prompt": "x", "recurring": True}),
            ("SendMessage", {"to": "x", "message": "y", "summary": "z"}),
            ("Monitor", {"command": "sleep 1", "description": "x"}),
            ("Skill", {"skill": "loop", "args": "5m again"}),
        ],
        ["tried"],
    ],
    "agents": [
        [
            ("Task", {"description": "a", "prompt": "Be short.", "subagent_type": "general-purpose"}),
            ("Task", {"description": "b", "prompt": "Be short.", "subagent_type": "general-purpose"}),
        ],
        ["both came back"],
    ],
    "bad": 400,
    "login": 401,
    "limit": 429,
    "overload": 529,
}


@pytest.fixture
def model():
    with serving(AnthropicHandler, SCENARIOS) as server:
        yield server


@pytest.fixture
def run(carry_out, model: ModelServer, program: str):
    def run(prompt: str, *, allowed=None, seconds: float = 60, key="ANTHROPIC_API_KEY", **settings):
        settings = {"program": program, "permission_mode": "default", **settings}
        call = AgentCall(prompt=prompt, model="claude-sonnet-4-5", allowed_tools=allowed)
        env = {"ANTHROPIC_BASE_URL": model.address, key: "sk-ant-test", "CLAUDE_CODE_MAX_RETRIES": "1"}
        return carry_out(CLAUDE_CODE, settings, call, seconds=seconds, **env)

    return run


def tools_of(outcome) -> list[list[str]]:
    return [[call["tool"] for call in step] for step in outcome.steps if step]


def test_a_task_with_two_tools_comes_out_whole(run):
    outcome = run("SCENARIO:two", approved_tools=["Bash"])

    assert (outcome.ending, outcome.error) == (Ending.COMPLETED, "")
    assert outcome.response == "It says hi. [[DONE]]"
    assert tools_of(outcome) == [["Bash"], ["Read"]]
    assert outcome.steps[0][0]["result"] == "from-bash"
    assert (outcome.tokens.input, outcome.tokens.output) == (3000, 150)
    assert outcome.cost_nano == 11_250_000
    assert (outcome.cost_estimated, outcome.model, outcome.notes) == (False, "claude-sonnet-4-5", ())


def test_parallel_calls_are_one_step(run):
    outcome = run("SCENARIO:parallel", approved_tools=["Bash"])

    assert tools_of(outcome) == [["Bash", "Bash"]]
    assert [call.get("error", False) for call in outcome.steps[0]] == [False, True]


@pytest.mark.parametrize("prompt", ["/compact", "/cost", "/nosuch thing", "  /help", "-p --help"])
def test_every_prompt_reaches_the_model_as_it_is(run, model, prompt):
    outcome = run(prompt)

    assert outcome.response == "Hello from the model."
    said = json.dumps(model.requests[-1]["messages"])
    assert json.dumps(prompt)[1:-1] in said


def test_refused_tools_are_told(run, workspace):
    outcome = run("SCENARIO:write")

    assert outcome.succeeded
    assert outcome.permission_denials == ("Write",)
    assert not (workspace / "made.txt").exists()


def test_a_permission_mode_lets_it_write(run, workspace):
    outcome = run("SCENARIO:write", permission_mode="acceptEdits")

    assert (outcome.succeeded, outcome.permission_denials) == (True, ())
    assert (workspace / "made.txt").read_text() == "x"


def test_allowed_tools_are_the_only_ones(run, model, workspace):
    outcome = run("SCENARIO:write", allowed=("Read", "Bash"), permission_mode="acceptEdits")

    assert {tool["name"] for tool in model.requests[0]["tools"]} == {"Read", "Bash"}
    assert outcome.steps[0][0]["error"] is True
    assert not (workspace / "made.txt").exists()


def test_allowed_tools_that_are_all_unknown_fail_the_run(run):
    outcome = run("Hello", allowed=("Raed",))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.AGENT_ERROR)
    assert "Raed" in outcome.error


def test_one_unknown_tool_among_the_allowed_is_noted(run):
    outcome = run("Hello", allowed=("Read", "Raed"))

    assert outcome.succeeded
    assert outcome.notes == ("Allowed, but not among the tools of this agent: Raed.",)


def test_wake_ups_and_loops_are_denied_and_the_run_ends(run):
    began = time.monotonic()

    outcome = run("SCENARIO:wake", approved_tools=[tool for tool in DENIED_TOOLS if "(" not in tool])

    assert outcome.response == "tried"
    assert [call["error"] for call in outcome.steps[0]] == [True] * 5
    assert time.monotonic() - began < 30


def test_nothing_in_the_background_outlives_the_answer(run):
    began = time.monotonic()

    outcome = run("SCENARIO:background", approved_tools=["Bash"])

    assert outcome.succeeded
    assert time.monotonic() - began < 30


def test_sub_agents_answer_within_the_run(run):
    outcome = run("SCENARIO:agents")

    assert outcome.response == "both came back"
    assert tools_of(outcome) == [["Task", "Task"]]
    assert all("Hello from the model." in json.dumps(call["result"]) for call in outcome.steps[0])


def test_an_mcp_server_is_used(run):
    outcome = run("SCENARIO:add", mcp_servers={"adder": ADDER}, approved_tools=["mcp__adder__add"])

    assert outcome.succeeded
    assert (outcome.steps[0][0]["tool"], outcome.steps[0][0]["result"]) == ("mcp__adder__add", "42")


@pytest.mark.parametrize(
    "server", [{"command": "/nonexistent/mcp"}, {"url": "http://127.0.0.1:1/mcp"}, {"command": "false"}]
)
def test_an_mcp_server_that_does_not_answer_fails_the_run(run, server):
    outcome = run("Hello", mcp_servers={"adder": ADDER, "gone": server})

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.MCP_UNAVAILABLE)
    assert outcome.error.endswith("not connected: gone")
    assert outcome.response == "Hello from the model."


@pytest.mark.parametrize("allowed", [("mcp__adder",), ("mcp__adder__add",), ("Read", "mcp__adder__add")])
def test_an_allowed_mcp_tool_is_used(run, allowed):
    outcome = run("SCENARIO:add", allowed=allowed, mcp_servers={"adder": ADDER}, approved_tools=["mcp__adder"])

    assert outcome.steps[0][0]["result"] == "42"
    assert outcome.notes == ()


def test_another_tool_of_an_allowed_mcp_server_is_refused_whatever_the_folder_says(run, workspace):
    (workspace / ".claude").mkdir()
    (workspace / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')

    outcome = run(
        "SCENARIO:add",
        allowed=("mcp__adder__boom",),
        mcp_servers={"adder": ADDER},
        approved_tools=["mcp__adder"],
    )

    assert outcome.steps[0][0]["error"] is True
    assert "not among the allowed tools" in outcome.steps[0][0]["result"]


def test_an_mcp_server_without_an_allowed_tool_is_not_started(run):
    outcome = run("Hello", allowed=("Read",), mcp_servers={"gone": {"command": "/nonexistent/mcp"}})

    assert outcome.succeeded


def test_servers_of_the_folder_are_left_alone(run, workspace):
    (workspace / ".mcp.json").write_text('{"mcpServers": {"gone": {"command": "/nonexistent/mcp"}}}')

    assert run("Hello").succeeded


@pytest.mark.parametrize(
    ("scenario", "kind", "away"),
    [
        ("bad", ErrorKind.AGENT_ERROR, False),
        ("login", ErrorKind.AUTH, False),
        ("limit", ErrorKind.RATE_LIMITED, True),
        ("overload", ErrorKind.OVERLOADED, True),
    ],
)
def test_an_error_of_the_service_tells_its_kind(run, scenario, kind, away):
    outcome = run(f"SCENARIO:{scenario}")

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, kind)
    assert (outcome.away is not None) is away


def test_a_usage_limit_brings_the_time_at_which_it_ends(run, model):
    model.limit_resets_at = int(clock.now().timestamp()) + 7200

    outcome = run("SCENARIO:limit", key="CLAUDE_CODE_OAUTH_TOKEN")

    assert outcome.error_kind is ErrorKind.USAGE_LIMIT
    assert outcome.away.until == dt.datetime.fromtimestamp(model.limit_resets_at, dt.UTC)


def test_turns_and_money_have_limits(run):
    turns = run("SCENARIO:forever", approved_tools=["Bash"], max_turns=2)
    money = run("SCENARIO:forever", approved_tools=["Bash"], max_budget_usd=0.01)

    assert (turns.error_kind, money.error_kind) == (ErrorKind.TURN_LIMIT, ErrorKind.BUDGET)
    assert turns.cost_nano > 0
    assert money.cost_nano > 0


def test_a_timeout_still_brings_the_cost(run):
    outcome = run("SCENARIO:sleep", approved_tools=["Bash"], seconds=5)

    assert (outcome.ending, outcome.error_kind) == (Ending.TIMED_OUT, ErrorKind.TIMEOUT)
    assert outcome.cost_nano > 0
    assert tools_of(outcome) == [["Bash"]]


def test_an_agent_without_a_login_says_so(carry_out, program):
    outcome = carry_out(CLAUDE_CODE, {"program": program, "permission_mode": "default"}, AgentCall(prompt="Hello"))

    assert outcome.error_kind is ErrorKind.AUTH
    assert "Log in" in outcome.error


def test_a_long_prompt_goes_in_whole(run, model):
    words = "SCENARIO:hello " + "é" * 200_000

    assert run(words).succeeded
    assert "é" * 200_000 in model.requests[-1]["messages"][-1]["content"][-1]["text"]


def test_each_run_is_a_fresh_session_and_leaves_none(run, model, home):
    run("Remember the word apple.")
    run("Which word?")

    assert "apple" not in json.dumps(model.requests[-1]["messages"])
    assert not list(home.rglob("*.jsonl"))
