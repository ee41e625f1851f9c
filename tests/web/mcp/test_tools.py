"""Loops over MCP: the same rules as over REST, for the same people (design, section 2)."""

import json

import pytest

from accounts.viewers import Viewer
from agents.models import AgentPermission
from executions.services import take
from executions.tokens import token_of
from loops.invariants import check_loop
from loops.models import Loop
from tests.engine import WORKER, start
from tests.web.mcp.conftest import McpCaller

GO = {"message": "Go {{run}}", "max_runs": 3}


def test_a_loop_is_started_read_listed_and_stopped(people):
    alice = people["alice"]

    refused, started = alice.call("run_agent_loop", agent_name="scribe", **GO, stop_signal="[[DONE]]")
    assert not refused
    loop_id = started.pop("loop_id")
    assert started == {"success": True, "status": "queued", "agent_name": "scribe", "max_runs": 3}

    _, found = alice.call("get_loop_status", loop_id=loop_id)
    assert (found["status"], found["message"], found["stop_signal"]) == ("queued", "Go {{run}}", "[[DONE]]")
    assert [run["run_number"] for run in found["runs"]] == [1]
    _, listed = alice.call("list_loops", agent_name="scribe", status="queued", limit=5)
    assert [loop["loop_id"] for loop in listed["loops"]] == [loop_id]
    assert alice.call("list_loops", status="running")[1] == {"loops": []}

    assert alice.call("stop_loop", loop_id=loop_id) == (False, {"loop_id": loop_id, "status": "stopping"})
    assert alice.call("stop_loop", loop_id=loop_id) == (False, {"loop_id": loop_id, "status": "already_done"})
    check_loop(Loop.objects.get(pk=loop_id))


def test_an_agent_means_itself_and_a_person_must_name_one(people):
    _, started = people["scribe"].call("run_agent_loop", **GO)
    refused, problem = people["alice"].call("run_agent_loop", **GO)

    assert started["agent_name"] == "scribe"
    assert (refused, list(problem["errors"])) == (True, ["agent_name"])
    assert Loop.objects.get().source_agent.name == "scribe"


MAY = {"mallory": False, "bob": True, "alice": True, "admin": True, "scribe": True, "editor": True, "hermit": False}


@pytest.mark.parametrize(("caller", "may"), MAY.items())
def test_who_may_do_what(people, agent, alice, caller, may):
    loop = start(agent, Viewer(user=alice), max_runs=2)
    me = people[caller]

    refused, started = me.call("run_agent_loop", agent_name="scribe", **GO)
    unknown = me.call("run_agent_loop", agent_name="nobodys", **GO)[1]
    status_refused, status = me.call("get_loop_status", loop_id=loop.pk)
    listed = [one["loop_id"] for one in me.call("list_loops")[1]["loops"]]
    agents = [one["name"] for one in me.call("list_agents")[1]["agents"]]
    stop_refused, _ = me.call("stop_loop", loop_id=loop.pk)

    assert (refused, status_refused, stop_refused) == (not may,) * 3
    assert (loop.pk in listed, "scribe" in agents) == (may, may)
    if not may:
        same = {"request_id": None, "detail": None}
        assert started | same == unknown | same
        assert "scribe" not in json.dumps(status)
        assert status["detail"] == f"Loop '{loop.pk}' not found or not accessible."
    loop.refresh_from_db()
    assert (loop.stop_requested_at is not None) == may


def test_an_unknown_loop_is_told_as_one_that_may_not_be_seen(people, agent, alice):
    loop = start(agent, Viewer(user=alice))

    hidden = people["mallory"].call("get_loop_status", loop_id=loop.pk)[1]
    unknown = people["mallory"].call("get_loop_status", loop_id="loop_0123456789abcdef")[1]

    assert hidden["detail"].replace(loop.pk, "") == unknown["detail"].replace("loop_0123456789abcdef", "")
    assert (hidden["code"], hidden["status"]) == (unknown["code"], unknown["status"]) == ("not_found", 404)


def test_refused_agents_leave_a_line_in_the_audit_log(people, agent, alice, refusals):
    loop = start(agent, Viewer(user=alice))
    hermit = people["hermit"]

    hermit.call("run_agent_loop", agent_name="scribe", **GO)
    hermit.call("get_loop_status", loop_id=loop.pk)
    hermit.call("stop_loop", loop_id=loop.pk)

    assert refusals() == [
        ("loop_started", "agent:scribe"),
        ("loop_read", f"loop:{loop.pk}"),
        ("loop_stop_requested", f"loop:{loop.pk}"),
    ]


def test_an_agent_that_lost_its_permission_can_no_longer_stop_what_it_started(people, agent, alice):
    _, started = people["editor"].call("run_agent_loop", agent_name="scribe", **GO)
    AgentPermission.objects.all().delete()

    assert people["editor"].call("stop_loop", loop_id=started["loop_id"])[0]
    assert not people["alice"].call("stop_loop", loop_id=started["loop_id"])[0]


def test_the_key_of_a_running_execution_acts_as_its_agent(people, agent, alice):
    start(agent, Viewer(user=alice))
    token = token_of(take(agent.pk, WORKER))

    assert not McpCaller(token).call("run_agent_loop", **GO)[0]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"max_runs": 3}, "message"),
        ({"message": "Go", "max_runs": "3"}, "max_runs"),
        ({"message": "Go", "max_runs": 101}, "max_runs"),
        ({**GO, "no_progress_threshold": 1}, "no_progress_threshold"),
        ({**GO, "max_cost_usd": 0}, "max_cost_usd"),
        ({**GO, "allowed_tools": []}, "allowed_tools"),
        ({**GO, "timeout": 30}, "timeout"),
        ({**GO, "agent_name": 5}, "agent_name"),
        ({**GO, "idempotency_key": 5}, "idempotency_key"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field_and_nothing_is_made(people, arguments, field):
    refused, problem = people["scribe"].call("run_agent_loop", **arguments)

    assert (refused, problem["status"], list(problem["errors"])) == (True, 400, [field])
    assert problem["request_id"].startswith("req_")
    assert not Loop.objects.exists()


def test_arguments_that_a_tool_does_not_have_are_refused(people):
    assert people["alice"].call("list_agents", archived=True)[1]["code"] == "invalid"
    assert people["alice"].call("list_loops", limit=0)[1]["code"] == "invalid"
    assert people["alice"].call("get_loop_status")[1]["code"] == "invalid"
    assert people["alice"].call("fly")[1]["code"] == "not_found"


def test_the_same_idempotency_key_starts_one_loop(people):
    first, second = (people["scribe"].call("run_agent_loop", **GO, idempotency_key="mine")[1] for _ in range(2))
    other = people["scribe"].call("run_agent_loop", message="Other", max_runs=3, idempotency_key="mine")[1]

    assert first == second
    assert other["code"] == "idempotency_key_reused"
    assert Loop.objects.count() == 1


def test_every_tool_says_its_arguments_as_they_are_checked(people):
    tools = {tool.name: tool for tool in people["bob"].tools()}

    assert set(tools) == {"list_agents", "run_agent_loop", "get_loop_status", "stop_loop", "list_loops"}
    asked = tools["run_agent_loop"].input_schema
    assert asked["required"] == ["message", "max_runs"]
    assert asked["properties"]["max_runs"] == {"type": "integer", "minimum": 1, "maximum": 100}
    assert asked["properties"]["on_failure"]["enum"] == ["abort", "continue"]
    assert tools["get_loop_status"].annotations.read_only_hint
    assert not tools["stop_loop"].annotations.read_only_hint


def test_a_fault_of_ours_is_said_without_its_insides(people, monkeypatch):
    from trinity.mcp.tools import ToolDoor, tools

    def break_down(viewer, given):
        raise RuntimeError("secret inside")

    monkeypatch.setitem(tools._entries, "list_agents", ToolDoor("x", "x", break_down))

    refused, problem = people["alice"].call("list_agents")

    assert (refused, problem["status"]) == (True, 503)
    assert "secret inside" not in json.dumps(problem)
