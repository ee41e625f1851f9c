"""The Loops tab by status: the choice stands in the address, as the filters of executions do."""

import re

import pytest
from django.test import Client

from loops.models import Loop
from tests.engine import success
from tests.web.pages.conftest import Stage, text_of
from tests.web.pages.test_loops_tab import TAB


@pytest.fixture
def of_each(stage: Stage) -> dict[str, Loop]:
    """A loop in each status that the page offers, by its name there."""
    return {
        "completed": stage.completed(),
        "completed_with_errors": stage.completed_with_errors(),
        "stopped": stage.without_progress(),
        "failed": stage.failed(),
        "active": stage.running(),
    }


def listed(page: str) -> list[str]:
    return re.findall(r'<article id="(loop_[^"]+)"', page)


@pytest.mark.parametrize("status", ["completed", "completed_with_errors", "stopped", "failed", "active"])
def test_only_loops_in_the_status_are_listed(as_alice: Client, of_each: dict[str, Loop], status: str) -> None:
    page, rows = (text_of(as_alice.get(path, {"status": status})) for path in (TAB, f"{TAB}rows/"))

    assert listed(page) == listed(rows) == [of_each[status].pk]
    assert f'<a href="?status={status}" aria-current="true">' in page
    assert f'hx-get="{TAB}rows/?status={status}"' in page


def test_a_queued_loop_is_active(as_alice: Client, stage: Stage) -> None:
    loop = stage.queued()

    assert listed(text_of(as_alice.get(TAB, {"status": "active"}))) == [loop.pk]


def test_without_a_choice_all_are_listed_and_each_choice_is_a_link(as_alice: Client, of_each: dict[str, Loop]) -> None:
    page = text_of(as_alice.get(TAB))

    assert set(listed(page)) == {loop.pk for loop in of_each.values()}
    for status in of_each:
        assert f'href="?status={status}"' in page


def test_a_status_that_no_loop_is_in_says_so(as_alice: Client, stage: Stage) -> None:
    stage.completed()

    assert "No loop of this agent is completed with errors." in text_of(
        as_alice.get(TAB, {"status": "completed_with_errors"})
    )


@pytest.mark.parametrize("status", ["nonsense", "%00", "a\x00b", "COMPLETED", "é", "x" * 5_000])
@pytest.mark.parametrize("path", [TAB, f"{TAB}rows/"])
def test_rubbish_for_a_status_is_a_clean_refusal_that_names_the_known_ones(
    as_alice: Client, stage: Stage, path: str, status: str
) -> None:
    response = as_alice.get(path, {"status": status})

    assert response.status_code == 400
    assert "completed_with_errors" in text_of(response)


def test_more_of_them_keeps_the_status(as_alice: Client, stage: Stage) -> None:
    for number in range(51):
        stage.ended(success(f"reply {number}"), max_runs=1)

    page = text_of(as_alice.get(TAB, {"status": "completed"}))

    assert 'href="?status=completed&older=1">Show older loops</a>' in page
    assert len(listed(text_of(as_alice.get(TAB, {"status": "completed", "older": "1"})))) == 51
