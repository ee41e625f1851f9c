"""Whatever an agent prints, reading it ends soon, in bounded memory, with text that a database can store."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.runtimes.base import AgentCall, Outcome, Printed
from agents.runtimes.lines import json_objects
from agents.runtimes.registry import runtime

from .printing import (
    FINAL,
    FIXTURES,
    assistant,
    json_lines,
    one_call,
    printed,
    read_as,
    read_stream,
    use,
)


def storable(outcome: Outcome) -> str:
    """Everything that is kept, as PostgreSQL and a browser would take it."""
    kept = json.dumps([outcome.response, outcome.error, outcome.steps, outcome.notes], allow_nan=False)
    assert "\\u0000" not in kept
    json.loads(kept)[0].encode()
    return kept


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
        "totals",
        "cost_usd",
        "calls",
        "number",
        "text",
        "failure",
        "reply",
        "names",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    [
        *("system", "assistant", "user", "result", "rate_limit_event", "error"),
        *("turn.completed", "item.completed"),
        *("model.message", "model.result", "model.retry", "model.end"),
    ]
)
EVENTS = st.builds(lambda type, rest: {**rest, "type": type}, TYPES, st.dictionaries(WORDS, JSON, max_size=5))
STREAMS = st.lists(EVENTS.map(lambda event: json.dumps(event).encode()) | st.binary(max_size=30), max_size=5)


READERS = [
    ("command", {"argv": ["agent"]}),
    ("command", {"argv": ["agent"], "output": "json"}),
    ("command", {"argv": ["agent"], "output": "stream-json"}),
    ("claude-code", {"permission_mode": "default", "mcp_servers": {"demo": {"command": "x"}}}),
    ("codex", {}),
    ("model", {"protocol": "openai"}),
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


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.out")), ids=lambda path: f"{path.parent.name}-{path.stem}")
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
