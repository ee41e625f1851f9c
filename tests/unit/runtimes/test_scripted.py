"""The runtime `scripted` answers what its list says, at once."""

import datetime as dt
import time

import pytest

from agents.runtimes.base import AgentCall, AnswersInWorker, Away, Ending, ErrorKind
from agents.runtimes.registry import runtime
from trinity.kernel.clock import clock_from
from trinity.kernel.errors import Broken, Refused

SCRIPTED = runtime("scripted")
NOW = dt.datetime(2026, 11, 30, 1, tzinfo=dt.UTC)


def answers(*replies):
    settings = SCRIPTED.clean_settings({"replies": list(replies)})
    return lambda number: SCRIPTED.answer(AgentCall(prompt="Do it", run_number=number), settings)


def test_run_n_gets_the_nth_reply_and_the_last_one_repeats():
    answer = answers({"response": "a"}, {"response": "b"})

    assert [answer(number).response for number in (1, 2, 3, 100)] == ["a", "b", "b", "b"]


def test_a_reply_brings_cost_and_time():
    outcome = answers({"response": "a", "cost_usd": 0.1, "seconds": 1.5})(1)

    assert (outcome.ending, outcome.cost_nano, outcome.duration_ms) == (Ending.COMPLETED, 100_000_000, 1500)


def test_no_cost_is_unknown():
    assert answers({"response": "a", "cost_usd": None})(1).cost_nano is None
    assert answers({"response": "a"})(1).cost_nano is None


def test_an_error_is_said_as_it_stands():
    outcome = answers({"error": "boom", "cost_usd": 0.6})(1)

    assert (outcome.ending, outcome.error_kind) == (Ending.FAILED, ErrorKind.AGENT_ERROR)
    assert (outcome.error, outcome.response, outcome.cost_nano) == ("boom", "", 600_000_000)


def test_a_long_reply_takes_no_time_and_does_not_time_out():
    outcome = answers({"response": "a", "seconds": 5000})(1)

    assert (outcome.succeeded, outcome.duration_ms) == (True, 5_000_000)


def test_a_timeout_can_be_scripted():
    outcome = answers({"timed_out": True, "error": "too late"})(1)

    assert (outcome.ending, outcome.error_kind, outcome.error) == (
        Ending.TIMED_OUT,
        ErrorKind.TIMEOUT,
        "too late",
    )


def test_tools_are_steps_and_lists_of_tools_one_step():
    bash = {"tool": "Bash", "args": {"command": "ls"}, "result": "x"}

    outcome = answers({"response": "a", "tools": [bash, [bash, {"tool": "Read"}], []]})(1)

    assert outcome.steps == ((bash,), (bash, {"tool": "Read"}), ())


def test_refused_tools_can_be_scripted():
    assert answers({"response": "a", "permission_denials": ["Bash"]})(1).permission_denials == ("Bash",)


def test_a_model_can_be_away_until_a_time():
    answer = answers({"error_kind": "usage_limit", "away_seconds": 7200})

    with clock_from(lambda: NOW):
        assert answer(1).away == Away(ErrorKind.USAGE_LIMIT, NOW + dt.timedelta(hours=2))


def test_a_model_that_goes_away_after_a_tool_is_a_failure():
    assert answers({"error_kind": "rate_limited", "error": "429"})(1).away == Away(ErrorKind.RATE_LIMITED)
    assert answers({"error_kind": "rate_limited", "tools": [{"tool": "Bash"}]})(1).away is None
    assert answers({"error": "x"})(1).away is None


@pytest.mark.parametrize(
    ("reply", "where"),
    [
        ("done", ".0"),
        ({}, ".0"),
        ({"timed_out": False}, ".0"),
        ({"reply": "done"}, ".0"),
        ({"response": 5}, ".0"),
        ({"error": ""}, ".0"),
        ({"response": "a", "cost_usd": -1}, ".0"),
        ({"response": "a", "cost_usd": "1"}, ".0"),
        ({"response": "a", "cost_usd": float("nan")}, ".0"),
        ({"response": "a", "seconds": -1}, ".0"),
        ({"response": "a", "seconds": True}, ".0"),
        ({"error_kind": "tired"}, ".0"),
        ({"response": "a", "tools": ["Bash"]}, ".0.0"),
        ({"response": "a", "tools": [{"tool": "Bash", "input": {}}]}, ".0.0"),
        ({"response": "a", "tools": [[{"args": {}}]]}, ".0.0.0"),
    ],
)
def test_a_wrong_reply_is_refused_at_its_place(reply, where):
    with pytest.raises(Refused) as refusal:
        SCRIPTED.clean_settings({"replies": [reply]})

    assert list(refusal.value.errors) == [f"runtime_settings.replies{where}"]


@pytest.mark.parametrize("replies", [None, [], "done", {"response": "a"}])
def test_replies_are_a_list_with_one_at_least(replies):
    with pytest.raises(Refused):
        SCRIPTED.clean_settings({"replies": replies})


def test_it_answers_far_more_than_a_thousand_runs_in_a_second():
    answer = answers({"response": "a", "cost_usd": 0.1, "tools": [{"tool": "Bash"}]})

    began = time.perf_counter()
    for number in range(10_000):
        answer(number + 1)

    assert time.perf_counter() - began < 1


def test_it_answers_in_the_worker_and_starts_nothing():
    settings = SCRIPTED.clean_settings({"replies": [{"response": "a"}]})

    assert isinstance(SCRIPTED, AnswersInWorker)
    assert not isinstance(runtime("command"), AnswersInWorker)
    with pytest.raises(Broken):
        SCRIPTED.command(AgentCall(prompt="x"), settings)
