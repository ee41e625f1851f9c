"""Loops over REST: listed, read, stopped (design, section 2)."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.models import AuditEvent
from accounts.viewers import Viewer
from executions.services import settle, take
from loops.invariants import check_loop
from loops.models import Loop
from loops.services import end_due_parks, request_stop
from loops.vocabulary import LoopStatus
from tests.conftest import StillClock
from tests.engine import WORKER, again, failure, model_away, queue_chat, start, success
from tests.web.api.calling import Caller, errors_of

RUN_FIELDS = {
    "run_number",
    "execution_id",
    "status",
    "response_preview",
    "cost_usd",
    "duration_ms",
    "error",
    "verdicts",
    "started_at",
    "completed_at",
    "cost_estimated",
    "error_kind",
    "notes",
    "tool_calls",
    "permission_denials",
    "activity",
    "commits",
    "lines_added",
    "lines_removed",
}


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def read(caller: Caller, loop: Loop) -> Any:
    response = caller.get(f"/api/loops/{loop.pk}")
    assert response.status_code == 200, response.content
    return response.json()


# --- read -------------------------------------------------------------------------------------------------


def test_a_loop_just_started_shows_every_parameter(
    agent: Any, as_alice: Caller, alice: Any, still_clock: StillClock
) -> None:
    asked = {
        "message": "First line\nsecond {{run}}",
        "max_runs": 7,
        "stop_signal": "[[DONE]]",
        "delay_seconds": 5,
        "timeout_per_run": 60,
        "max_duration_seconds": 3600,
        "no_progress_threshold": 4,
        "max_cost_usd": 0.1,
        "on_failure": "continue",
        "max_consecutive_failures": 2,
        "model": "opus",
        "allowed_tools": ["Read"],
    }
    location = as_alice.post("/api/agents/scribe/loops", asked)["Location"]

    found = as_alice.get(location).json()

    assert {name: found[name] for name in asked} == asked
    assert found["title"] == "First line"
    assert (found["status"], found["stop_reason"], found["error"]) == ("queued", None, None)
    assert (found["runs_completed"], found["failed_runs"], found["consecutive_failures"]) == (0, 0, 0)
    assert (found["repeat_count"], found["total_cost_usd"], found["elapsed_seconds"]) == (0, 0, 0)
    assert found["last_response"] is None
    assert found["started_by"] == {"kind": "user", "name": "alice"}
    assert (found["created_at"], found["started_at"]) == ("2026-11-30T12:00:00Z", None)
    assert found["waiting"]["reason"] == "worker"


def test_a_loop_without_options_shows_their_defaults(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    found = read(as_alice, start(agent, viewer, no_progress_threshold=3))

    defaults = {
        "stop_signal": None,
        "delay_seconds": 0,
        "timeout_per_run": 900,
        "max_duration_seconds": None,
        "no_progress_threshold": 3,
        "max_cost_usd": None,
        "on_failure": "abort",
        "max_consecutive_failures": 3,
        "model": None,
        "allowed_tools": None,
    }
    assert {name: found[name] for name in defaults} == defaults


def test_a_loop_that_ran_shows_its_runs_in_order_and_the_whole_last_response(
    agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer, max_runs=3, on_failure="continue")
    run = take(agent.pk, WORKER)
    still_clock.pass_seconds(2.5)
    run = settle(run, success("ä" * 600, 0.25), WORKER)
    still_clock.pass_seconds(1)
    run = settle(run, failure("no network", 0.5), WORKER)
    still_clock.pass_seconds(1)
    settle(run, success("last" * 1000), WORKER)

    found = read(as_alice, loop)

    assert [run["run_number"] for run in found["runs"]] == [1, 2, 3]
    assert all(set(run) == RUN_FIELDS for run in found["runs"])
    first, second, third = found["runs"]
    assert first["response_preview"] == "ä" * 500
    assert (first["status"], first["cost_usd"], first["duration_ms"], first["error"]) == ("completed", 0.25, 2500, None)
    assert (first["started_at"], first["completed_at"]) == ("2026-11-30T12:00:00Z", "2026-11-30T12:00:02.500000Z")
    assert (second["status"], second["cost_usd"], second["error"]) == ("failed", 0.5, "no network")
    assert third["cost_usd"] is None, "unknown is null, never 0"
    assert found["last_response"] == "last" * 1000
    assert (found["status"], found["stop_reason"]) == ("completed_with_errors", "max_runs_reached")
    assert (found["runs_completed"], found["failed_runs"], found["total_cost_usd"]) == (3, 1, 0.75)
    assert found["elapsed_seconds"] == 4.5
    assert found["words"] == {
        "badge": "completed with errors",
        "reason": "reached max runs",
        "workspace": "Done, with errors",
        "tone": "warn",
    }
    assert check_loop(again(loop)) == []


def test_a_run_in_flight_is_the_current_one(
    agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    still_clock.pass_seconds(48)

    found = read(as_alice, loop)

    assert found["status"] == "running"
    assert (found["current_run"]["run_number"], found["current_run"]["execution_id"]) == (1, run.pk)
    assert found["elapsed_seconds"] == 48
    assert found["waiting"] is None
    assert found["runs"][0]["status"] == "running"
    assert found["runs"][0]["response_preview"] is None
    assert found["words"]["reason"] == ""


def test_a_run_without_a_free_slot_says_its_place_in_line(
    make_agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    agent = make_agent(max_parallel_tasks=1)
    queue_chat(agent)
    take(agent.pk, WORKER)
    still_clock.pass_seconds(1)
    queue_chat(agent)
    still_clock.pass_seconds(1)
    loop = start(agent, viewer)

    found = read(as_alice, loop)

    assert found["waiting"] == {
        "reason": "slot",
        "words": "waiting for a slot, 2nd in line",
        "place_in_line": 2,
        "until": None,
        "why": None,
        "since": None,
    }
    assert found["words"]["reason"] == "waiting for a slot, 2nd in line"


def test_a_run_whose_model_is_away_says_until_when(
    make_agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    settings = {"replies": [{"response": "done"}], "unavailable_patience_seconds": 3600}
    agent = make_agent(runtime_settings=settings)
    loop = start(agent, viewer)
    settle(take(agent.pk, WORKER), model_away())

    found = read(as_alice, loop)

    assert found["waiting"]["reason"] == "model"
    assert found["waiting"]["words"].startswith("waiting for the model until 12:01")
    assert found["waiting"]["until"].startswith("2026-11-30T12:01")
    assert (found["waiting"]["why"], found["waiting"]["since"]) == ("rate_limited", "2026-11-30T12:00:00Z")


def test_a_run_says_what_it_did_and_what_was_refused_to_it(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=2)
    for denied in (("Bash", "Write"), ("Bash",)):
        outcome = replace(
            success(dollars=0.1), permission_denials=denied, notes=("Something was cut.",), commits=1, lines_added=3,
            lines_removed=0, cost_estimated=True, steps=(({"tool": "Read", "args": {}},),),
        )  # fmt: skip
        settle(take(agent.pk, WORKER), outcome)

    found = read(as_alice, loop)

    assert found["refused_tools"] == {"Bash": 2, "Write": 1}
    run = found["runs"][0]
    assert (run["permission_denials"], run["notes"]) == (["Bash", "Write"], ["Something was cut."])
    assert (run["tool_calls"], run["commits"], run["lines_added"], run["lines_removed"]) == (1, 1, 3, 0)
    assert (run["cost_estimated"], run["error_kind"], run["activity"]) == (True, None, None)


def test_a_run_of_a_stopped_agent_says_so(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    as_alice.post("/api/agents/scribe/stop")

    assert read(as_alice, loop)["waiting"]["words"] == "the agent is stopped"


def test_a_parked_loop_says_when_its_next_run_comes(
    agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer, delay_seconds=90)
    settle(take(agent.pk, WORKER), success())

    found = read(as_alice, loop)

    assert found["next_run_at"] == "2026-11-30T12:01:30Z"
    assert found["words"]["reason"] == "next run 12:01:30 UTC"
    assert found["current_run"] is None


def test_an_unknown_loop_is_not_found(agent: Any, as_alice: Caller) -> None:
    assert as_alice.get("/api/loops/loop_0123456789abcdef").status_code == 404


@pytest.mark.parametrize(
    "loop_id", ["%00", "loop_%00", "x" * 5000, "%F0%9F%A6%89", "%ff", "..", "loop_'; DROP TABLE", "%2e%2e%2f", "1e400"]
)
def test_a_rubbish_id_is_not_found(agent: Any, as_alice: Caller, loop_id: str) -> None:
    for prefix in ("loops", "executions", "agents"):
        for suffix in ("", "/stop", "/abandon", "/trajectory", "/loops"):
            assert as_alice.get(f"/api/{prefix}/{loop_id}{suffix}").status_code in (404, 405)
            assert as_alice.post(f"/api/{prefix}/{loop_id}{suffix}").status_code in (404, 405)


# --- ETag -------------------------------------------------------------------------------------------------


def test_a_loop_that_did_not_change_is_not_sent_again(
    agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    loop = start(agent, viewer)
    path = f"/api/loops/{loop.pk}"
    etag = as_alice.get(path)["ETag"]
    assert etag == 'W/"1"'
    still_clock.pass_seconds(30)

    again = as_alice.get(path, If_None_Match=etag)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)

    take(agent.pk, WORKER)
    changed = as_alice.get(path, If_None_Match=etag)
    assert (changed.status_code, changed["ETag"]) == (200, 'W/"2"')


@pytest.mark.parametrize("known", ['W/"1"', '"1"', "*", 'W/"9", W/"1"', '"x", "1"'])
def test_any_form_of_the_newest_etag_is_known(agent: Any, as_alice: Caller, viewer: Viewer, known: str) -> None:
    loop = start(agent, viewer)

    assert as_alice.get(f"/api/loops/{loop.pk}", If_None_Match=known).status_code == 304


@pytest.mark.parametrize("known", ['W/"0"', '"11"', "1", "", "W/1", '"'])
def test_another_etag_is_not(agent: Any, as_alice: Caller, viewer: Viewer, known: str) -> None:
    loop = start(agent, viewer)

    assert as_alice.get(f"/api/loops/{loop.pk}", If_None_Match=known).status_code == 200


# --- lists ------------------------------------------------------------------------------------------------


def test_lists_are_bare_arrays_newest_first_without_runs_and_last_response(
    agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    loops = []
    for _ in range(3):
        loops.append(start(agent, viewer))
        still_clock.pass_seconds(1)

    for path in ("/api/agents/scribe/loops", "/api/loops"):
        found = as_alice.get(path).json()
        assert [loop["loop_id"] for loop in found] == [loop.pk for loop in reversed(loops)]
        assert not {"runs", "last_response"} & set(found[0])
        whole = read(as_alice, loops[2])
        assert found[0] == {name: value for name, value in whole.items() if name in found[0]}


def test_an_empty_list_is_an_empty_array(agent: Any, as_alice: Caller) -> None:
    assert as_alice.get("/api/agents/scribe/loops").json() == []


def test_a_list_is_narrowed_by_status_and_by_agent(
    make_agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock
) -> None:
    scribe, editor = make_agent(), make_agent("editor")
    stopped, queued, others = start(scribe, viewer), start(scribe, viewer), start(editor, viewer)
    request_stop(viewer, stopped)

    def ids(path: str) -> set[str]:
        return {loop["loop_id"] for loop in as_alice.get(path).json()}

    assert ids("/api/agents/scribe/loops?status=stopped") == {stopped.pk}
    assert ids("/api/agents/scribe/loops?status=queued") == {queued.pk}
    assert ids("/api/loops?agent=editor") == {others.pk}
    assert ids("/api/loops?agent=scribe&status=queued") == {queued.pk}
    assert ids("/api/loops?status=interrupted") == set()


@pytest.mark.parametrize(("limit", "found"), [(1, 1), (50, 50), (200, 60), (None, 50)])
def test_a_limit_bounds_a_list(agent: Any, as_alice: Caller, viewer: Viewer, limit: int | None, found: int) -> None:
    for _ in range(60):
        start(agent, viewer)

    query = f"?limit={limit}" if limit else ""

    assert len(as_alice.get(f"/api/agents/scribe/loops{query}").json()) == found


LISTS = ["/api/loops", "/api/agents/scribe/loops", "/api/executions", "/api/agents"]
WRONG_QUERIES = [
    ("limit=0", "limit", "from 1 to 200; 0"),
    ("limit=201", "limit", "from 1 to 200; 201"),
    ("limit=-1", "limit", "whole number from 1 to 200"),
    ("limit=", "limit", "whole number from 1 to 200"),
    ("limit=1.5", "limit", "whole number from 1 to 200"),
    ("limit=1e2", "limit", "whole number from 1 to 200"),
    ("limit=ten", "limit", "whole number from 1 to 200"),
    ("limit=%D9%A3", "limit", "whole number from 1 to 200"),  # a digit, but of another script
    ("limit=+5", "limit", "whole number from 1 to 200"),
    ("limit=1_0", "limit", "whole number from 1 to 200"),
    ("limit=%00", "limit", "whole number from 1 to 200"),
    ("limit=" + "9" * 5000, "limit", "whole number from 1 to 200"),
    ("limit=5&limit=5", "limit", "given once; it was given 2 times"),
    ("status=done", "status", "Must be one of: "),
    ("status=", "status", "Must be one of: "),
    ("status=Running", "status", "Did you mean 'running'?"),
    ("status=running&status=stopped", "status", "given once"),
    ("limits=5", "limits", "Unknown query parameter. Did you mean 'limit'?"),
    ("page=2", "page", "Unknown query parameter."),
    ("%00=1", "\ufffd", "Unknown query parameter."),
    ("=1", "", "Unknown query parameter."),
]


@pytest.mark.parametrize(("query", "name", "sentence"), WRONG_QUERIES, ids=[one[0][:20] for one in WRONG_QUERIES])
def test_a_wrong_query_parameter_is_refused_by_name(
    agent: Any, as_alice: Caller, query: str, name: str, sentence: str
) -> None:
    for path in LISTS:
        response = as_alice.get(f"{path}?{query}")

        assert response.status_code == 400, path
        assert list(errors_of(response)) == [name]
        assert sentence in errors_of(response)[name][0]


def test_an_unknown_status_is_answered_with_the_known_ones(agent: Any, as_alice: Caller) -> None:
    sentence = errors_of(as_alice.get("/api/loops?status=done"))["status"][0]

    assert all(status in sentence for status in LoopStatus)


def test_where_no_query_parameter_is_known_none_is_taken(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    assert as_alice.get(f"/api/loops/{loop.pk}?limit=5").status_code == 400
    assert as_alice.post(f"/api/loops/{loop.pk}/stop?now=1").status_code == 400
    assert as_alice.post("/api/agents/scribe/loops?limit=5", {"message": "Go", "max_runs": 1}).status_code == 400
    assert Loop.objects.get().stop_requested_at is None


def test_a_list_of_an_unknown_agent_is_not_found(agent: Any, as_alice: Caller) -> None:
    assert as_alice.get("/api/loops?agent=nobody").status_code == 404
    assert as_alice.get("/api/agents/nobody/loops").status_code == 404


# --- stop -------------------------------------------------------------------------------------------------


def test_a_loop_without_a_run_in_flight_ends_at_once(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer)

    response = as_alice.post(f"/api/loops/{loop.pk}/stop")

    assert (response.status_code, response.json()) == (200, {"loop_id": loop.pk, "status": "stopping"})
    found = read(as_alice, loop)
    assert (found["status"], found["stop_reason"]) == ("stopped", "user_stopped")
    assert found["stop_requested_by"] == {"kind": "user", "name": "alice"}
    assert found["runs"] == [], "a run that has not begun is not counted"
    assert found["words"]["workspace"] == "Stopped by you"
    assert check_loop(again(loop)) == []


def test_a_run_in_flight_is_let_finish(agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)

    assert as_alice.post(f"/api/loops/{loop.pk}/stop").json()["status"] == "stopping"
    found = read(as_alice, loop)
    assert (found["status"], found["words"]["reason"]) == ("running", "finishing run 1")
    assert found["stop_requested_at"] == "2026-11-30T12:00:00Z"

    settle(run, success())
    assert read(as_alice, loop)["stop_reason"] == "user_stopped"


def test_a_stop_may_be_repeated(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer)
    take(agent.pk, WORKER)
    path = f"/api/loops/{loop.pk}/stop"

    answers = [as_alice.post(path).json()["status"] for _ in range(2)]

    assert answers == ["stopping", "stopping"]
    assert AuditEvent.objects.filter(action="loop_stop_requested").count() == 1


def test_a_loop_that_is_over_is_already_done(agent: Any, as_alice: Caller, viewer: Viewer) -> None:
    loop = start(agent, viewer, max_runs=1)
    settle(take(agent.pk, WORKER), success())
    version = read(as_alice, loop)["version"]

    response = as_alice.post(f"/api/loops/{loop.pk}/stop")

    assert (response.status_code, response.json()["status"]) == (200, "already_done")
    assert read(as_alice, loop)["version"] == version


def test_a_parked_loop_ends_at_once(agent: Any, as_alice: Caller, viewer: Viewer, still_clock: StillClock) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    settle(take(agent.pk, WORKER), success())

    as_alice.post(f"/api/loops/{loop.pk}/stop")

    still_clock.pass_seconds(60)
    assert end_due_parks(still_clock.now, 10) == 0
    assert read(as_alice, loop)["status"] == "stopped"


def test_who_did_not_stop_it_reads_who_did(
    agent: Any, as_alice: Caller, as_bob: Caller, shared_with_bob: Any, viewer: Viewer
) -> None:
    loop = start(agent, viewer)

    as_bob.post(f"/api/loops/{loop.pk}/stop")

    assert read(as_bob, loop)["words"]["workspace"] == "Stopped by you"
    assert read(as_alice, loop)["words"]["workspace"] == "Stopped by bob"
