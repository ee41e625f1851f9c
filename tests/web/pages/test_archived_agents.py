"""An archived agent is put away for good: its history is read as before, and nothing can be done with it."""

import pytest
from django.test import Client

from agents.services import archive_agent
from loops.models import Loop
from tests.web.pages.conftest import Stage, text_of
from tests.web.pages.test_loops_tab import TAB, TYPED


@pytest.fixture
def archived(stage: Stage) -> Loop:
    """A loop that ended before its agent was archived."""
    from agents.models import Agent

    loop = stage.completed()
    Agent.objects.filter(pk=stage.agent.pk).update(archived_at=stage.clock())
    return loop


PAGES = ["", "overview/", "head/", "loops/", "loops/rows/", "loops/door/", "loops/form/", "executions/", "settings/"]


@pytest.mark.parametrize("path", PAGES)
def test_its_pages_stay_for_those_who_could_see_it(as_bob: Client, archived: Loop, path: str) -> None:
    assert as_bob.get(f"/agents/scribe/{path}").status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_to_a_stranger_it_does_not_exist(as_mallory: Client, archived: Loop, path: str) -> None:
    assert as_mallory.get(f"/agents/scribe/{path}").status_code == 404


def test_its_loops_and_executions_are_listed(as_alice: Client, archived: Loop) -> None:
    assert f'id="{archived.pk}"' in text_of(as_alice.get(TAB))
    assert "exec_" in text_of(as_alice.get("/agents/scribe/executions/"))


def test_it_says_that_it_is_archived_and_offers_nothing_to_do(as_alice: Client, archived: Loop) -> None:
    tab, settings = text_of(as_alice.get(TAB)), text_of(as_alice.get("/agents/scribe/settings/"))

    assert "The agent is archived: it takes nothing new any more." in tab
    assert 'action="/agents/scribe/loops/"' not in tab
    assert "archived</span>" in settings
    assert 'action="/agents/' not in settings


def test_nothing_can_be_done_with_it(as_alice: Client, archived: Loop) -> None:
    refused = as_alice.post(TAB, TYPED)

    assert refused.status_code == 409
    assert "The agent scribe is archived and takes nothing new." in text_of(refused)
    for path in ("settings/", "start/", "stop/", "share/", "unshare/"):
        assert as_alice.post(f"/agents/scribe/{path}", {"user": "bob"}).status_code == 404
    assert Loop.objects.count() == 1


def test_it_is_not_among_the_agents_of_the_dashboard_but_its_ended_loops_are_told(
    as_alice: Client, archived: Loop
) -> None:
    board = as_alice.get("/").context

    assert board["agents"] == []
    assert [one.id for one in board["ended"]] == [archived.pk]


@pytest.mark.django_db(transaction=True)
def test_a_run_that_was_in_flight_is_shown_until_it_ends(as_alice: Client, stage: Stage) -> None:
    loop = stage.running()

    archive_agent(stage.viewer, stage.agent)

    page = text_of(as_alice.get(TAB))
    assert "finishing run 1" in page
    assert 'data-says="Go: running' in page
    assert loop.pk in text_of(as_alice.get("/"))
