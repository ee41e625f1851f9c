"""Which rule of section 2 comes first when several hold at once."""

from typing import Any

import pytest

from loops.decisions import Decision, Start, before_run
from loops.vocabulary import StopReason
from tests.unit.loops.rules import (
    ABORTED,
    BUDGET_SPENT,
    DEADLINE_PASSED,
    DONE,
    GAVE_UP,
    LAST_RUN,
    REPEATS,
    SIGNALLED,
    STOP_STANDS,
    STOPPED,
    THIRD_FAILURE,
    TOLERANT,
    decision_after,
    failure,
    loop,
    reply,
)

EVERYTHING = STOP_STANDS | DEADLINE_PASSED | BUDGET_SPENT | LAST_RUN | REPEATS
AFTER_A_REPLY = [
    ("the agent's own word outranks everything", EVERYTHING | {"stop_signal": "new"}, SIGNALLED),
    ("a loop whose runs are done is done, whatever guardrail holds", EVERYTHING, DONE),
    ("no progress outranks the end of the runs", LAST_RUN | REPEATS, STOPPED[StopReason.NO_PROGRESS]),
    ("no progress outranks the budget", BUDGET_SPENT | REPEATS, STOPPED[StopReason.NO_PROGRESS]),
    ("a stop request outranks no progress", STOP_STANDS | REPEATS, STOPPED[StopReason.USER_STOPPED]),
    ("the deadline outranks no progress", DEADLINE_PASSED | REPEATS, STOPPED[StopReason.DEADLINE_EXCEEDED]),
    ("no progress gives way to a stop on the last run too", STOP_STANDS | REPEATS | LAST_RUN, DONE),
    ("no progress gives way to the deadline on the last run too", DEADLINE_PASSED | REPEATS | LAST_RUN, DONE),
    ("a stop request outranks the deadline", STOP_STANDS | DEADLINE_PASSED, STOPPED[StopReason.USER_STOPPED]),
    ("a stop request outranks the budget", STOP_STANDS | BUDGET_SPENT, STOPPED[StopReason.USER_STOPPED]),
    ("the deadline outranks the budget", DEADLINE_PASSED | BUDGET_SPENT, STOPPED[StopReason.DEADLINE_EXCEEDED]),
    ("the end of the runs outranks a stop request", LAST_RUN | STOP_STANDS, DONE),
    ("the end of the runs outranks the deadline", LAST_RUN | DEADLINE_PASSED, DONE),
    ("the end of the runs outranks the budget", LAST_RUN | BUDGET_SPENT, DONE),
]
AFTER_A_FAILURE = [
    ("in abort a failure outranks everything", EVERYTHING, ABORTED),
    ("too many failures in a row outrank everything", EVERYTHING | THIRD_FAILURE, GAVE_UP),
    ("a tolerated failure leaves the word to a stop", TOLERANT | STOP_STANDS, STOPPED[StopReason.USER_STOPPED]),
    (
        "a tolerated failure leaves the word to the deadline",
        TOLERANT | DEADLINE_PASSED,
        STOPPED[StopReason.DEADLINE_EXCEEDED],
    ),
    (
        "a tolerated failure leaves the word to the budget",
        TOLERANT | BUDGET_SPENT,
        STOPPED[StopReason.BUDGET_EXHAUSTED],
    ),
    (
        "a failure among identical replies is no third one",
        TOLERANT | {"repeat_count": 2},
        Start(6),
    ),
]


@pytest.mark.parametrize(
    ("holds", "decision"), [case[1:] for case in AFTER_A_REPLY], ids=[case[0] for case in AFTER_A_REPLY]
)
def test_after_a_reply(holds: dict[str, Any], decision: Decision) -> None:
    assert decision_after(loop(**holds), reply()) == decision


@pytest.mark.parametrize(
    ("holds", "decision"), [case[1:] for case in AFTER_A_FAILURE], ids=[case[0] for case in AFTER_A_FAILURE]
)
def test_after_a_failure(holds: dict[str, Any], decision: Decision) -> None:
    assert decision_after(loop(**holds), failure()) == decision


BEFORE_A_RUN = [
    ("nothing stands in its way", {}, Start(5)),
    (
        "a stop request comes first",
        STOP_STANDS | DEADLINE_PASSED | BUDGET_SPENT,
        STOPPED[StopReason.USER_STOPPED],
    ),
    ("then the deadline", DEADLINE_PASSED | BUDGET_SPENT, STOPPED[StopReason.DEADLINE_EXCEEDED]),
    ("then the budget", BUDGET_SPENT, STOPPED[StopReason.BUDGET_EXHAUSTED]),
    ("replies and failures of before are not judged again", REPEATS | {"repeat_count": 9}, Start(5)),
]


@pytest.mark.parametrize(
    ("holds", "decision"), [case[1:] for case in BEFORE_A_RUN], ids=[case[0] for case in BEFORE_A_RUN]
)
def test_before_a_run(holds: dict[str, Any], decision: Decision) -> None:
    assert before_run(loop(**holds)) == decision
