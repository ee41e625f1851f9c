"""Whatever an agent prints, reading it ends soon, in bounded memory, with text that a database can store."""

import json
import random
import tracemalloc
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.runtimes import lines
from agents.runtimes.base import AgentCall, Outcome, Printed
from agents.runtimes.keeping import REPLY_CHARACTERS, RESULT_CHARACTERS
from agents.runtimes.lines import json_objects, objects_in
from agents.runtimes.registry import runtime
from agents.runtimes.trajectory import MOST_CALLS, MOST_CHARACTERS

from .printing import (
    FINAL,
    FIXTURES,
    assistant,
    events,
    json_lines,
    model_steps,
    one_call,
    printed,
    read_as,
    read_stream,
    result,
    text,
    use,
    write_lines,
)

MEGABYTE = 1024 * 1024


def storable(outcome: Outcome) -> str:
    """Everything that is kept, as PostgreSQL and a browser would take it."""
    kept = json.dumps([outcome.response, outcome.error, outcome.steps, outcome.notes], allow_nan=False)
    assert "\\u0000" not in kept
    json.loads(kept)[0].encode()
    return kept


def read_huge(path) -> tuple[Outcome, int]:
    """The outcome and the megabytes that reading it took at most."""
    tracemalloc.start()
    outcome = read_stream(Printed(stdout=path, stderr=path, exit_code=0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return outcome, peak // MEGABYTE


def test_nul_wrong_utf8_and_half_surrogates_are_replaced(tmp_path):
    stdout = (
        b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"B\\u0000",'
        b'"input":{"k\\u0000ey":"\xff\xfe\\ud800"}}]}}\n'
        b'{"type":"result","is_error":false,"result":"a\\u0000b\\ud800c\xc3(\\ud83d\\ude00"}\n'
    )

    outcome = read_stream(printed(tmp_path, stdout))

    assert outcome.response == "a\ufffdb\ufffdc\ufffd(😀"
    assert one_call(outcome)["tool"] == "B\ufffd"
    storable(outcome)


def test_the_same_holds_for_plain_text_and_stderr(tmp_path):
    outcome = read_as("text", printed(tmp_path, b"a\x00b\xff", b"oh\x00 no\xff", exit_code=1))

    assert outcome.response == "a\ufffdb\ufffd"
    assert "oh\ufffd no\ufffd" in outcome.error


def test_a_reply_beyond_a_million_characters_keeps_both_ends_and_says_so(tmp_path):
    reply = "begin" + "x" * 2 * REPLY_CHARACTERS + "[[DONE]]"

    outcome = read_stream(printed(tmp_path, json_lines(FINAL | {"result": reply})))

    assert len(outcome.response) <= REPLY_CHARACTERS
    assert outcome.response.startswith("begin")
    assert outcome.response.endswith("[[DONE]]")
    assert "[cut: 2,000,013 characters, 1,000,000 kept]" in outcome.response


def test_a_reply_of_exactly_a_million_characters_is_whole(tmp_path):
    reply = "é" * REPLY_CHARACTERS

    assert read_stream(printed(tmp_path, json_lines(FINAL | {"result": reply}))).response == reply


def test_a_final_line_of_100_megabytes_is_an_answer_in_little_memory(tmp_path):
    path = tmp_path / "stdout"
    chunk = ('\\u00e9\\\\\\"word ' + "x" * 500) * 200
    begin = '{"total_cost_usd": 0.5, "result": "begin'
    end = '[[DONE]]", "is_error": false, "type": "result"}\n'
    write_lines(path, chain([begin], repeat(chunk, 100 * MEGABYTE // len(chunk)), [end]))

    outcome, megabytes = read_huge(path)

    assert outcome.succeeded
    assert outcome.cost_nano == 500_000_000
    assert outcome.response.startswith('beginé\\"word xxx')
    assert outcome.response.endswith("[[DONE]]")
    assert "bytes left out here]" in outcome.response
    assert len(outcome.response) <= REPLY_CHARACTERS
    assert megabytes < 40


@pytest.mark.parametrize(
    "chunk", ["x" * 60_000, "[1," * 20_000, '"k":1,' * 10_000, "\\" * 60_000, '"' * 60_001]
)
def test_a_long_line_that_is_no_json_does_not_hide_the_answer_behind_it(tmp_path, chunk):
    path = tmp_path / "stdout"
    write_lines(path, chain(["{"], repeat(chunk, 30 * MEGABYTE // len(chunk)), ["\n", json.dumps(FINAL)]))

    outcome, megabytes = read_huge(path)

    assert (outcome.succeeded, outcome.response) == (True, "done")
    assert megabytes < 60


def test_a_line_without_an_end_is_read_once(tmp_path):
    path = tmp_path / "stdout"
    write_lines(path, repeat("x" * 60_000, 600))

    outcome, megabytes = read_huge(path)

    assert not outcome.succeeded
    assert megabytes < 20


@given(st.text(alphabet=st.sampled_from(["\\", '"', "é", "x", "\n", "\x01", "😀", "\ud800"]), max_size=300))
def test_a_long_line_says_what_the_short_one_says(words):
    line = json.dumps({"a": words, "b": [words, 1], words: 2}).encode()
    long_line = lines._LongLine()
    for begin in range(0, len(line), 3):
        long_line.feed(line[begin : begin + 3])

    assert objects_in(long_line.shortened()) == objects_in(line)


@settings(max_examples=40)
@given(
    st.text(
        alphabet=st.sampled_from(["\\", '"', "é", "x", "\u2028", "😀", "\ud83d"]), min_size=100, max_size=150
    ),
    st.integers(min_value=1, max_value=40),
)
def test_where_a_long_string_is_cut_its_escapes_stay_whole(words, piece_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "STRING_HALF_BYTES", 40)
        patch.setattr(lines, "PIECE_BYTES", piece_bytes)
        long_line = lines._LongLine()
        long_line.feed(json.dumps({"a": words, "b": "end"}).encode())
        kept = objects_in(long_line.shortened())

    assert [part["b"] for part in kept] == ["end"]
    assert kept[0]["a"].startswith(words[:3])
    assert kept[0]["a"].endswith(words[-3:])


def test_nesting_deeper_than_can_be_read_is_passed_over(tmp_path):
    deep = '{"type":"assistant","message":' + "[" * 200_000 + "\n" + '{"a":' * 200_000 + "\n"

    assert read_stream(printed(tmp_path, deep + json_lines(FINAL))).succeeded
    assert not read_as("json", printed(tmp_path, deep)).succeeded


def test_arguments_nested_deep_are_kept_to_a_depth(tmp_path):
    arguments: dict = {}
    for _ in range(300):
        arguments = {"a": arguments}

    outcome = read_stream(printed(tmp_path, json_lines(assistant(use("Bash", "x", **arguments)), FINAL)))

    assert "nested too deep" in storable(outcome)


def test_numbers_that_no_database_takes_become_null(tmp_path):
    line = (
        '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"T",'
        '"input":{"a":NaN,"b":Infinity,"c":1e999,"d":%s,"e":1.5}}]}}\n' % ("9" * 100)
    )

    outcome = read_stream(printed(tmp_path, line + json_lines(FINAL)))

    assert one_call(outcome)["args"] == {"a": None, "b": None, "c": None, "d": None, "e": 1.5}
    storable(outcome)


def test_a_long_result_is_cut_and_differs_from_one_that_differs_only_there(tmp_path):
    long_one, long_two = "x" * 50_000 + "1" + "x" * 50_000, "x" * 50_000 + "2" + "x" * 50_000
    stdout = json_lines(
        assistant(use("Bash", "a"), use("Bash", "b"), use("Bash", "c")),
        result("a", long_one),
        result("b", long_two),
        result("c", long_one),
        FINAL,
    )

    (step,) = model_steps(read_stream(printed(tmp_path, stdout)))
    first, second, third = (call["result"] for call in step)

    assert len(first) <= RESULT_CHARACTERS
    assert "[cut: 100,001 characters, 20,000 kept" in first
    assert first == third != second


def test_long_arguments_keep_their_keys(tmp_path):
    arguments = {"file_path": "notes.txt", "content": "x" * 1_000_000}

    outcome = read_stream(printed(tmp_path, json_lines(assistant(use("Write", "a", **arguments)), FINAL)))

    assert one_call(outcome)["args"]["file_path"] == "notes.txt"
    assert len(one_call(outcome)["args"]["content"]) <= RESULT_CHARACTERS


def test_calls_beyond_the_most_that_are_kept_are_counted(tmp_path):
    lines = [assistant(use("Bash", f"id{n}", n=n), id=f"m{n}") for n in range(MOST_CALLS + 7)]

    outcome = read_stream(printed(tmp_path, json_lines(*lines, FINAL)))

    assert sum(len(step) for step in model_steps(outcome)) == MOST_CALLS
    assert events(outcome) == [{"event": "left_out", "calls": 7, "results": 0}]
    assert outcome.notes == (
        "The trajectory keeps 5,000 of 5,007 tool calls and leaves out 0 of their results.",
    )


def test_a_trajectory_has_a_largest_size_and_says_what_it_left_out(tmp_path):
    lines = chain.from_iterable(
        (assistant(use("Bash", f"id{n}"), id=f"m{n}"), result(f"id{n}", f"{n}" + "y" * 15_000))
        for n in range(500)
    )

    outcome = read_stream(printed(tmp_path, json_lines(*lines, FINAL)))
    kept = [call for step in model_steps(outcome) for call in step]

    assert len(json.dumps(outcome.steps)) < 1.1 * MOST_CHARACTERS
    assert len(kept) == 500
    left_out = sum("result" not in call for call in kept)
    assert left_out > 100
    assert events(outcome) == [{"event": "left_out", "calls": 0, "results": left_out}]


def test_endless_text_of_one_message_stays_bounded(tmp_path):
    path = tmp_path / "stdout"
    line = json.dumps(assistant(text("z" * 100_000))) + "\n"
    write_lines(path, chain(repeat(line, 300), [json.dumps({"type": "result", "is_error": False})]))

    outcome, megabytes = read_huge(path)

    assert outcome.succeeded
    assert len(outcome.response) <= REPLY_CHARACTERS
    assert megabytes < 40


def test_a_plain_reply_of_any_size_keeps_both_ends(tmp_path):
    path = tmp_path / "stdout"
    write_lines(path, chain(["begin"], repeat("w" * 60_000, 900), ["[[DONE]]"]))

    outcome = read_as("text", Printed(stdout=path, stderr=path, exit_code=0))

    assert outcome.succeeded
    assert len(outcome.response) <= REPLY_CHARACTERS
    assert outcome.response.startswith("begin")
    assert outcome.response.endswith("[[DONE]]")


WORDS = st.sampled_from(
    [
        "type",
        "subtype",
        "message",
        "content",
        "id",
        "name",
        "input",
        "text",
        "result",
        "is_error",
        "tool_use_id",
        "model",
        "usage",
        "modelUsage",
        "errors",
        "permission_denials",
        "mcp_servers",
        "tools",
        "status",
        "total_cost_usd",
        "api_error_status",
        "truncated_bytes",
        "error_status",
        "rate_limit_info",
        "resetsAt",
        "parent_tool_use_id",
        "item",
        "delta",
        "num_turns",
        "costBasis",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    ["system", "assistant", "user", "result", "rate_limit_event", "error", "turn.completed", "item.completed"]
)
EVENTS = st.builds(lambda type, rest: {**rest, "type": type}, TYPES, st.dictionaries(WORDS, JSON, max_size=5))
STREAMS = st.lists(EVENTS.map(lambda event: json.dumps(event).encode()) | st.binary(max_size=30), max_size=5)


READERS = [
    ("command", {"argv": ["agent"]}),
    ("command", {"argv": ["agent"], "output": "json"}),
    ("command", {"argv": ["agent"], "output": "stream-json"}),
    ("claude-code", {"permission_mode": "default", "mcp_servers": {"demo": {"command": "x"}}}),
    ("codex", {}),
]


@settings(max_examples=80, deadline=None)
@given(STREAMS, st.sampled_from(READERS))
def test_no_output_makes_reading_raise(tmp_path_factory, stream, reader):
    folder = tmp_path_factory.mktemp("spool")
    name, given_settings = reader
    kept = runtime(name).clean_settings(given_settings)
    call = AgentCall(prompt="x", model="gpt-5", allowed_tools=("Read",) if name == "claude-code" else None)

    runtime(name).activity(b"\n".join(stream), kept)
    outcome = runtime(name).read(printed(folder, b"\n".join(stream), call=call), kept)

    storable(outcome)
    assert outcome.succeeded == (outcome.error_kind is None)
    assert outcome.cost_nano is None or outcome.cost_nano >= 0


def test_a_folder_in_place_of_the_output_is_read_as_silence(tmp_path):
    assert list(json_objects(tmp_path)) == []
    assert not read_as("text", Printed(stdout=tmp_path, stderr=tmp_path, exit_code=1)).succeeded


def spoiled(value, chance: random.Random):
    """`value` with some parts replaced by what does not belong there."""
    if chance.random() < 0.03:
        return chance.choice(
            [None, True, -1, 0.5, 10**30, "", "x\x00\ud800", [], {}, [[]], {"type": []}, [None], "result"]
        )
    if isinstance(value, dict):
        return {key: spoiled(part, chance) for key, part in value.items() if chance.random() > 0.01}
    if isinstance(value, list):
        return [spoiled(part, chance) for part in value]
    return value


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/*.out")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_spoiled_recording_is_read_all_the_same(tmp_path, path):
    chance = random.Random(path.stem)
    name, given_settings = READERS[4] if path.parent.name == "codex" else READERS[3]
    kept = runtime(name).clean_settings(given_settings)
    lines = [json.loads(line) if line.startswith("{") else line for line in path.read_text().splitlines()]

    for _ in range(2):
        stdout = json_lines(*(spoiled(line, chance) for line in lines)).encode()
        cut = chance.randrange(len(stdout))
        for text_of_it in (stdout, stdout[:cut], stdout[cut:], stdout[:cut] + b"\x00\xff\n" + stdout[cut:]):
            outcome = runtime(name).read(printed(tmp_path, text_of_it, call=AgentCall(prompt="x")), kept)
            runtime(name).activity(text_of_it, kept)
            storable(outcome)
