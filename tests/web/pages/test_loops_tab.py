"""The Loops tab: start from the form, read every state, stop; all of it without a script."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from loops.models import Loop
from loops.services import request_stop
from tests.engine import again, model_away, success
from tests.web.pages.conftest import STATES, Stage, text_of

TAB = "/agents/scribe/loops/"
TYPED = {
    "message": "Process item {{run}}",
    "max_runs": "20",
    "stop_signal": "",
    "delay_seconds": "0",
    "timeout_per_run": "",
    "max_duration_seconds": "",
    "max_cost_usd": "",
    "no_progress_threshold": "3",
    "on_failure": "abort",
    "max_consecutive_failures": "3",
    "model": "",
    "tools": "all",
    "allowed_tools": "",
}


def test_an_agent_without_loops_says_what_a_loop_is_and_offers_one(as_alice: Client, agent: Any) -> None:
    page = text_of(as_alice.get(TAB))

    assert "No loop yet." in page
    assert "Start a trial of 3 runs" in page


def test_the_offered_loop_starts_with_a_click(as_alice: Client, agent: Any) -> None:
    page = as_alice.get(TAB).context["example"]

    response = as_alice.post(TAB, page)

    assert response.status_code == 302
    assert Loop.objects.get().max_runs == 3


def test_the_form_starts_a_loop_and_leads_to_it_open(as_alice: Client, agent: Any) -> None:
    response = as_alice.post(TAB, TYPED | {"message": "One\r\ntwo", "max_cost_usd": "$1.50", "max_runs": "20"})

    loop = Loop.objects.get()
    assert response["Location"] == f"{TAB}?open={loop.pk}#{loop.pk}"
    assert (loop.message, loop.max_cost_nano, loop.no_progress_threshold) == ("One\ntwo", 1_500_000_000, 3)
    assert loop.allowed_tools is None
    assert f'id="{loop.pk}"' in text_of(as_alice.get(response["Location"]))


def test_what_is_set_for_continue_counts_only_with_continue(as_alice: Client, agent: Any) -> None:
    as_alice.post(TAB, TYPED | {"max_consecutive_failures": "rubbish"})
    as_alice.post(TAB, TYPED | {"on_failure": "continue", "max_consecutive_failures": "7"})

    assert [loop.max_consecutive_failures for loop in Loop.objects.order_by("created_at")] == [3, 7]


def test_tools_are_restricted_by_name(as_alice: Client, agent: Any) -> None:
    as_alice.post(TAB, TYPED | {"tools": "some", "allowed_tools": "Read, Edit,,  Bash "})

    assert Loop.objects.get().allowed_tools == ["Read", "Edit", "Bash"]


@pytest.mark.parametrize(
    ("field", "typed", "refusal"),
    [
        ("message", "", "required"),
        ("max_runs", "", "required"),
        ("max_runs", "abc", "whole number from 1 to 100"),
        ("max_runs", "0", "from 1 to 100"),
        ("max_runs", "101", "from 1 to 100"),
        ("max_runs", "2.5", "whole number"),
        ("max_runs", "1,0", "whole number"),
        ("max_runs", "٣", "whole number"),
        ("stop_signal", "x" * 201, "at most 200 characters"),
        ("delay_seconds", "3601", "from 0 to 3,600"),
        ("timeout_per_run", "9", "from 10 to 7,200"),
        ("timeout_per_run", "901", "the agent's execution timeout: 900 s"),
        ("max_duration_seconds", "899", "at least the timeout per run: 900 s"),
        ("no_progress_threshold", "1", "0 (off) or at least 2"),
        ("max_cost_usd", "0", "more than 0"),
        ("max_cost_usd", "nan", "finite"),
        ("max_cost_usd", "much", "number"),
        ("on_failure", "retry", "abort, continue"),
        ("message", "a\x00b", "NUL"),
    ],
)
def test_a_refusal_stands_at_its_field_and_keeps_what_was_typed(
    as_alice: Client, agent: Any, field: str, typed: str, refusal: str
) -> None:
    sent = TYPED | {"message": "Keep <me>", "model": "kept-too", field: typed}

    response = as_alice.post(TAB, sent)

    page = text_of(response)
    assert response.status_code == 400
    assert refusal in page.split(f'id="id_{field}-refused"')[1].split("</p>")[0]
    assert 'value="kept-too"' in page
    assert field == "message" or "Keep <me>" in page
    assert not Loop.objects.exists()


def test_no_tool_at_all_is_refused(as_alice: Client, agent: Any) -> None:
    response = as_alice.post(TAB, TYPED | {"tools": "some", "allowed_tools": " , "})

    assert 'id="id_allowed_tools-refused"' in text_of(response)


def test_an_agent_that_was_stopped_meanwhile_is_said_above_the_form(as_alice: Client, stage: Stage) -> None:
    stage.agent.status = "stopped"
    stage.agent.save()

    response = as_alice.post(TAB, TYPED, headers={"HX-Request": "true"})

    assert response.status_code == 409
    assert "stopped" in text_of(response)


def test_the_button_is_shut_with_the_reason_while_the_agent_is_stopped(as_alice: Client, stage: Stage) -> None:
    stage.agent.status = "stopped"
    stage.agent.save()

    page = text_of(as_alice.get(TAB))

    assert "The agent is stopped: it takes nothing new until it is started" in page
    assert '<form method="post" action="/agents/scribe/loops/"' not in page


def test_before_the_start_it_says_what_it_may_come_to(as_alice: Client, agent: Any) -> None:
    response = as_alice.post(f"{TAB}foresight/", TYPED | {"message": "", "stop_signal": "[[DONE]]", "model": "x" * 999})

    page = text_of(response)
    assert "20 runs × 15 m = 5 h 00 m; no budget set" in page
    assert "never mentions the stop signal [[DONE]]" in page


def test_what_cannot_be_read_yet_is_no_error_before_the_start(as_alice: Client, agent: Any) -> None:
    response = as_alice.post(f"{TAB}foresight/", TYPED | {"max_runs": ""})

    assert response.status_code == 200
    assert "once there is a number of runs" in text_of(response)


def test_run_again_fills_the_form_as_the_loop_was_started(as_alice: Client, stage: Stage) -> None:
    loop = stage.loop(
        message="Again & again",
        max_runs=7,
        stop_signal="[[X]]",
        max_cost_usd=0.5,
        allowed_tools=["Read"],
        on_failure="continue",
    )

    page = text_of(as_alice.get(TAB, {"again": loop.pk}))

    assert 'id="run-loop-door" open' in page
    for filled in ("Again & again", 'value="7"', 'value="[[X]]"', 'value="0.5"', 'value="Read"', '"continue" selected'):
        assert filled in page


@pytest.mark.parametrize(("asked", "typed"), [(1.0, "1"), (10, "10"), (0.25, "0.25"), (0.0001, "0.0001")])
def test_run_again_fills_in_a_budget_as_one_would_type_it(
    as_alice: Client, stage: Stage, asked: float, typed: str
) -> None:
    loop = stage.loop(max_cost_usd=asked)

    assert f'name="max_cost_usd" value="{typed}"' in text_of(as_alice.get(TAB, {"again": loop.pk}))


@pytest.mark.parametrize("name", STATES)
def test_every_state_is_drawn_in_its_row_and_opened(as_alice: Client, stage: Stage, name: str) -> None:
    loop = getattr(stage, name)()

    page = text_of(as_alice.get(TAB, {"open": loop.pk}))

    card = page.split(f'id="{loop.pk}"')[1].split("</article>")[0]
    assert STATES[name] in card
    assert ("Stop</button>" in card) == (not loop.ended and not loop.stop_requested)


def test_the_stop_button_of_a_page_without_scripts_stops(as_alice: Client, stage: Stage) -> None:
    loop = stage.loop()

    response = as_alice.post(f"/loops/{loop.pk}/stop/")

    assert response["Location"] == f"/loops/{loop.pk}/"
    assert again(loop).status == "stopped"


def test_after_a_stop_the_button_is_shut_and_says_after_which_run(as_alice: Client, stage: Stage) -> None:
    loop = stage.running()

    page = text_of(as_alice.post(f"/loops/{loop.pk}/stop/", {"open": loop.pk}, headers={"HX-Request": "true"}))

    assert "disabled>Stopping after run 1</button>" in page
    assert f'name="open" value="{loop.pk}"' in page


def test_only_an_owner_may_abandon_and_only_after_a_stop(as_alice: Client, as_bob: Client, stage: Stage) -> None:
    loop = stage.running()
    before = text_of(as_alice.get(f"/loops/{loop.pk}/"))
    request_stop(stage.viewer, loop)

    after, bobs = text_of(as_alice.get(f"/loops/{loop.pk}/")), text_of(as_bob.get(f"/loops/{loop.pk}/"))

    assert "Abandon run" not in before
    assert "Abandon run 1" in after
    assert "Abandon run" not in bobs


def test_ten_runs_show_first_and_all_when_asked(as_alice: Client, stage: Stage) -> None:
    loop = stage.ended(*[success(f"reply {number}") for number in range(1, 13)], max_runs=12)

    some = text_of(as_alice.get(f"/loops/{loop.pk}/"))
    everything = text_of(as_alice.get(f"/loops/{loop.pk}/", {"all": loop.pk}))

    assert some.count('<tr id="run-') == 10
    assert "Show all 12" in some
    assert everything.count('<tr id="run-') == 12


def test_a_click_on_a_run_shows_its_reply_what_changed_and_its_calls(as_alice: Client, stage: Stage) -> None:
    from dataclasses import replace

    called = replace(
        success("13 pages remain."), steps=(({"tool": "bash", "args": {"command": "ls -la"}, "result": "x"},),)
    )
    loop = stage.ended(success("14 pages remain."), called, max_runs=2)
    execution = loop.runs.get(run_number=2).execution_id

    page = text_of(as_alice.get(f"/loops/{loop.pk}/", {"run": execution}))

    assert "What changed against run 1" in page
    assert "<del>14</del><ins>13</ins> pages remain." in page
    assert "<b>bash</b>" in page
    assert "ls -la" in page


def test_refused_tools_are_counted_for_the_loop_and_notes_stand_in_the_run(as_alice: Client, stage: Stage) -> None:
    outcome = replace(success("done"), permission_denials=("Bash", "Write"), notes=("Two <b> lines were cut.",))
    loop = stage.ended(outcome, replace(success("done too"), permission_denials=("Bash",)), max_runs=2)
    first = loop.runs.get(run_number=1).execution_id

    page = text_of(as_alice.get(f"/loops/{loop.pk}/?run={first}"))

    assert "Bash in 2 runs, Write in 1 run" in page
    assert "refused: Bash, Write" in page
    assert "1 note" in page
    assert "Two <b> lines were cut." in page


def test_the_table_of_runs_says_how_many_tools_each_used_and_what_the_last_one_waits_for(
    as_alice: Client, stage: Stage
) -> None:
    stage.agent.runtime_settings = stage.agent.runtime_settings | {"unavailable_patience_seconds": 21_600}
    stage.agent.save()
    steps = (({"tool": "bash", "args": {}}, {"tool": "read", "args": {}}),)
    loop = stage.loop()
    stage.run(replace(success("one"), steps=steps))
    stage.run(model_away(stage.clock() + dt.timedelta(hours=15)))

    runs = as_alice.get(f"/loops/{loop.pk}/").context["card"].inside.runs

    assert [one.calls for one in runs] == [0, 2]
    assert runs[0].preview == "waiting for the model until 18:01 UTC"


def test_a_run_is_compared_with_the_last_one_that_replied(as_alice: Client, stage: Stage) -> None:
    from tests.engine import failure

    loop = stage.ended(success("one"), failure(), success("two"), max_runs=3, on_failure="continue")
    execution = loop.runs.get(run_number=3).execution_id

    assert "What changed against run 1" in text_of(as_alice.get(f"/loops/{loop.pk}/", {"run": execution}))


def test_a_huge_reply_is_cut_and_shown_whole_when_asked(as_alice: Client, stage: Stage) -> None:
    loop = stage.ended(success("word " * 50_000 + "the-end"), max_runs=1)
    execution = loop.runs.get().execution_id

    some = text_of(as_alice.get(f"/loops/{loop.pk}/", {"run": execution}))
    whole = text_of(as_alice.get(f"/loops/{loop.pk}/", {"run": execution, "whole": execution}))
    raw = as_alice.get(f"/executions/{execution}/response/")

    assert "the-end" not in some
    assert len(some) < 150_000
    assert "the-end" in whole
    assert raw["Content-Type"] == "text/plain; charset=utf-8"
    assert raw.content.decode().endswith("the-end")


def test_an_empty_reply_says_so(as_alice: Client, stage: Stage) -> None:
    loop = stage.ended(success(""), max_runs=1)

    assert "The reply is empty." in text_of(as_alice.get(f"/loops/{loop.pk}/"))


def test_copy_as_curl_starts_the_same_loop(as_alice: Client, stage: Stage, alice: Any) -> None:
    import json
    import shlex

    from accounts.services import create_key

    loop = stage.loop(message='It\'s "quoted"\nand {{run}} $HOME `id`', max_cost_usd=0.25, delay_seconds=5, max_runs=3)
    page = text_of(as_alice.get(f"/loops/{loop.pk}/"))
    words = shlex.split(page.split(f'id="curl-text-{loop.pk}">')[1].split("</pre>")[0])
    body = json.loads(words[words.index("--data-raw") + 1])
    key = create_key(user=alice).secret

    response = Client().post(
        words[3].removeprefix("http://testserver"),
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {key}"},
    )

    twin = Loop.objects.get(pk=response.json()["loop_id"])
    same = ("message", "max_cost_nano", "delay_seconds", "max_runs", "no_progress_threshold", "timeout_per_run")
    assert [getattr(twin, name) for name in same] == [getattr(loop, name) for name in same]
