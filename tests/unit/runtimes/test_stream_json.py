"""The rules by which a stream is judged, one by one, on lines written for them."""

import datetime as dt
import json

import pytest

from agents.runtimes import stream_json
from agents.runtimes.base import Ending, ErrorKind, TokenUsage

from .printing import (
    FINAL,
    assistant,
    calls,
    failure,
    json_lines,
    model_steps,
    one_call,
    printed,
    read_as,
    read_stream,
    result,
    text,
    use,
)


def test_the_last_final_object_counts(tmp_path):
    lines = json_lines(FINAL, failure("second"), FINAL | {"result": "third", "total_cost_usd": 0.7})

    outcome = read_stream(printed(tmp_path, lines))

    assert (outcome.response, outcome.cost_nano) == ("third", 700_000_000)


def test_a_failure_after_a_success_is_a_failure(tmp_path):
    assert not read_stream(printed(tmp_path, json_lines(FINAL, failure()))).succeeded


@pytest.mark.parametrize("code", [0, 1, 255, None])
def test_the_exit_code_is_not_believed_against_the_final_object(tmp_path, code):
    assert read_stream(printed(tmp_path, json_lines(FINAL), exit_code=code)).succeeded
    assert not read_stream(printed(tmp_path, json_lines(failure()), exit_code=code)).succeeded


@pytest.mark.parametrize("is_error", [True, None, 0, "false", [], 1])
def test_only_is_error_false_is_a_success(tmp_path, is_error):
    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"is_error": is_error})))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.AGENT_ERROR)


def test_a_final_object_that_does_not_say_is_error_fails_with_that_sentence(tmp_path):
    outcome = read_stream(printed(tmp_path, '{"type": "result"}\n'))

    assert "is_error: false" in outcome.error


def test_a_program_may_leave_the_type_of_its_final_object_out(tmp_path):
    outcome = read_stream(printed(tmp_path, '{"result": "hi", "is_error": false, "total_cost_usd": 0.01}\n'))

    assert (outcome.succeeded, outcome.response, outcome.cost_nano) == (True, "hi", 10_000_000)


def test_a_line_with_a_result_alone_is_no_final_object(tmp_path):
    outcome = read_stream(printed(tmp_path, '{"result": "hi"}\n'))

    assert outcome.error_kind is ErrorKind.NO_ANSWER


def test_noise_and_unknown_events_are_passed_over(tmp_path):
    noise = 'warming up\n{"half": \n[1, 2\nnull\n"text"\n17\n{}\n{"type": 5}\n{"type": "weather"}\n\n'
    odd = json_lines(
        {"type": "assistant"},
        {"type": "assistant", "message": "no object"},
        {"type": "assistant", "message": {"content": [3, None, {"type": ["odd"]}]}},
        {"type": "user", "message": {"content": {"not": "a list"}}},
        {"type": "system", "subtype": {"odd": 1}},
        {"type": "system", "subtype": "init", "tools": 4, "mcp_servers": "none", "model": {}},
        {"type": "rate_limit_event", "rate_limit_info": []},
    )

    outcome = read_stream(printed(tmp_path, noise + odd + json_lines(FINAL) + noise))

    assert (outcome.succeeded, outcome.response) == (True, "done")


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path):
    stdout = "\ufeff" + json_lines(assistant(use("Bash", "a"))).replace("\n", "\r\n") + json.dumps(FINAL)

    outcome = read_stream(printed(tmp_path, stdout))

    assert outcome.succeeded
    assert calls(outcome) == [["Bash"]]


def test_lines_with_one_message_id_are_one_step_wherever_they_stand(tmp_path):
    lines = json_lines(
        assistant(use("Bash", "a"), id="m1"),
        result("a", "one"),
        assistant(use("Read", "b"), id="m1"),
        assistant(use("Bash", "c"), id="m2"),
        assistant(use("Write", "d"), id="m1"),
        FINAL,
    )

    assert calls(read_stream(printed(tmp_path, lines))) == [["Bash", "Read", "Write"], ["Bash"]]


def test_lines_without_a_message_id_are_steps_of_their_own(tmp_path):
    lines = json_lines(assistant(use("Bash", "a"), id=None), assistant(use("Bash", "b"), id=None), FINAL)

    assert calls(read_stream(printed(tmp_path, lines))) == [["Bash"], ["Bash"]]


def test_one_message_id_in_two_lanes_is_two_steps(tmp_path):
    lines = json_lines(
        assistant(use("Task", "t"), id="m1"), assistant(use("Bash", "a"), id="m1", parent="t"), FINAL
    )

    outcome = read_stream(printed(tmp_path, lines))

    assert calls(outcome) == [["Task"], ["Bash"]]
    assert model_steps(outcome)[1][0]["agent"] == "t"


def test_a_call_that_is_printed_twice_is_one_call(tmp_path):
    lines = json_lines(assistant(use("Bash", "a")), assistant(use("Bash", "a")), FINAL)

    assert calls(read_stream(printed(tmp_path, lines))) == [["Bash"]]


def test_results_are_paired_by_id_in_any_order(tmp_path):
    lines = json_lines(
        result("c", "early"),
        assistant(use("Bash", "a"), use("Bash", "b"), use("Bash", "c"), use("Bash", "d")),
        result("b", "second"),
        result("a", "first", is_error=True),
        result("a", "again"),
        result("nobody", "lost"),
        FINAL,
    )

    (step,) = model_steps(read_stream(printed(tmp_path, lines)))

    assert [call.get("result", "none recorded") for call in step] == [
        "first",
        "second",
        "early",
        "none recorded",
    ]
    assert [call.get("error") for call in step] == [True, None, None, None]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("plain", "plain"),
        ([text("one"), text("two")], "one\ntwo"),
        ([], ""),
        (None, ""),
        ([text("seen"), {"type": "image", "source": "…"}], [text("seen"), {"type": "image", "source": "…"}]),
        ({"json": [1, None]}, {"json": [1, None]}),
    ],
)
def test_a_result_is_kept_as_it_was_recorded(tmp_path, content, kept):
    lines = json_lines(assistant(use("Bash", "a")), result("a", content), FINAL)

    assert one_call(read_stream(printed(tmp_path, lines)))["result"] == kept


def test_tokens_of_intermediate_lines_are_never_summed(tmp_path):
    line = assistant(text("thinking"))
    line["message"]["usage"] = {"input_tokens": 7, "output_tokens": 9}

    without = read_stream(printed(tmp_path, json_lines(line, line, FINAL)))
    with_usage = read_stream(printed(tmp_path, json_lines(line, FINAL | {"usage": {"input_tokens": 3}})))

    assert without.tokens == TokenUsage()
    assert with_usage.tokens == TokenUsage(input=3)


@pytest.mark.parametrize("count", [-1, "12", True, 1.5, None, 10**40, [], 2**63])
def test_a_token_count_that_is_none_is_unknown(tmp_path, count):
    final = FINAL | {"usage": {"input_tokens": count, "output_tokens": 5.0}}

    assert read_stream(printed(tmp_path, json_lines(final))).tokens == TokenUsage(output=5)


@pytest.mark.parametrize(
    "cost", ["NaN", "Infinity", "-Infinity", "-0.5", '"0.5"', "true", "null", "[]", "1e999"]
)
def test_a_cost_that_is_no_amount_is_unknown_and_never_zero(tmp_path, cost):
    line = json.dumps(FINAL).replace('"total_cost_usd": 0.5', f'"total_cost_usd": {cost}')

    outcome = read_stream(printed(tmp_path, line))

    assert outcome.succeeded
    assert outcome.cost_nano is None


@pytest.mark.parametrize(
    ("models", "invented"),
    [
        ({"claude-x": {"costBasis": "list"}}, False),
        ({"claude-x": {"costBasis": "unknown"}}, True),
        ({"our-model": {"costBasis": "managed"}}, False),
        ({"claude-x": {"costBasis": "list"}, "our-model": {"costBasis": "unknown"}}, True),
        ({"us.anthropic.Claude-x-v1": {}}, False),
        ({"our-model": {}}, True),
        ({"our-model": "odd"}, False),
        ({}, False),
    ],
)
def test_the_cost_of_a_model_that_the_client_has_no_price_for_is_marked(tmp_path, models, invented):
    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"modelUsage": models})))

    assert (outcome.cost_nano, outcome.cost_estimated) == (500_000_000, invented)


def test_a_missing_cost_is_unknown_and_a_zero_is_zero(tmp_path):
    assert read_stream(printed(tmp_path, '{"result": "", "is_error": false}')).cost_nano is None
    assert read_stream(printed(tmp_path, json_lines(FINAL | {"total_cost_usd": 0}))).cost_nano == 0


def test_a_cost_with_thousands_of_digits_does_not_hide_the_answer(tmp_path):
    line = json.dumps(FINAL | {"total_cost_usd": 1}).replace("1}", "9" * 5000 + "}")

    outcome = read_stream(printed(tmp_path, line))

    assert (outcome.succeeded, outcome.cost_nano) == (True, None)


def test_the_reply_is_the_final_text_only(tmp_path):
    lines = json_lines(assistant(text("first"), id="m1"), assistant(text("last"), id="m2"), FINAL)

    assert read_stream(printed(tmp_path, lines)).response == "done"


def test_without_a_result_text_the_last_message_of_the_main_agent_is_the_reply(tmp_path):
    lines = json_lines(
        assistant(text("first"), id="m1"),
        assistant(text("second, "), id="m2"),
        assistant(text("whole"), id="m2"),
        assistant(text("a sub-agent's"), id="m3", parent="t"),
        {"type": "result", "is_error": False, "result": None},
    )

    assert read_stream(printed(tmp_path, lines)).response == "second, whole"


def test_an_agent_that_says_it_failed_keeps_its_words_as_error_and_response(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(failure("The tests do not pass."))))

    assert outcome.error.endswith("It said: The tests do not pass.")
    assert outcome.response == "The tests do not pass."


def test_refused_tools_are_named_once_each_in_order(tmp_path):
    denied = {"type": "system", "subtype": "permission_denied"}
    denials = [
        {"tool_name": "Bash"},
        {"tool_name": "Edit"},
        {"tool_name": ""},
        {"odd": 1},
        5,
        {"tool_name": None},
    ]
    lines = json_lines(
        denied | {"tool_name": "Write"},
        denied | {"tool_name": "Bash"},
        FINAL | {"permission_denials": denials},
    )

    outcome = read_stream(printed(tmp_path, lines))

    assert outcome.succeeded
    assert outcome.permission_denials == ("Write", "Bash", "Edit")


def init(*statuses: str) -> dict:
    servers = [{"name": f"server{number}", "status": status} for number, status in enumerate(statuses)]
    return {
        "type": "system",
        "subtype": "init",
        "model": "claude-x",
        "mcp_servers": servers,
        "tools": ["Bash"],
    }


def test_an_mcp_server_that_failed_fails_the_run_and_keeps_reply_and_cost(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(init("connected", "failed", "needs-auth"), FINAL)))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.MCP_UNAVAILABLE)
    assert outcome.error.endswith("not connected: server1, server2")
    assert (outcome.response, outcome.cost_nano) == ("done", 500_000_000)


@pytest.mark.parametrize("status", ["connected", "pending", "disabled", "new word"])
def test_an_mcp_server_that_did_not_fail_fails_nothing(tmp_path, status):
    assert read_stream(printed(tmp_path, json_lines(init(status), FINAL))).succeeded


def test_a_later_event_does_not_hide_that_an_mcp_server_failed(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(init("failed"), FINAL, init("connected"), FINAL)))

    assert outcome.error_kind is ErrorKind.MCP_UNAVAILABLE


def test_a_refused_login_is_told_before_an_mcp_server(tmp_path):
    lines = json_lines(init("failed"), failure("no", api_error_status=401))

    assert read_stream(printed(tmp_path, lines)).error_kind is ErrorKind.AUTH


AWAY = [(429, ErrorKind.RATE_LIMITED), (529, ErrorKind.OVERLOADED), (503, ErrorKind.OVERLOADED)]


@pytest.mark.parametrize(("status", "kind"), AWAY)
def test_a_model_that_is_away_before_any_tool_is_no_outcome(tmp_path, status, kind):
    lines = json_lines(assistant(text("I begin.")), failure("later", api_error_status=status))

    outcome = read_stream(printed(tmp_path, lines))

    assert (outcome.error_kind, outcome.away.kind) == (kind, kind)


@pytest.mark.parametrize(("status", "kind"), AWAY)
@pytest.mark.parametrize("parent", [None, "toolu_task"])
def test_a_model_that_goes_away_after_a_tool_is_a_failure(tmp_path, status, kind, parent):
    lines = json_lines(assistant(use("Bash", "a"), parent=parent), failure("later", api_error_status=status))

    outcome = read_stream(printed(tmp_path, lines))

    assert (outcome.error_kind, outcome.away) == (kind, None)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 500])
def test_a_request_that_would_fail_again_is_not_away(tmp_path, status):
    assert read_stream(printed(tmp_path, json_lines(failure("no", api_error_status=status)))).away is None


def test_what_was_cut_out_may_have_been_a_tool_call(tmp_path):
    lines = json_lines({"type": "trinity.cut", "truncated_bytes": 5}, failure("later", api_error_status=429))

    assert read_stream(printed(tmp_path, lines)).away is None
    assert (
        read_stream(printed(tmp_path, json_lines(failure("x", api_error_status=429)), truncated_bytes=5)).away
        is None
    )


@pytest.mark.parametrize(
    ("facts", "away"),
    [
        ({"num_turns": 1}, True),
        ({"num_turns": 0}, True),
        ({"num_turns": 2}, False),
        ({}, True),
        ({"usage": {"output_tokens": 0}}, True),
        ({"usage": {"output_tokens": 40}}, False),
    ],
)
def test_a_single_object_is_away_only_if_the_model_had_done_nothing(tmp_path, facts, away):
    outcome = read_as("json", printed(tmp_path, json.dumps(failure("later", api_error_status=429, **facts))))

    assert (outcome.away is not None) is away


def test_an_agent_that_only_asked_again_until_its_time_was_over_was_away(tmp_path):
    retry = {"type": "system", "subtype": "api_retry", "error_status": 529, "attempt": 3}

    waiting = read_stream(printed(tmp_path, json_lines(init(), retry, retry), timed_out=True))
    working = read_stream(printed(tmp_path, json_lines(retry, assistant(use("Bash", "a"))), timed_out=True))
    talking = read_stream(printed(tmp_path, json_lines(retry, assistant(text("I begin."))), timed_out=True))
    resting = read_stream(printed(tmp_path, json_lines(assistant(use("Bash", "a")), retry), timed_out=True))

    assert (waiting.ending, waiting.away.kind) == (Ending.TIMED_OUT, ErrorKind.OVERLOADED)
    assert working.away is None
    assert talking.away is None
    assert resting.away is None


def test_an_error_that_the_model_overcame_does_not_colour_the_end(tmp_path):
    synthetic = assistant(text("API Error: 429"), id="s", error="rate_limit")
    synthetic["message"]["model"] = "<synthetic>"

    lines = json_lines(synthetic, assistant(text("again")), failure("It is broken."))

    assert read_stream(printed(tmp_path, lines)).error_kind is ErrorKind.AGENT_ERROR


def test_a_limits_reset_time_comes_from_the_event_before_the_words(tmp_path):
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1796080000}}
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1796000000}}
    limit = failure("You've hit your weekly limit · resets 11pm (UTC)", api_error_status=429)

    told = read_stream(printed(tmp_path, json_lines(event, allowed, limit)))
    spoken = read_stream(printed(tmp_path, json_lines(allowed, limit)))

    assert told.away.until == dt.datetime.fromtimestamp(1796080000, dt.UTC)
    assert spoken.away.until == dt.datetime(2026, 11, 30, 23, tzinfo=dt.UTC)


def test_the_old_words_of_a_usage_limit_bring_its_stamp(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(failure("Claude AI usage limit reached|1796080000"))))

    assert outcome.error_kind is ErrorKind.USAGE_LIMIT
    assert outcome.away.until == dt.datetime.fromtimestamp(1796080000, dt.UTC)


def test_a_successful_reply_may_tell_of_limits(tmp_path):
    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"result": "You've hit your weekly limit"})))

    assert outcome.succeeded


FORCED = [
    ({"start_error": "No such file: agent"}, ErrorKind.NOT_STARTED, "No such file: agent"),
    ({"terminated": True}, ErrorKind.ABANDONED, "on request"),
    ({"timed_out": True, "timeout_seconds": 60}, ErrorKind.TIMEOUT, "60 seconds"),
]


@pytest.mark.parametrize(("facts", "kind", "words"), FORCED)
def test_the_runners_facts_come_before_the_agents_word(tmp_path, facts, kind, words):
    outcome = read_stream(printed(tmp_path, json_lines(assistant(use("Bash", "a")), FINAL), **facts))

    assert (outcome.succeeded, outcome.error_kind) == (False, kind)
    assert words in outcome.error
    assert outcome.cost_nano == 500_000_000
    assert calls(outcome) == [["Bash"]]


def test_an_answer_stands_although_its_process_had_to_be_ended(tmp_path):
    assert read_stream(printed(tmp_path, json_lines(FINAL), exit_code=None, signal=9, hung=True)).succeeded


def test_without_a_final_object_a_full_disk_is_the_reason(tmp_path):
    outcome = read_stream(printed(tmp_path, "{}", exit_code=1, spool_error="ENOSPC"))

    assert outcome.error_kind is ErrorKind.DISK_FULL
    assert "ENOSPC" in outcome.error


def test_a_final_object_stands_although_the_disk_was_full(tmp_path):
    assert read_stream(printed(tmp_path, json_lines(FINAL), spool_error="ENOSPC")).succeeded


def test_a_crash_tells_exit_code_and_last_words(tmp_path):
    stderr = "one\ntwo\nthree\nfour\nfive\n\nsix: no space left\n"

    outcome = read_stream(printed(tmp_path, "", stderr, exit_code=3))

    assert outcome.error_kind is ErrorKind.CRASHED
    assert "exit code 3" in outcome.error
    assert "two\nthree\nfour\nfive\nsix: no space left" in outcome.error
    assert "one" not in outcome.error


def test_a_crash_by_a_signal_tells_the_signal(tmp_path):
    outcome = read_stream(printed(tmp_path, "", exit_code=None, signal=11))

    assert (outcome.error_kind, "signal 11" in outcome.error) == (ErrorKind.CRASHED, True)


def test_no_output_file_at_all_is_read_as_silence(tmp_path):
    outcome = read_stream(printed(tmp_path, "", start_error="no such program"))
    (tmp_path / "stdout").unlink()
    (tmp_path / "stderr").unlink()

    assert outcome.error_kind is ErrorKind.NOT_STARTED


def test_the_runners_mark_becomes_an_event_at_its_place(tmp_path):
    lines = (
        json_lines(assistant(use("Bash", "a"), id="m1"))
        + '{"type":"assistant","mess'
        + '\n{"type":"trinity.cut","truncated_bytes":         1234567}\n'
        + 'ge":{}}\n'
        + json_lines(assistant(use("Read", "b"), id="m2"), FINAL)
    )

    outcome = read_stream(printed(tmp_path, lines, truncated_bytes=1234567))

    assert outcome.succeeded
    assert [step if isinstance(step, dict) else step[0]["tool"] for step in outcome.steps] == [
        "Bash",
        {"event": "output_cut", "bytes": 1234567},
        "Read",
    ]
    assert outcome.notes == ("1,234,567 bytes in the middle of what it printed were left out.",)


def test_a_pretty_printed_object_is_an_answer_in_json(tmp_path):
    stdout = "Starting {now}\n" + json.dumps(FINAL, indent=2) + "\nbye\n"

    outcome = read_as("json", printed(tmp_path, stdout))

    assert (outcome.succeeded, outcome.response) == (True, "done")


def test_an_array_of_events_is_an_answer_in_json(tmp_path):
    outcome = read_as("json", printed(tmp_path, json.dumps([init(), assistant(use("Bash", "a")), FINAL])))

    assert outcome.succeeded
    assert (outcome.model, calls(outcome)) == ("claude-x", [["Bash"]])


@pytest.mark.parametrize(("broken", "found"), [(199, True), (200, False)])
def test_the_search_for_a_laid_out_object_has_an_end(tmp_path, broken, found):
    stdout = '{"a": [\n' * broken + json.dumps(FINAL, indent=2)

    assert read_as("json", printed(tmp_path, stdout)).succeeded is found


class TestActivity:
    def of(self, *lines) -> str | None:
        return stream_json.activity(json_lines(*lines).encode())

    def test_it_is_the_last_call_with_its_first_argument(self):
        lines = [
            assistant(use("Read", "a", file_path="x")),
            assistant(use("Bash", "b", command="make  test\n", t=5)),
        ]

        assert self.of(*lines, result("b", "fine")) == "Bash: make test"

    def test_of_parallel_calls_it_is_the_last(self):
        assert (
            self.of(assistant(use("Bash", "a", command="one"), use("Bash", "b", command="two")))
            == "Bash: two"
        )

    def test_a_tail_may_begin_and_end_within_a_line(self):
        line = json.dumps(assistant(use("Bash", "b", command="ls")))

        assert stream_json.activity(f'ss":1}}\n{line}\n{{"type":"assis'.encode()) == "Bash: ls"

    @pytest.mark.parametrize(
        "arguments", [{"command": "x" * 500}, {"command": ["y" * 500]}, {"n": {"deep": "z" * 500}}]
    )
    def test_it_is_at_most_200_characters(self, arguments):
        activity = self.of(assistant(use("Bash", "a", **arguments)))

        assert len(activity) == 200
        assert activity.endswith("…")

    def test_a_call_without_arguments_is_its_name(self):
        assert self.of(assistant(use("TaskList", "a"))) == "TaskList"

    def test_a_number_is_an_argument_too(self):
        assert self.of(assistant(use("add", "a", a=0, b=40))) == "add: 0"

    def test_half_a_surrogate_pair_and_nul_are_replaced(self):
        assert self.of(assistant(use("Bash", "a", command="a\x00b\ud800c"))) == "Bash: a\ufffdb\ufffdc"

    @pytest.mark.parametrize(
        "tail", [b"", b"hello", b'{"tool_use"', b'{"x": "tool_use"}', b"\xff\xfe", b'["tool_use"]']
    )
    def test_no_call_is_no_activity(self, tail):
        assert stream_json.activity(tail) is None
