"""What the runner's facts mean beside what the agent printed."""

import pytest

from agents.runtimes.base import ErrorKind

from .printing import (
    FINAL,
    assistant,
    calls,
    json_lines,
    printed,
    read_stream,
    use,
)

FORCED = [
    ({"start_error": "No such file: agent"}, ErrorKind.NOT_STARTED, "No such file: agent"),
    ({"terminated": True}, ErrorKind.ABANDONED, "on request"),
    ({"terminated": True, "start_error": "ended before it started"}, ErrorKind.ABANDONED, "on request"),
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
