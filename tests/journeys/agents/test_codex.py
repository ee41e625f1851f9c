"""The real Codex against a model service of our own."""

import datetime as dt
import json
import shutil
import sys
from pathlib import Path

import pytest

from agents.runtimes.base import AgentCall, Ending, ErrorKind
from agents.runtimes.registry import runtime
from trinity.kernel import clock

from .conftest import CODEX, each
from .model_servers import ModelServer, OpenAIHandler, serving

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("program", each(CODEX, "codex"))]

RUNTIME = runtime("codex")
ADDER = {"command": sys.executable, "args": [str(Path(__file__).with_name("mcp_adder.py"))]}
SCENARIOS = {
    "two": [
        ["I will list.", ("exec_command", {"cmd": "echo from-shell"})],
        [("exec_command", {"cmd": "cat note.txt"})],
        ["It says hi. [[DONE]]"],
    ],
    "broken": [[("exec_command", {"cmd": "echo oh >&2; exit 3"})], ["it failed"]],
    "write": [[("exec_command", {"cmd": "echo x > made.txt"})], ["tried"]],
    "sleep": [[("exec_command", {"cmd": "sleep 300", "yield_time_ms": 30_000})]],
    "add": [[("mcp__adder/add", {"a": 2, "b": 40})], ["added"]],
    "login": 401,
    "limit": 429,
    "overload": 503,
}


# Where bubblewrap is on PATH, Codex builds its sandbox with it instead of by itself. Whether that lets a command run
# depends on the host; where it does not, Codex goes on without a word, so these would say nothing of our runtime.
own_sandbox = pytest.mark.skipif(
    shutil.which("bwrap") is not None, reason="Codex takes the bubblewrap of this host for its sandbox"
)


@pytest.fixture
def model():
    with serving(OpenAIHandler, SCENARIOS) as server:
        yield server


@pytest.fixture
def run(carry_out, model: ModelServer, home, program: str):
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f"""
model_provider = "ours"
[model_providers.ours]
name = "ours"
base_url = "{model.address}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
""")

    def run(prompt: str, *, model: str = "gpt-5", seconds: float = 60, **settings):
        call = AgentCall(prompt=prompt, model=model)
        return carry_out(
            RUNTIME,
            {"program": program, **settings},
            call,
            seconds=seconds,
            OPENAI_API_KEY="sk-test",
            TZ="UTC",
        )

    return run


@own_sandbox
def test_a_task_with_two_tools_comes_out_whole_with_an_estimated_cost(run):
    outcome = run("SCENARIO:two")

    assert (outcome.ending, outcome.error) == (Ending.COMPLETED, "")
    assert outcome.response == "It says hi. [[DONE]]"
    assert [call["tool"] for step in outcome.steps for call in step] == ["command_execution"] * 2
    assert [call["result"] for step in outcome.steps for call in step] == ["from-shell\n", "hi note é\n"]
    assert (outcome.tokens.input, outcome.tokens.cache_read, outcome.tokens.output) == (3000, 1200, 150)
    assert outcome.cost_nano > 0
    assert (outcome.cost_estimated, outcome.model) == (True, "gpt-5")


def test_the_cost_of_an_unknown_model_is_unknown(run):
    outcome = run("Hello", model="our-local-model")

    assert outcome.succeeded
    assert (outcome.cost_nano, outcome.cost_estimated) == (None, False)


@own_sandbox
def test_a_command_that_fails_is_an_error_of_the_call_alone(run):
    outcome = run("SCENARIO:broken")

    assert outcome.succeeded
    ((call,),) = outcome.steps
    assert (call["error"], call["result"]) == (True, "oh\n")


@pytest.mark.parametrize("prompt", ["/compact", "-c --help", "é" * 100_000])
def test_every_prompt_reaches_the_model_as_it_is(run, model, prompt):
    assert run(prompt).response == "Hello from the model."
    assert prompt in json.dumps(model.requests[-1]["input"], ensure_ascii=False)


def test_its_own_loop_is_off(run, model):
    run("Hello")

    assert not [tool for tool in model.requests[-1]["tools"] if "goal" in json.dumps(tool)]


@own_sandbox
@pytest.mark.parametrize(("sandbox", "written"), [("workspace-write", True), ("read-only", False)])
def test_its_sandbox_decides_what_it_may_write(run, workspace, sandbox, written):
    run("SCENARIO:write", sandbox=sandbox)

    assert (workspace / "made.txt").exists() is written


def test_an_mcp_server_is_used(run):
    outcome = run("SCENARIO:add", mcp_servers={"adder": ADDER})

    ((call,),) = outcome.steps
    assert (call["tool"], call["result"]) == ("mcp__adder__add", "42")


def test_an_mcp_server_that_does_not_answer_fails_the_run(run):
    outcome = run("Hello", mcp_servers={"gone": {"command": "/nonexistent/mcp"}})

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.MCP_UNAVAILABLE)
    assert "gone" in outcome.error


@pytest.mark.parametrize(
    ("scenario", "kind", "away"),
    [
        ("login", ErrorKind.AUTH, False),
        ("limit", ErrorKind.RATE_LIMITED, True),
        ("overload", ErrorKind.OVERLOADED, True),
    ],
)
def test_an_error_of_the_service_tells_its_kind(run, scenario, kind, away):
    outcome = run(f"SCENARIO:{scenario}")

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, kind)
    assert (outcome.away is not None) is away


def test_a_usage_limit_brings_the_minute_at_which_it_ends(run, model):
    ends = (clock.now() + dt.timedelta(hours=2)).replace(second=0, microsecond=0)
    model.limit_resets_at = int(ends.timestamp())

    outcome = run("SCENARIO:limit")

    assert outcome.error_kind is ErrorKind.USAGE_LIMIT
    assert outcome.away.until == ends


@own_sandbox
def test_a_timeout_keeps_what_it_was_doing(run):
    outcome = run("SCENARIO:sleep", seconds=5)

    assert (outcome.ending, outcome.error_kind) == (Ending.TIMED_OUT, ErrorKind.TIMEOUT)
    ((call,),) = outcome.steps
    assert "sleep 300" in call["args"]["command"]
    assert "result" not in call
