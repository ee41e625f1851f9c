"""The executions page with its filters, and one execution's page."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from executions.models import Execution, Verdict
from tests.engine import failure, queue_chat, success
from tests.web.pages.conftest import Stage, text_of


@pytest.fixture
def mixed(stage: Stage) -> dict[str, Execution]:
    """A loop's run that completed, one that failed, and a chat that waits."""
    done, bad = stage.completed(), stage.failed()
    stage.agent.status = "stopped"
    stage.agent.save()
    return {
        "done": done.runs.first().execution,
        "bad": bad.runs.first().execution,
        "chat": queue_chat(stage.agent, "Hello there"),
    }


def listed(client: Client, **query: str) -> set[str]:
    return {one.id for one in client.get("/executions/", query).context["listing"].lines}


def test_filters_narrow_and_stand_in_the_address(as_alice: Client, mixed: dict[str, Execution]) -> None:
    assert mixed["bad"].pk in listed(as_alice)
    assert listed(as_alice, status="failed") == {mixed["bad"].pk}
    assert listed(as_alice, trigger="chat") == {mixed["chat"].pk}
    assert mixed["chat"].pk not in listed(as_alice, trigger="loop")
    assert listed(as_alice, loop_id=mixed["bad"].loop_id) == {mixed["bad"].pk}
    assert listed(as_alice, agent="scribe", status="queued") == {mixed["chat"].pk}


@pytest.mark.parametrize(
    "query",
    [
        {"status": "done"},
        {"status": "\x00"},
        {"trigger": "'; drop"},
        {"agent": "nobodys"},
        {"agent": "\x00"},
        {"loop_id": "x"},
        {"loop_id": "\x00"},
        {"loop_id": "loop_0123456789abcdefg"},
        {"before": "x"},
        {"before": "\x00"},
        {"before": "exec_0123456789abcdef"},
    ],
)
@pytest.mark.parametrize("path", ["/executions/", "/executions/rows/", "/agents/scribe/executions/"])
def test_rubbish_in_a_filter_is_a_clean_400(
    as_alice: Client, mixed: dict[str, Execution], path: str, query: dict[str, str]
) -> None:
    if "agent" in query and path.startswith("/agents/"):
        query = {"status": "done"}
    response = as_alice.get(path, query)

    assert response.status_code == 400
    assert mixed["done"].pk not in text_of(response)


def test_an_unreadable_filter_is_said_at_its_field(as_alice: Client, mixed: dict[str, Execution]) -> None:
    page = text_of(as_alice.get("/executions/", {"loop_id": "x", "status": "failed"}))

    assert "Must be a loop's id." in page
    assert 'value="x"' in page


def test_older_ones_follow_on_the_next_page_without_gap_or_twin(
    as_alice: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("executions.listing.PAGE", 4)
    stage.ended(*[success(f"reply {number}") for number in range(10)])

    seen: list[str] = []
    path = "/executions/"
    while path:
        listing = as_alice.get(path).context["listing"]
        seen += [one.id for one in listing.lines]
        path = f"/executions/{listing.older}" if listing.older else ""

    assert seen == list(Execution.objects.order_by("-queued_at", "-id").values_list("pk", flat=True))


def test_loops_stand_in_a_category_of_their_own(as_alice: Client, mixed: dict[str, Execution]) -> None:
    page = text_of(as_alice.get("/executions/"))

    assert 'class="swatch cat-loops"' in page
    assert 'class="swatch cat-chat"' in page


def test_one_that_waits_says_why(as_alice: Client, mixed: dict[str, Execution]) -> None:
    assert "the agent is stopped" in text_of(as_alice.get(f"/executions/{mixed['chat'].pk}/"))


def test_the_page_of_an_execution_has_everything(as_alice: Client, stage: Stage) -> None:
    outcome = replace(
        success("All **done**.", 0.25),
        cost_estimated=True,
        steps=(({"tool": "bash", "args": {"command": "npm test"}, "result": "ok"}, {"tool": "read", "args": {}}),),
        permission_denials=("Write",),
        notes=("12 bytes in the middle were left out.",),
        commits=2,
        lines_added=41,
        lines_removed=7,
        model="some-model",
    )
    execution = stage.ended(outcome, max_runs=1).runs.get().execution
    Verdict.objects.create(
        execution=execution, position=0, type="loop-outcome", passed=False, score=0.0,
        summary="bash ×5 in a row", evidence="bash was called 5 times.", at=stage.clock(),
    )  # fmt: skip

    page = text_of(as_alice.get(f"/executions/{execution.pk}/"))

    for said in (
        "All <strong>done</strong>.", "$0.25 (an estimate)", "npm test", "No result was recorded.", "Write",
        "2 commits · +41 −7", "some-model", "bash ×5 in a row", "bash was called 5 times.", "Loop run 1", "Go",
        "12 bytes in the middle were left out.",
    ):  # fmt: skip
        assert said in page


def test_one_whose_model_is_away_says_since_when_why_and_how_often_it_was_called(
    as_alice: Client, stage: Stage
) -> None:
    loop = stage.waiting_for_the_model()

    page = text_of(as_alice.get(f"/executions/{loop.runs.get().execution_id}/"))

    assert "waiting for the model until 18:00 UTC" in page
    assert "rate limited, since 12:00 UTC; called once in vain" in page


def test_a_failed_one_says_what_went_wrong(as_alice: Client, stage: Stage) -> None:
    execution = stage.ended(failure("no network <b>")).runs.get().execution_id

    page = as_alice.get(f"/executions/{execution}/").content.decode()

    assert "agent error:" in page
    assert "no network &lt;b&gt;" in page


def test_raw_texts_are_never_run_or_rendered(as_alice: Client, stage: Stage) -> None:
    execution = stage.ended(success("<script>alert(1)</script>"), max_runs=1).runs.get().execution_id

    response = as_alice.get(f"/executions/{execution}/response/")

    assert response.content == b"<script>alert(1)</script>"
    assert response["Content-Type"].startswith("text/plain")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]


def test_the_trajectory_comes_in_the_neutral_json(as_alice: Client, stage: Stage) -> None:
    outcome = replace(success(), steps=(({"tool": "bash", "args": {"command": "ls"}},),))
    execution = stage.ended(outcome, max_runs=1).runs.get().execution_id

    found = as_alice.get(f"/executions/{execution}/trajectory/").json()

    assert found["format"] == "trinity-trajectory/1"
    assert found["steps"] == [[{"tool": "bash", "args": {"command": "ls"}}]]


def test_the_owner_abandons_a_run_after_being_asked(as_alice: Client, stage: Stage, monkeypatch: Any) -> None:
    monkeypatch.setattr("executions.nudging.tell_of_abandoned", lambda place: None)
    loop = stage.running()
    execution = loop.runs.get().execution_id

    assert "Kills it and everything" in text_of(as_alice.get(f"/executions/{execution}/"))
    response = as_alice.post(f"/executions/{execution}/abandon/", {"back": "loop"})

    assert response["Location"] == f"/loops/{loop.pk}/"
    assert Execution.objects.get(pk=execution).abandon_requested_at is not None
