"""What the final object and the first event of a stream mean, one rule after another."""

import json

import pytest

from agents.runtimes.base import Ending, ErrorKind

from .printing import (
    FINAL,
    assistant,
    calls,
    failure,
    init,
    json_lines,
    printed,
    read_as,
    read_stream,
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
