"""What the rules read of a reply and what is kept of it."""

from typing import Any

import pytest

from accounts.viewers import Viewer
from executions.columns import MAX_RESPONSE_CHARACTERS
from executions.services import settle, take
from loops.vocabulary import StopReason
from tests.engine import WORKER, again, start, success

FILLING = "x" * MAX_RESPONSE_CHARACTERS


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def run_once(agent: Any, *responses: str) -> None:
    for response in responses:
        execution = take(agent.pk, WORKER)
        assert execution is not None
        settle(execution, success(response))


def test_a_stop_signal_in_the_middle_of_an_endless_reply_is_heard(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, stop_signal="[[DONE]]")

    run_once(agent, FILLING + "[[DONE]]" + FILLING)

    assert again(loop).stop_reason == StopReason.STOP_SIGNAL_MATCHED
    assert "[[DONE]]" not in again(loop).last_response, "what is kept was cut just there"


def test_endless_replies_that_differ_where_they_are_cut_are_not_identical(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, no_progress_threshold=2)

    run_once(agent, FILLING + "a" + FILLING, FILLING + "b" + FILLING)

    assert again(loop).repeat_count == 1


def test_a_reply_is_kept_whole_and_cut_only_beyond_its_cap(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    run_once(agent, FILLING)
    assert again(loop).last_response == FILLING

    run_once(agent, FILLING + "y")
    assert len(again(loop).last_response) == MAX_RESPONSE_CHARACTERS
    assert "[cut here: 1,000,001 characters" in again(loop).last_response


def test_characters_that_no_database_takes_are_replaced_and_said_so(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, message="{{previous_response}}")

    run_once(agent, "a\x00b\ud800c")

    assert again(loop).last_response == "a\ufffdb\ufffdc"
    following = take(agent.pk, WORKER)
    assert following is not None
    assert following.prompt == "a\ufffdb\ufffdc"
