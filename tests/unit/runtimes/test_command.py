"""What the runtime `command` starts, and how it reads the text of a program."""

import pytest

from agents.runtimes.base import AgentCall, Ending, ErrorKind
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused

from .printing import FINAL, json_lines, printed, read_as

COMMAND = runtime("command")


def started(call: AgentCall | None = None, **settings):
    kept = COMMAND.clean_settings({"argv": ["agent", "--fast"], **settings})
    return COMMAND.command(call or AgentCall(prompt="Do it"), kept)


def test_the_prompt_goes_in_on_stdin():
    spec = started(AgentCall(prompt="Grüße\n"))

    assert (spec.argv, spec.stdin) == (("agent", "--fast"), "Grüße\n".encode())


def test_the_prompt_fills_every_place_in_one_pass():
    call = AgentCall(prompt="say {prompt} and {model}", model="small")

    spec = started(call, argv=["agent", "-m={model}", "{prompt}", "<{prompt}>"], prompt="argument")

    words = "say {prompt} and {model}"
    assert spec.argv == ("agent", "-m=small", words, f"<{words}>")
    assert spec.stdin == b""


def test_a_shell_never_sees_the_prompt():
    words = "'; rm -rf / #`$(id)`\n\"*"

    assert started(AgentCall(prompt=words), argv=["agent", "{prompt}"], prompt="argument").argv == (
        "agent",
        words,
    )


def test_an_argument_takes_128_kib_and_no_byte_more():
    settings = {"argv": ["agent", "{prompt}"], "prompt": "argument"}

    assert len(started(AgentCall(prompt="x" * 131_071), **settings).argv[1]) == 131_071
    with pytest.raises(Refused) as refusal:
        started(AgentCall(prompt="é" * 65_536), **settings)
    assert "131,072 bytes" in refusal.value.errors["prompt"][0]
    assert "prompt: stdin" in refusal.value.errors["prompt"][0]


def test_all_arguments_together_have_a_most_too():
    settings = {"argv": ["agent", *["{prompt}"] * 20], "prompt": "argument"}

    with pytest.raises(Refused):
        started(AgentCall(prompt="x" * 100_000), **settings)


def test_a_prompt_on_stdin_may_be_long():
    assert len(started(AgentCall(prompt="x" * 1_000_000)).stdin) == 1_000_000


def test_nul_and_half_surrogates_of_a_prompt_are_replaced():
    call = AgentCall(prompt="a\0b\ud800c")

    assert started(call).stdin == "a\ufffdb\ufffdc".encode()
    assert started(call, argv=["agent", "{prompt}"], prompt="argument").argv[1] == "a\ufffdb\ufffdc"


def test_the_model_reaches_the_program_by_variable_and_by_place():
    spec = started(AgentCall(prompt="x", model="small"), argv=["agent", "--model", "{model}"])

    assert spec.argv == ("agent", "--model", "small")
    assert spec.env == {"TRINITY_MODEL": "small"}
    assert started().env == {}


def test_a_place_for_a_model_without_a_model_is_a_clear_failure():
    with pytest.raises(Refused) as refusal:
        started(argv=["agent", "--model", "{model}"])

    assert "no model is set" in refusal.value.errors["model"][0]


@pytest.mark.parametrize(("output", "final_types"), [("text", ()), ("json", ("result",)), ("stream-json", ("result",))])
def test_the_runner_is_told_what_a_final_line_is(output, final_types):
    assert started(output=output).final_types == final_types


def test_it_cannot_restrict_tools_and_refuses_to():
    assert COMMAND.restricts_tools(COMMAND.clean_settings({"argv": ["agent"]})) is False
    with pytest.raises(Refused) as refusal:
        started(AgentCall(prompt="x", allowed_tools=("Read",)))
    assert list(refusal.value.errors) == ["allowed_tools"]


def test_text_on_stdout_is_the_reply_when_the_exit_code_is_0(tmp_path):
    outcome = read_as("text", printed(tmp_path, "  Grüße\n\n", "a warning"))

    assert (outcome.ending, outcome.response, outcome.error) == (Ending.COMPLETED, "  Grüße\n\n", "")


@pytest.mark.parametrize("code", [1, 2, 127, 255])
def test_another_exit_code_fails_with_the_last_words(tmp_path, code):
    outcome = read_as("text", printed(tmp_path, "half a reply", "Traceback\n\x1b boom\n", exit_code=code))

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.CRASHED)
    assert f"exit code {code}" in outcome.error
    assert "boom" in outcome.error
    assert outcome.response == "half a reply"


def test_a_final_object_means_nothing_to_a_text_agent(tmp_path):
    assert not read_as("text", printed(tmp_path, json_lines(FINAL), exit_code=1)).succeeded


@pytest.mark.parametrize(
    ("facts", "ending", "kind"),
    [
        ({"exit_code": None, "signal": 9}, Ending.FAILED, ErrorKind.CRASHED),
        ({"exit_code": None}, Ending.FAILED, ErrorKind.CRASHED),
        ({"timed_out": True, "timeout_seconds": 10}, Ending.TIMED_OUT, ErrorKind.TIMEOUT),
        ({"terminated": True}, Ending.FAILED, ErrorKind.ABANDONED),
        ({"start_error": "no such file"}, Ending.FAILED, ErrorKind.NOT_STARTED),
        ({"spool_error": "ENOSPC"}, Ending.FAILED, ErrorKind.DISK_FULL),
    ],
)
def test_how_the_process_ended_decides(tmp_path, facts, ending, kind):
    outcome = read_as("text", printed(tmp_path, "so far", **facts))

    assert (outcome.ending, outcome.error_kind, outcome.response) == (ending, kind, "so far")


def test_the_runners_mark_is_put_into_words(tmp_path):
    stdout = 'begin\n{"type":"trinity.cut","truncated_bytes":             1234}\nend'

    marked = read_as("text", printed(tmp_path, stdout, truncated_bytes=1234))
    own_words = read_as("text", printed(tmp_path, stdout))

    assert marked.response == "begin\n[cut: 1,234 bytes left out here]\nend"
    assert own_words.response == stdout


def test_only_a_stream_tells_what_an_agent_is_doing():
    tail = b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"c":"ls"}}]}}'

    for output, activity in (("text", None), ("json", None), ("stream-json", "Bash: ls")):
        assert COMMAND.activity(tail, COMMAND.clean_settings({"argv": ["a"], "output": output})) == activity
