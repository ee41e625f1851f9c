"""The rail's Loops tab: every state in the Workspace's words, grouped by agent; the form that starts a loop; Stop."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.viewers import Viewer
from loops.models import Loop
from loops.services import request_stop
from loops.vocabulary import OnFailure
from tests.engine import again, success
from tests.web.pages.conftest import STATES, Stage, text_of
from tests.web.pages.test_fragments import element
from workspace.rooms import add_participant

OpenRoom = Callable[..., Any]
WORDS = {
    "queued": "Queued",
    "waiting_for_a_slot": "Queued",
    "waiting_for_the_model": "Running",
    "with_the_agent_stopped": "Queued",
    "parked": "Running",
    "running": "Running",
    "stopping": "Running",
    "completed": "Done",
    "completed_with_errors": "Done, with errors",
    "stopped_by_alice": "Stopped by you",
    "out_of_budget": "Stopped — cost budget reached",
    "out_of_time": "Stopped — time limit reached",
    "without_progress": "Stopped — it stopped making progress",
    "failed": "Failed",
    "failed_too_often": "Failed — too many errors in a row",
}
PROMISE = (
    "It also stops by itself after 3 identical replies in a row, and after 3 consecutive failures. "
    "No time limit unless you set one."
)


def row_in(page: str, loop: Any) -> str:
    return element(page, "article", f"rail-{loop.pk}")


def badge_of(row: str) -> str:
    found = re.search(r'class="badge[^"]*">([^<]*)<', row)
    assert found is not None
    return found[1]


def test_every_state_that_an_operator_reads_has_its_words_here() -> None:
    assert set(WORDS) == set(STATES)


@pytest.mark.parametrize("name", WORDS)
def test_a_loop_reads_as_section_2_says(as_alice: Client, open_a_room: OpenRoom, stage: Stage, name: str) -> None:
    room = open_a_room()
    loop = getattr(stage, name)()

    row = row_in(text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/")), loop)

    assert badge_of(row) == WORDS[name]
    assert ("Stop</button>" in row) == (not loop.ended and not loop.stop_requested)


def test_who_did_not_stop_it_reads_who_did(as_bob: Client, bob: Any, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room(bob)
    loop = stage.stopped_by_alice()

    assert badge_of(row_in(text_of(as_bob.get(f"/workspace/rooms/{room.pk}/rail/")), loop)) == "Stopped by alice"


def test_a_stop_is_not_shown_as_stopped_until_it_is(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    loop = stage.running()
    address = f"/workspace/rooms/{room.pk}/loops/{loop.pk}/stop/"

    row = row_in(text_of(as_alice.post(address, headers={"HX-Request": "true"})), loop)

    assert badge_of(row) == "Running"
    assert "disabled>Stopping after run 1</button>" in row
    stage.settle(again(loop).runs.get().execution, success("the end"))
    row = row_in(text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/")), loop)
    assert badge_of(row) == "Stopped by you"


def test_a_guardrail_that_was_never_set_shows_no_bar(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    bare, bounded = stage.loop(), stage.loop(max_cost_usd=1, max_duration_seconds=3600)

    page = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/"))

    names = re.compile(r'class="bar[^"]*"> ?<div><span>([^<]*)</span>')
    assert names.findall(row_in(page, bare)) == ["Runs"]
    assert names.findall(row_in(page, bounded)) == ["Runs", "Budget", "Time"]


def test_loops_are_grouped_by_agent_and_one_without_any_has_its_line(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, make_agent: Any, stage: Stage
) -> None:
    room = open_a_room()
    idle = make_agent("ci-agent")
    add_participant(Viewer(user=alice), room.pk, agent=idle.name)
    stage.loop()

    page = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/"))

    assert "1 running" in element(page, "section", "rail-of-scribe")
    assert "nothing in flight" in element(page, "section", "rail-of-ci-agent")
    assert page.index("rail-of-scribe") < page.index("rail-of-ci-agent")


def test_the_tab_signals_how_many_are_running(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    stage.loop()
    stage.loop()
    stage.agent.max_parallel_tasks = 3

    tab = element(text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/")), "button", "rail-tab-loops")

    assert '<span class="signal">2 running</span>' in tab


def test_ended_loops_show_three_and_all_when_asked(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    for _ in range(5):
        stage.ended(success("x"), max_runs=1)

    some = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/"))
    everything = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/rail/", {"loops": "all"}))

    assert (some.count("<article"), everything.count("<article")) == (3, 5)
    assert "Show 2 older" in some
    assert '<input type="hidden" name="loops" value="all">' in everything


# --- the form -----------------------------------------------------------------------------------------------


def test_the_form_promises_its_guardrails_word_for_word(as_alice: Client, open_a_room: OpenRoom) -> None:
    room = open_a_room()

    page = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/loops/"))

    assert f">{PROMISE}</p>" in page
    for label in ("Agent", "Do this each run", "Runs", "Cost budget (USD)"):
        assert f">{label}</label>" in page
    assert 'value="10"' in page


def test_a_loop_that_is_started_here_is_as_the_sentence_says(as_alice: Client, open_a_room: OpenRoom) -> None:
    room = open_a_room()
    typed = {"agent": "scribe", "message": "One\r\ntwo", "max_runs": "7", "max_cost_usd": "$1.50"}

    response = as_alice.post(f"/workspace/rooms/{room.pk}/loops/", typed)

    loop = Loop.objects.get()
    assert response["Location"] == f"/workspace/rooms/{room.pk}/#rail-loops"
    assert (loop.message, loop.max_runs, loop.max_cost_nano, loop.room_id) == ("One\ntwo", 7, 1_500_000_000, room.pk)
    assert (loop.on_failure, loop.max_consecutive_failures) == (OnFailure.CONTINUE, 3)
    assert (loop.no_progress_threshold, loop.max_duration_seconds) == (3, None)


@pytest.mark.parametrize(
    ("field", "typed", "refusal"),
    [
        ("message", "", "required"),
        ("max_runs", "", "required"),
        ("max_runs", "101", "from 1 to 100"),
        ("max_runs", "ten", "whole number"),
        ("max_cost_usd", "0", "more than 0"),
        ("max_cost_usd", "nan", "finite"),
        ("agent", "nobody", "an agent that takes part"),
        ("agent", "", "an agent that takes part"),
    ],
)
def test_a_refusal_stands_at_its_field_and_keeps_what_was_typed(
    as_alice: Client, open_a_room: OpenRoom, field: str, typed: str, refusal: str
) -> None:
    room = open_a_room()
    sent = {"agent": "scribe", "message": "Keep <me>", "max_runs": "9", "max_cost_usd": "2", field: typed}

    for headers in ({}, {"HX-Request": "true"}):
        response = as_alice.post(f"/workspace/rooms/{room.pk}/loops/", sent, headers=headers)

        page = text_of(response)
        assert response.status_code == 400
        assert refusal in page.split(f'id="start_{field}-refused"')[1].split("</p>")[0]
        assert field == "message" or "Keep <me>" in page
    assert not Loop.objects.exists()


def test_the_form_sent_twice_starts_one_loop_and_filled_anew_another(as_alice: Client, open_a_room: OpenRoom) -> None:
    address = f"/workspace/rooms/{open_a_room().pk}/loops/"
    (token,) = re.findall(r'name="form_token" value="([^"]+)"', text_of(as_alice.get(address)))
    typed = {"agent": "scribe", "message": "Once", "max_runs": "2", "form_token": token}

    for message in ("Once", "Once", "Another"):
        assert as_alice.post(address, typed | {"message": message}).status_code == 302

    assert sorted(Loop.objects.values_list("message", flat=True)) == ["Another", "Once"]


def test_an_agent_that_takes_no_part_is_not_started(as_alice: Client, open_a_room: OpenRoom, make_agent: Any) -> None:
    room = open_a_room()
    make_agent("elsewhere")

    typed = {"agent": "elsewhere", "message": "x", "max_runs": "1"}
    assert as_alice.post(f"/workspace/rooms/{room.pk}/loops/", typed).status_code == 400
    assert not Loop.objects.exists()


def test_the_button_says_another_once_there_is_one(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    before = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/"))
    stage.loop()
    after = text_of(as_alice.get(f"/workspace/rooms/{room.pk}/"))

    assert ">Start a loop</a>" in before
    assert ">Start another loop</a>" in after


def test_a_member_without_access_to_an_agent_sees_loops_of_the_room_and_no_other_loop_of_it(
    browser_of: Any, mallory: Any, open_a_room: OpenRoom, stage: Stage, alice: Any
) -> None:
    room = open_a_room(mallory)
    from loops.parameters import read_parameters
    from loops.services import start_loop

    asked = read_parameters({"message": "of the room", "max_runs": 3})
    here = start_loop(Viewer(user=alice), stage.agent, asked, room_id=room.pk)
    other = stage.loop(message="Alice's own")

    page = text_of(browser_of(mallory).get(f"/workspace/rooms/{room.pk}/rail/"))

    assert f"rail-{here.pk}" in page
    assert other.pk not in page
    assert f'href="/loops/{here.pk}/"' not in page


def test_who_takes_no_part_learns_nothing(as_bob: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    loop = stage.loop()

    for path in ("rail/", "loops/", f"loops/{loop.pk}/"):
        assert as_bob.get(f"/workspace/rooms/{room.pk}/{path}").status_code == 404
    assert as_bob.post(f"/workspace/rooms/{room.pk}/loops/{loop.pk}/stop/").status_code == 404
    assert not again(loop).stop_requested


def test_a_loop_of_elsewhere_is_not_stopped_through_a_room(
    as_alice: Client, alice: Any, open_a_room: OpenRoom, make_agent: Any
) -> None:
    from tests.engine import start

    room, loop = open_a_room(), start(make_agent("elsewhere"), Viewer(user=alice))

    assert as_alice.post(f"/workspace/rooms/{room.pk}/loops/{loop.pk}/stop/").status_code == 404
    assert not again(loop).stop_requested


def test_the_rail_is_the_same_from_both_doors(as_alice: Client, open_a_room: OpenRoom, stage: Stage) -> None:
    room = open_a_room()
    stage.completed()
    request_stop(stage.viewer, stage.running())

    page, alone = (text_of(as_alice.get(f"/workspace/rooms/{room.pk}/{path}")) for path in ("", "rail/"))

    assert element(page, "div", "rail-live") == element(alone, "div", "rail-live")
