"""What the real Claude Code printed is read as what happened; each expectation was read off the recording."""

import datetime as dt

import pytest

from agents.runtimes.base import Ending, ErrorKind, TokenUsage

from .printing import FIXTURES, calls, model_steps, read_as, read_stream, recorded

ONE_MESSAGE = TokenUsage(input=1000, output=50, cache_read=500, cache_write=200)


def messages(count: int) -> TokenUsage:
    """Every message of the recordings used the same tokens."""
    return TokenUsage(input=1000 * count, output=50 * count, cache_read=500 * count, cache_write=200 * count)


SUCCESSES = [
    # name, reply, nano-dollars, messages, steps that called tools, refused
    ("hello_stream", "Hello from the fake model.", 4_650_000, 1, [], ()),
    ("two_stream", "The note says hi. [[DONE]]", 13_950_000, 3, [["Bash"], ["Read"]], ()),
    ("older_two_stream", "The note says hi. [[DONE]]", 13_950_000, 3, [["Bash"], ["Read"]], ()),
    ("parallel", "parallel finished", 9_300_000, 2, [["Bash", "Bash", "Read"]], ("Read",)),
    ("older_parallel", "parallel finished", 9_300_000, 2, [["Bash", "Bash", "Read"]], ("Read",)),
    ("denied_default", "wrote", 9_300_000, 2, [["Bash", "Write"]], ("Bash", "Write")),
    ("bypass_root_sandbox", "wrote", 9_300_000, 2, [["Bash", "Write"]], ()),
    ("tools_flag", "wrote", 9_300_000, 2, [["Bash", "Write"]], ()),
    ("mcp", "mcp finished", 9_300_000, 2, [["mcp__demo__add"]], ()),
    ("wake", "scheduled", 9_300_000, 2, [["ScheduleWakeup", "CronCreate"]], ()),
    ("older_wake", "scheduled", 9_300_000, 2, [["ScheduleWakeup", "CronCreate"]], ()),
    ("wake_block", "scheduled", 9_300_000, 2, [["ScheduleWakeup", "CronCreate"]], ()),
    (
        "skill_denied",
        "denied all",
        9_300_000,
        2,
        [["ScheduleWakeup", "SendMessage", "Skill", "Skill", "Monitor"]],
        ("Skill",),
    ),
    ("subagents", "task finished", 27_900_000, 6, [["Task", "Task"], ["Bash"], ["Bash"]], ()),
    ("older_subagents", "task finished", 27_900_000, 6, [["Task", "Task"], ["Bash"], ["Bash"]], ()),
    ("subagents_background", "task finished", 37_200_000, 8, [["Task", "Task"], ["Bash"], ["Bash"]], ()),
]


@pytest.mark.parametrize(("name", "reply", "cost", "count", "steps", "refused"), SUCCESSES)
def test_a_success_brings_reply_cost_tokens_and_calls(name, reply, cost, count, steps, refused):
    outcome = read_stream(recorded(f"claude/{name}"))

    assert outcome.ending is Ending.COMPLETED
    assert (outcome.error_kind, outcome.error, outcome.away) == (None, "", None)
    assert outcome.response == reply
    assert (outcome.cost_nano, outcome.cost_estimated) == (cost, False)
    assert outcome.tokens == messages(count)
    assert outcome.model == "claude-sonnet-4-5"
    assert calls(outcome) == steps
    assert outcome.permission_denials == refused


FAILURES = [
    # name, kind, away, nano-dollars, steps that called tools, words that the sentence must contain
    ("err400", ErrorKind.AGENT_ERROR, False, 0, [], "API Error: 400 fake bad request"),
    ("err401", ErrorKind.AUTH, False, 0, [], "Log in again"),
    ("older_err401", ErrorKind.AUTH, False, 0, [], "Log in again"),
    ("err429", ErrorKind.RATE_LIMITED, True, 0, [], "Request rejected (429) · rate limited"),
    ("err529", ErrorKind.OVERLOADED, True, 0, [], "529 Overloaded"),
    ("older_err529", ErrorKind.OVERLOADED, True, 0, [], "529 Overloaded"),
    ("usage_limit", ErrorKind.USAGE_LIMIT, True, 0, [], "5-hour limit"),
    ("older_usage_limit", ErrorKind.USAGE_LIMIT, True, 0, [], "session limit"),
    ("maxturns", ErrorKind.TURN_LIMIT, False, 13_950_000, [["Bash"]] * 3, "max_turns"),
    ("maxbudget", ErrorKind.BUDGET, False, 13_950_000, [["Bash"]] * 3, "Reached maximum budget ($0.012)"),
    ("mcp_failed", ErrorKind.MCP_UNAVAILABLE, False, 4_650_000, [], "not connected: gone"),
    ("older_mcp_failed", ErrorKind.MCP_UNAVAILABLE, False, 4_650_000, [], "not connected: gone"),
]


@pytest.mark.parametrize(("name", "kind", "away", "cost", "steps", "words"), FAILURES)
def test_a_failure_tells_its_kind_and_what_to_do(name, kind, away, cost, steps, words):
    outcome = read_stream(recorded(f"claude/{name}", exit_code=1))

    assert outcome.ending is Ending.FAILED
    assert outcome.error_kind is kind
    assert words in outcome.error
    assert (outcome.away.kind if outcome.away else None) == (kind if away else None)
    assert outcome.cost_nano == cost
    assert calls(outcome) == steps


def test_the_words_of_an_api_error_are_no_reply():
    assert read_stream(recorded("claude/err529", exit_code=1)).response == ""


def test_an_agent_out_of_turns_keeps_its_last_text():
    assert read_stream(recorded("claude/maxturns", exit_code=1)).response == "step 2"


@pytest.mark.parametrize(("name", "stamp"), [("usage_limit", 1796077906), ("older_usage_limit", 1796077907)])
def test_a_usage_limit_brings_the_time_at_which_it_ends(name, stamp):
    outcome = read_stream(recorded(f"claude/{name}", exit_code=1))

    assert outcome.away.until == dt.datetime.fromtimestamp(stamp, dt.UTC)


def test_all_recordings_of_claude_have_an_expectation():
    read_elsewhere = {
        "hello_json",
        "older_hello_json",
        "hello_text",
        "maxturns_json",
        "kill_TERM",
        "unknown_model",
        "interrupted",
        "older_interrupted",
    }
    expected = {row[0] for row in SUCCESSES} | {row[0] for row in FAILURES} | read_elsewhere

    assert {path.stem for path in (FIXTURES / "claude").iterdir()} == expected


@pytest.mark.parametrize("name", ["hello_json", "older_hello_json"])
def test_a_single_json_object_is_an_answer(name):
    outcome = read_as("json", recorded(f"claude/{name}"))

    assert outcome.succeeded
    assert (outcome.response, outcome.cost_nano) == ("Hello from the fake model.", 4_650_000)
    assert outcome.tokens == ONE_MESSAGE
    assert outcome.model == "claude-sonnet-4-5"
    assert (outcome.steps, outcome.duration_ms) == ((), 239 if name == "hello_json" else 81)


def test_a_single_json_object_can_be_a_failure():
    outcome = read_as("json", recorded("claude/maxturns_json", exit_code=1))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.TURN_LIMIT)
    assert outcome.cost_nano == 13_950_000


def test_plain_text_is_no_final_object_for_a_stream():
    outcome = read_stream(recorded("claude/hello_text"))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.NO_ANSWER)


def test_plain_text_is_the_reply_of_a_text_agent():
    outcome = read_as("text", recorded("claude/hello_text"))

    assert outcome.succeeded
    assert outcome.response == "Hello from the fake model.\n"
    assert (outcome.cost_nano, outcome.steps) == (None, ())


def test_a_killed_agent_leaves_its_calls_and_no_cost():
    outcome = read_stream(recorded("claude/kill_TERM", exit_code=143))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.CRASHED)
    assert "exit code 143" in outcome.error
    assert outcome.cost_nano is None
    ((call,),) = model_steps(outcome)
    assert (call["tool"], call["error"], call["result"]) == ("Bash", True, "Exit code 137")


@pytest.mark.parametrize(("name", "cost"), [("interrupted", 6_100_000), ("older_interrupted", 7_750_000)])
def test_a_run_that_was_too_long_keeps_the_cost_that_the_interrupt_brought(name, cost):
    outcome = read_stream(recorded(f"claude/{name}", timed_out=True, timeout_seconds=900))

    assert (outcome.ending, outcome.error_kind) == (Ending.TIMED_OUT, ErrorKind.TIMEOUT)
    assert "900 seconds" in outcome.error
    assert outcome.cost_nano == cost
    assert calls(outcome) == [["Bash"]]


def test_the_cost_of_a_model_without_a_price_is_marked():
    outcome = read_stream(recorded("claude/unknown_model"))

    assert outcome.succeeded
    assert (outcome.model, outcome.cost_nano, outcome.cost_estimated) == ("my-local-model", 6_100_000, True)


def test_results_stand_at_their_calls_and_errors_are_marked():
    first, *_ = model_steps(read_stream(recorded("claude/parallel")))

    assert [call["args"] for call in first[:2]] == [
        {"command": "echo one"},
        {"command": "echo two >&2; exit 3"},
    ]
    assert [call["result"] for call in first[:2]] == ["one", "Exit code 3\ntwo"]
    assert [call.get("error", False) for call in first] == [False, True, True]


def test_an_mcp_tool_brings_its_result():
    first, *_ = model_steps(read_stream(recorded("claude/mcp")))

    assert (first[0]["args"], first[0]["result"]) == ({"a": 2, "b": 40}, '{"result":42}')


@pytest.mark.parametrize("name", ["subagents", "older_subagents", "subagents_background"])
def test_calls_of_two_subagents_keep_to_two_lanes(name):
    steps = model_steps(read_stream(recorded(f"claude/{name}")))
    started = [call for step in steps for call in step if call["tool"] == "Task"]
    inner = [call for step in steps for call in step if call["tool"] == "Bash"]

    assert [call.get("agent") for call in started] == [None, None]
    assert sorted(call["agent"] for call in inner) == sorted(call["id"] for call in started)


def test_an_answer_without_calls_is_a_step_without_calls():
    assert model_steps(read_stream(recorded("claude/hello_stream"))) == [()]
    assert [len(step) for step in model_steps(read_stream(recorded("claude/two_stream")))] == [1, 1, 0]
