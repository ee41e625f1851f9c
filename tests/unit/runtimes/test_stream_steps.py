"""Which calls a stream holds, in which steps, with which results, and what the agent is doing."""

import json

import pytest

from agents.runtimes import stream_json

from .printing import (
    FINAL,
    assistant,
    calls,
    json_lines,
    model_steps,
    one_call,
    printed,
    read_stream,
    result,
    text,
    use,
)


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
    lines = json_lines(assistant(use("Task", "t"), id="m1"), assistant(use("Bash", "a"), id="m1", parent="t"), FINAL)

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
        assert self.of(assistant(use("Bash", "a", command="one"), use("Bash", "b", command="two"))) == "Bash: two"

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
