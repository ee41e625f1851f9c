"""However much an agent prints, it is read in bounded memory, and what is left out is said."""

import json
import tracemalloc
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.runtimes import lines
from agents.runtimes.base import Outcome, Printed
from agents.runtimes.keeping import REPLY_CHARACTERS, RESULT_CHARACTERS
from agents.runtimes.lines import objects_in
from agents.runtimes.trajectory import MOST_CALLS, MOST_CHARACTERS

from .printing import (
    FINAL,
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


def read_huge(path) -> tuple[Outcome, int]:
    """The outcome and the megabytes that reading it took at most."""
    tracemalloc.start()
    outcome = read_stream(Printed(stdout=path, stderr=path, exit_code=0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return outcome, peak // MEGABYTE


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


@pytest.mark.parametrize("chunk", ["x" * 60_000, "[1," * 20_000, '"k":1,' * 10_000, "\\" * 60_000, '"' * 60_001])
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
    st.text(alphabet=st.sampled_from(["\\", '"', "é", "x", "\u2028", "😀", "\ud83d"]), min_size=100, max_size=150),
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
    assert outcome.notes == ("The trajectory keeps 5,000 of 5,007 tool calls and leaves out 0 of their results.",)


def test_a_trajectory_has_a_largest_size_and_says_what_it_left_out(tmp_path):
    lines = chain.from_iterable(
        (assistant(use("Bash", f"id{n}"), id=f"m{n}"), result(f"id{n}", f"{n}" + "y" * 15_000)) for n in range(500)
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
