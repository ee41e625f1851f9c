"""What the form says before a loop starts."""

from typing import Any

from loops.foresight import Foresight, foresee
from loops.parameters import read_parameters


def foreseen(**asked: Any) -> Foresight:
    return foresee(read_parameters({"message": "Go", "max_runs": 20, **asked}), 900)


def test_runs_times_timeout_is_the_most_it_may_take() -> None:
    assert foreseen().time == "20 runs × 15 m = 5 h 00 m"


def test_delays_lie_between_runs_only() -> None:
    assert foreseen(max_runs=2, delay_seconds=60).time == "2 runs × 15 m and 1 × 1 m of delay = 31 m 00 s"


def test_a_duration_below_that_ends_it_sooner() -> None:
    assert foreseen(max_duration_seconds=3600).time.endswith(", ended after 1 h once the run in flight has finished")


def test_a_loop_without_a_budget_is_told_so() -> None:
    assert foreseen().money == "no budget set"
    assert foreseen(max_cost_usd=0.5).money.startswith("$0.50")


def test_a_signal_that_the_message_never_mentions_is_warned_of() -> None:
    assert any("[[DONE]]" in sentence for sentence in foreseen(stop_signal="[[DONE]]").warnings)
    assert not foreseen(message="Reply [[DONE]]", stop_signal="[[DONE]]").warnings


def test_a_poll_is_advised_to_let_replies_repeat() -> None:
    assert any("threshold of 0" in sentence for sentence in foreseen(delay_seconds=30).warnings)
    assert not foreseen(delay_seconds=30, no_progress_threshold=0).warnings
