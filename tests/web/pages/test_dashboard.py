"""What the dashboard answers at 7 in the morning."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client

from executions.models import Execution, Verdict
from tests.engine import success
from tests.web.pages.conftest import Stage, text_of


def board(client: Client) -> dict[str, Any]:
    response = client.get("/")
    assert response.status_code == 200
    return {name: response.context[name] for name in ("ended", "concerns", "cards", "agents", "spend_chart", "since")}


def badges(client: Client) -> dict[str, str]:
    return {one.badge: one.words for one in board(client)["concerns"]}


def test_what_ended_since_the_last_look_stands_worst_first(as_alice: Client, stage: Stage) -> None:
    good, bad, spent = stage.completed(), stage.failed(), stage.out_of_budget()

    ended = board(as_alice)["ended"]

    assert [one.id for one in ended] == [bad.pk, spent.pk, good.pk]
    assert [one.why for one in ended[1:]] == [
        "Spent $1.04 of $1.00.",
        "Run 2 of at most 10 replied with the stop signal [[DONE]].",
    ]
    assert ended[1].cost == "$1.04"


def test_who_marks_it_as_seen_sees_only_what_ends_afterwards(as_alice: Client, as_bob: Client, stage: Stage) -> None:
    stage.failed()
    as_alice.post("/dashboard/seen/")
    stage.clock.pass_seconds(60)
    newer = stage.completed()

    assert [one.id for one in board(as_alice)["ended"]] == [newer.pk]
    assert len(board(as_bob)["ended"]) == 2  # everybody looks for themselves


def test_looking_alone_does_not_make_it_seen(as_alice: Client, stage: Stage) -> None:
    stage.failed()
    board(as_alice)

    assert len(board(as_alice)["ended"]) == 1


def test_commits_of_all_runs_are_counted(as_alice: Client, stage: Stage) -> None:
    loop = stage.completed()
    Execution.objects.filter(loop_id=loop.pk).update(commits=2)

    assert board(as_alice)["ended"][0].commits == 4


def test_what_runs_says_what_it_is_doing_and_for_whom_it_waits(as_alice: Client, stage: Stage) -> None:
    stage.running()

    page = text_of(as_alice.get("/"))

    assert "of at most 900 s: Bash npm test" in page
    assert 'href="/agents/scribe/loops/">scribe</a>' in page


def test_failed_and_guarded_loops_need_attention(as_alice: Client, stage: Stage) -> None:
    stage.failed()
    stage.without_progress()
    stage.out_of_time()
    stage.completed()
    stage.completed_with_errors()  # it did what it was to do

    assert badges(as_alice) == {"failed": "1 loop", "ended early": "2 loops"}


def test_a_run_that_spun_and_one_whose_tools_were_refused_need_attention(as_alice: Client, stage: Stage) -> None:
    execution = stage.completed().runs.first().execution
    Execution.objects.filter(pk=execution.pk).update(permission_denials=["Bash"])
    Verdict.objects.create(
        execution=execution, position=0, type="loop-outcome", passed=False, score=0.0,
        summary="bash ×5 in a row", evidence="", at=stage.clock(),
    )  # fmt: skip

    assert badges(as_alice) == {"spun": "1 run", "tools refused": "1 run"}


def test_a_long_wait_needs_attention_only_once_it_is_long(as_alice: Client, stage: Stage) -> None:
    stage.waiting_for_a_slot()
    stage.clock.pass_seconds(598)
    assert badges(as_alice) == {}

    stage.clock.pass_seconds(2)

    assert badges(as_alice) == {"waiting": "2 runs"}


def test_a_model_that_is_away_needs_attention_and_says_why_and_until_when(as_alice: Client, stage: Stage) -> None:
    stage.waiting_for_the_model()
    stage.clock.pass_seconds(3600)

    assert badges(as_alice) == {"model away": "1 run"}
    assert "scribe: waiting for the model until 18:00 UTC (rate limited), for 1 h 00 m" in text_of(as_alice.get("/"))


def test_work_that_no_worker_takes_needs_attention(as_alice: Client, stage: Stage) -> None:
    stage.queued()
    stage.clock.pass_seconds(31)

    assert "does one run at place default?" in badges(as_alice)["no worker"]


def test_a_full_disk_needs_attention(as_alice: Client, agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(10**12, 10**12, 999_999_999))

    assert "999 MB are free" in badges(as_alice)["disk"]


def test_nothing_of_other_peoples_agents_shows(as_mallory: Client, stage: Stage) -> None:
    stage.failed()
    stage.running()

    found = board(as_mallory)

    assert (found["ended"], found["concerns"], found["cards"], found["agents"]) == ([], [], [], [])


def test_agents_stand_with_slots_and_active_loops(as_alice: Client, stage: Stage) -> None:
    stage.running()

    [one] = board(as_alice)["agents"]

    assert (one.name, one.slots_used, one.slots, one.active_loops) == ("scribe", 1, 3, 1)


def test_spend_stands_on_the_day_it_was_spent(as_alice: Client, stage: Stage) -> None:
    stage.ended(success("a", 1.25), max_runs=1)
    stage.clock.now += dt.timedelta(days=1)
    stage.ended(success("b", 0.5), max_runs=1)

    table = board(as_alice)["spend_chart"].table

    assert [(day, spent) for day, _, spent in table] == [("1 Dec", "$0.50"), ("30 Nov", "$1.25")]


def test_somebody_without_agents_is_told_how_to_get_one(as_mallory: Client) -> None:
    assert "You can use no agent yet." in text_of(as_mallory.get("/"))
