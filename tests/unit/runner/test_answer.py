"""When an agent counts as having given its answer; the time is given."""

from pathlib import Path

import pytest

from executions.runner import answer
from executions.runner.answer import AnswerWatch

RECORDED = Path(__file__).parents[2] / "data" / "runner" / "claude_wake.out"
FINAL = b'{"type":"result","result":"ok"}\n'
OTHER = b'{"type":"system","subtype":"init"}\n'


@pytest.fixture
def watch():
    return AnswerWatch(["result", "turn.completed"])


def test_the_last_final_line_counts(watch):
    watch.feed(OTHER + FINAL, 5.0)
    watch.feed(FINAL, 7.0)

    assert watch.final_at == 7.0


@pytest.mark.parametrize(
    "later", [OTHER, b'  {"a": 1}\n', b'{"type": ["result"]}\n', b'{"type":"user","text":"result"}\n']
)
def test_a_later_object_that_is_not_final_takes_it_back(watch, later):
    watch.feed(FINAL, 5.0)
    watch.feed(later, 6.0)

    assert watch.final_at is None


@pytest.mark.parametrize(
    "later",
    [b"\n", b"noise\n", b"[1]\n", b"3\n", b'"result"\n', b"{broken result\n", b"\xff\xfe\n", b'{"type":"sys'],
)
def test_what_is_no_object_says_nothing(watch, later):
    watch.feed(FINAL, 5.0)
    watch.feed(later, 6.0)
    watch.pause(6.0)

    assert watch.final_at == 5.0


@pytest.mark.parametrize(
    "first",
    [OTHER, b"result\n", b'{"type":"user","text":"result"}\n', b'["result"]\n', b"{" * 9 + b"result\n"],
)
def test_what_only_mentions_a_final_type_is_not_final(watch, first):
    watch.feed(first, 5.0)

    assert watch.final_at is None


def test_a_line_may_come_in_pieces_of_any_size(watch):
    for n in range(len(FINAL)):
        assert watch.final_at is None
        watch.feed(FINAL[n : n + 1], float(n))

    assert watch.final_at == len(FINAL) - 1


def test_a_final_object_without_a_line_feed_counts_when_nothing_follows(watch):
    watch.feed(FINAL.strip(), 5.0)
    assert watch.final_at is None

    watch.pause(5.5)

    assert watch.final_at == 5.5


def test_a_pause_in_the_midst_of_a_line_says_nothing(watch):
    watch.feed(b'{"type":"result","usage":{"output":1}', 5.0)
    watch.pause(5.1)
    assert watch.final_at is None

    watch.feed(b',"result":"ok"}\n', 6.0)

    assert watch.final_at == 6.0


def test_looking_twice_at_the_same_unfinished_line_does_not_prolong_the_patience(watch):
    watch.feed(FINAL.strip(), 5.0)
    watch.pause(5.0)
    watch.pause(9.0)

    assert watch.final_at == 5.0


def test_a_recorded_session_that_goes_on_after_its_result_counts_from_the_last_one(watch):
    session = RECORDED.read_bytes()
    init, result = session.splitlines(keepends=True)[0], session.splitlines(keepends=True)[-1]

    watch.feed(session, 10.0)
    assert watch.final_at == 10.0
    watch.feed(init, 20.0)
    assert watch.final_at is None
    watch.feed(result, 30.0)
    assert watch.final_at == 30.0


def test_without_final_types_nothing_is_looked_at():
    watch = AnswerWatch([])

    watch.feed(FINAL, 5.0)
    watch.pause(5.0)

    assert watch.final_at is None


def test_a_very_long_line_is_passed_over_without_being_held(watch, monkeypatch):
    monkeypatch.setattr(answer, "LINE_BYTES", 1000)

    watch.feed(FINAL, 5.0)
    for _ in range(100):
        watch.feed(b'{"type":"user"' + b"x" * 100, 6.0)
    assert len(watch._line) <= 1000
    watch.feed(b"}\n", 6.0)
    assert watch.final_at is None

    watch.feed(FINAL, 7.0)
    assert watch.final_at == 7.0
