"""One fragment, three doors: first paint, its own address, and what an open page reads again are the same."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.engine import success
from tests.web.pages.conftest import STATES, Stage, text_of

TOKEN = re.compile(r'name="(csrfmiddlewaretoken|form_token)" value="[^"]*"')


def element(page: str, tag: str, element_id: str) -> str:
    """One element of a page, its end found by counting its kind, without what differs at each rendering."""
    begin = re.search(rf'<{tag}\b[^>]*\bid="{element_id}"', page)
    assert begin is not None, f"no <{tag} id={element_id}>"
    depth = 0
    for mark in re.finditer(rf"<{tag}\b|</{tag}>", page[begin.start() :]):
        depth += 1 if not mark[0].startswith("</") else -1
        if depth == 0:
            found = page[begin.start() : begin.start() + mark.end()]
            return TOKEN.sub("", re.sub(r"\s+", " ", found))
    raise AssertionError("it has no end")


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", STATES)
def test_a_card_is_the_same_from_every_door(as_alice: Client, stage: Stage, name: str, opened: bool) -> None:
    loop = getattr(stage, name)()
    shown = {"open": loop.pk} if opened else {}

    first_paint = element(text_of(as_alice.get("/agents/scribe/loops/", shown)), "article", loop.pk)
    rows = element(text_of(as_alice.get("/agents/scribe/loops/rows/", shown)), "article", loop.pk)
    alone = element(text_of(as_alice.get(f"/loops/{loop.pk}/card/", shown)), "article", loop.pk)

    assert first_paint == rows == alone


def test_what_a_fragment_sends_along_brings_it_back_as_open_as_it_was(as_alice: Client, stage: Stage) -> None:
    loop = stage.ended(*[success(f"reply {number}") for number in range(12)], max_runs=12)
    run = loop.runs.get(run_number=1).execution_id
    asked = {"open": loop.pk, "all": loop.pk, "run": run, "whole": run}
    card = text_of(as_alice.get(f"/loops/{loop.pk}/card/", asked))

    sent = dict(re.findall(r'<input type="hidden" name="(open|all|run|whole)" value="([^"]+)"', card))

    assert sent == asked


def test_the_old_page_with_its_rows_read_again_is_the_freshly_loaded_page(as_alice: Client, stage: Stage) -> None:
    loop = stage.ended(success("one"), success("two"), max_runs=3)
    as_alice.get("/agents/scribe/loops/")
    stage.run(success("three"))
    newer = stage.loop(message="started meanwhile")

    rows = element(text_of(as_alice.get("/agents/scribe/loops/rows/", {"open": loop.pk})), "section", "loops")
    fresh = element(text_of(as_alice.get("/agents/scribe/loops/", {"open": loop.pk})), "section", "loops")

    assert rows == fresh
    assert rows.index(newer.pk) < rows.index(loop.pk)


def test_the_board_and_the_lists_are_the_same_from_both_doors(as_alice: Client, stage: Stage) -> None:
    stage.completed()
    stage.failed()
    stage.running()
    doors = [
        ("/", "/dashboard/board/", "div", "board"),
        ("/executions/?status=completed", "/executions/rows/?status=completed", "section", "executions"),
        ("/agents/scribe/executions/", "/agents/scribe/executions/rows/", "section", "executions"),
        ("/agents/scribe/loops/", "/agents/scribe/head/", "div", "agent-head"),
    ]
    for page, fragment, tag, name in doors:
        assert element(text_of(as_alice.get(page)), tag, name) == element(text_of(as_alice.get(fragment)), tag, name)


def test_an_execution_is_the_same_from_both_doors(as_alice: Client, stage: Stage) -> None:
    execution = stage.completed().runs.first().execution_id

    page, card = as_alice.get(f"/executions/{execution}/"), as_alice.get(f"/executions/{execution}/card/")

    assert element(text_of(page), "div", "execution") == element(text_of(card), "div", "execution")


def test_an_open_page_whose_session_ended_is_told_and_not_given_the_login_page(agent: Any) -> None:
    response = Client().get("/agents/scribe/loops/rows/", headers={"HX-Request": "true"})

    assert response.status_code == 401
    assert "trinity:logged-out" in response["HX-Trigger"]
    assert response["HX-Reswap"] == "none"


def test_an_open_page_is_told_in_words_what_was_refused(as_alice: Client, stage: Stage) -> None:
    execution = stage.completed().runs.first().execution_id

    response = as_alice.post(f"/executions/{execution}/abandon/", headers={"HX-Request": "true"})

    assert response.status_code == 409
    assert "has ended" in response["HX-Trigger"]
