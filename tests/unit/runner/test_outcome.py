"""Reading an outcome believes nothing that is not whole."""

import datetime as dt
import json

import pytest

from executions.runner.outcome import GitChange, OutcomeDamaged, read_outcome
from trinity.kernel.errors import Broken

FACTS = {
    "started_at": 1_700_000_000.5,
    "ended_at": 1_700_000_001,
    "duration_seconds": 0.5,
    "start_error": None,
    "agent_pid": 4321,
    "exit_code": 0,
    "signal": None,
    "timed_out": False,
    "terminated": False,
    "hung": False,
    "limit": None,
    "stdout_bytes": 10,
    "truncated_bytes": 0,
    "stderr_bytes": 0,
    "stderr_truncated_bytes": 0,
    "spool_error": None,
    "leftovers_killed": 0,
    "leftovers_alive": 0,
    "cpu_seconds": 0.1,
    "max_rss_bytes": 1_000_000,
    "git": {"commits": 2, "added": 41, "removed": None},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "outcome.json"


def test_a_whole_outcome_is_read(path):
    path.write_text(json.dumps(FACTS | {"of_a_later_version": 1}))

    outcome = read_outcome(path)

    assert outcome.started_at == dt.datetime(2023, 11, 14, 22, 13, 20, 500_000, dt.UTC)
    assert (outcome.exit_code, outcome.agent_pid, outcome.duration_seconds) == (0, 4321, 0.5)
    assert outcome.git == GitChange(commits=2, added=41, removed=None)


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]", b"\xff", b" " * 4096, b"[" * 4096, b"NaN"])
def test_what_is_no_object_is_damaged(path, content):
    path.write_bytes(content)

    with pytest.raises(OutcomeDamaged):
        read_outcome(path)


@pytest.mark.parametrize("name", FACTS.keys() - {"limit"})  # earlier releases wrote none
def test_every_fact_must_be_there(path, name):
    path.write_text(json.dumps({key: fact for key, fact in FACTS.items() if key != name}))

    with pytest.raises(OutcomeDamaged, match=name):
        read_outcome(path)


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("wrong", [[], {"commits": "2"}])
def test_every_fact_must_be_of_its_kind(path, name, wrong):
    path.write_text(json.dumps(FACTS | {name: wrong}))

    with pytest.raises(OutcomeDamaged):
        read_outcome(path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("exit_code", True),
        ("timed_out", 0),
        ("stdout_bytes", 1.5),
        ("started_at", 1e300),
        ("cpu_seconds", float("nan")),
        ("started_at", "today"),
    ],
)
def test_a_kind_that_is_only_alike_is_damaged(path, name, wrong):
    path.write_text(json.dumps(FACTS | {name: wrong}))

    with pytest.raises(Broken, match=name):
        read_outcome(path)


def test_what_is_longer_than_any_outcome_is_damaged(path):
    path.write_text(json.dumps(FACTS) + " " * 5000 + "x")

    with pytest.raises(OutcomeDamaged):
        read_outcome(path)


def test_a_missing_outcome_is_damaged(path):
    with pytest.raises(OutcomeDamaged):
        read_outcome(path)
