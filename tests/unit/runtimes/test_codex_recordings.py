"""What the real Codex printed is read as what happened; each expectation was read off the recording."""

import datetime as dt

import pytest

from agents.runtimes.base import AgentCall, Ending, ErrorKind, TokenUsage
from agents.runtimes.registry import runtime

from .printing import FIXTURES, calls, one_call, printed, recorded

CODEX = runtime("codex")
GPT_5 = AgentCall(prompt="x", model="gpt-5")
DONE = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}


def read(what):
    return CODEX.read(what, CODEX.clean_settings({}))


RECORDINGS = [
    # name, reply, tools by step, input, cached, output tokens
    ("hello_json", "Hello from the fake model.", [], 1000, 400, 50),
    (
        "two_json",
        "The note says hi. [[DONE]]",
        [["command_execution"], ["command_execution"]],
        3000,
        1200,
        150,
    ),
    ("parallel", "parallel finished", [["command_execution"], ["command_execution"]], 2000, 800, 100),
    ("file_change", "patched", [["file_change"]], 2000, 800, 100),
    ("mcp", "mcp finished", [["mcp__demo__add"]], 2000, 800, 100),
    ("mcp_refused", "mcp finished", [["mcp__demo__add"]], 2000, 800, 100),
]
FAILURES = [
    ("err400", ErrorKind.AGENT_ERROR, False, "It said: fake 400"),
    ("err401", ErrorKind.AUTH, False, "401 Unauthorized"),
    ("err429", ErrorKind.RATE_LIMITED, True, "429 Too Many Requests"),
    ("rate_limited", ErrorKind.RATE_LIMITED, True, "tokens per min"),
    ("overloaded", ErrorKind.OVERLOADED, True, "at capacity"),
    ("quota", ErrorKind.BUDGET, False, "billing details"),
    ("usage_limit", ErrorKind.USAGE_LIMIT, True, "usage limit"),
]


class TestRecordings:
    @pytest.mark.parametrize(("name", "reply", "tools", "given", "cached", "made"), RECORDINGS)
    def test_a_success_brings_reply_calls_tokens_and_an_estimate(self, name, reply, tools, given, cached, made):
        outcome = read(recorded(f"codex/{name}", call=GPT_5))

        assert (outcome.ending, outcome.error, outcome.response) == (Ending.COMPLETED, "", reply)
        assert calls(outcome) == tools
        assert outcome.tokens == TokenUsage(input=given, output=made, cache_read=cached, cache_write=0)
        # list price of gpt-5: 1.25, cached 0.125, output 10 dollars for a million tokens
        assert outcome.cost_nano == (given - cached) * 1250 + cached * 125 + made * 10_000
        assert outcome.cost_estimated is True

    @pytest.mark.parametrize(("name", "kind", "away", "words"), FAILURES)
    def test_a_failure_tells_its_kind(self, name, kind, away, words):
        outcome = read(recorded(f"codex/{name}", exit_code=1, call=GPT_5))

        assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, kind)
        assert (outcome.away is not None) is away
        assert words in outcome.error
        assert (outcome.cost_nano, outcome.cost_estimated) == (None, False)

    def test_all_recordings_have_an_expectation(self):
        expected = {row[0] for row in (*RECORDINGS, *FAILURES)} | {"timeout_term", "mcp_failed"}

        assert {path.stem for path in (FIXTURES / "codex").iterdir()} == expected

    def test_a_usage_limit_names_its_time_of_day(self):
        said_at = dt.datetime(2026, 11, 30, 20, 37, tzinfo=dt.UTC)

        outcome = read(recorded("codex/usage_limit", exit_code=1, ended_at=said_at))

        local = outcome.away.until.astimezone()
        assert (local.hour, local.minute) == (22, 37)

    def test_a_killed_run_keeps_its_last_call_without_a_result(self):
        outcome = read(recorded("codex/timeout_term", timed_out=True, exit_code=None, signal=15))

        assert outcome.ending is Ending.TIMED_OUT
        assert "time.sleep(298)" in one_call(outcome)["args"]["command"]
        assert "result" not in one_call(outcome)
        assert outcome.cost_nano is None

    def test_results_and_errors_stand_at_their_calls(self):
        made = [call for step in read(recorded("codex/parallel")).steps for call in step]
        by_command = {call["args"]["command"]: call for call in made}
        fine = by_command["/bin/bash -lc 'echo one'"]
        broken = by_command["/bin/bash -lc 'echo two >&2; exit 3'"]

        assert (fine["result"], fine.get("error")) == ("one\n", None)
        assert (broken["result"], broken.get("error")) == ("two\n", True)

    def test_mcp_results_are_texts_and_a_refusal_is_an_error(self):
        used, refused = one_call(read(recorded("codex/mcp"))), one_call(read(recorded("codex/mcp_refused")))

        assert (used["args"], used["result"]) == ({"a": 2, "b": 40}, "42")
        assert (refused["error"], "requires approval" in refused["result"]) == (True, True)

    def test_a_required_server_that_does_not_start_is_told_on_stderr(self, tmp_path):
        stderr = (FIXTURES / "codex" / "mcp_failed.err").read_bytes()

        outcome = read(printed(tmp_path, "", stderr, exit_code=1))

        assert outcome.error_kind is ErrorKind.MCP_UNAVAILABLE
        assert "gone: No such file" in outcome.error
