"""Who may call what: every route under /api/ is classified here, and a new one without a row fails the tests."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import AuditEvent
from accounts.services import create_key
from accounts.viewers import Viewer
from agents.models import AgentPermission, AgentShare
from executions.models import Execution
from executions.requests import CallParameters, call_agent_in
from executions.services import settle, take
from executions.step import agent_step
from executions.tokens import token_of
from executions.vocabulary import Trigger
from loops.models import Loop
from tests.engine import WORKER, failure, start, success
from tests.web.api.calling import Caller
from workspace.parameters import read_room
from workspace.rooms import open_room
from workspace.services import post_message

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Carol is a client, Mallory a stranger, Bob shared with, Alice the owner; editor may call scribe, hermit may not; the
# token is that of scribe's run in flight.
CALLERS = ("nobody", "carol", "mallory", "bob", "alice", "admin", "scribe", "editor", "hermit", "token")
NEW_LOOP = {"message": "Go", "max_runs": 1}

READ = "401 404 404 200 200 200 200 200 404 200"
OWN = "401 404 404 403 {0} {0} 403 403 404 403"
MEMBERS = "401 404 200 200 200 200 403 403 403 403"
ALL = "401 404 200 200 200 200 200 200 200 200"
LOOP = "401 404 403 200 200 200 200 200 403 200"
START = "401 404 404 202 202 202 202 202 404 202"
OPEN = "200 404 200 200 200 200 200 200 200 200"
PAGE = "200 200 200 200 200 200 200 200 200 200"  # asks sessions only; a client's is tried below
# Alice's room, with Bob, Carol and scribe. An admin manages it, and does not read it.
ROOM = "401 {0} 404 {0} {0} 404 {0} 404 404 {0}"
RAIL = "401 404 404 200 200 404 200 404 404 200"
MANAGE = "401 403 404 403 {0} {0} 403 404 404 403"
NOWHERE = "404 404 404 404 404 404 404 404 404 404"
TABLE: dict[tuple[str, str], tuple[str, Any]] = {
    ("GET", "agents"): (ALL, None),
    ("POST", "agents"): (
        "401 404 403 403 403 201 403 403 403 403",
        {"name": "new", "runtime": "scripted", "runtime_settings": {"replies": [{"response": "done"}]}},
    ),
    ("GET", "agents/{name}"): (READ, None),
    ("PATCH", "agents/{name}"): (OWN.format(200), {"title": "New"}),
    ("DELETE", "agents/{name}"): (OWN.format(200), None),
    ("POST", "agents/{name}/start"): (OWN.format(200), None),
    ("POST", "agents/{name}/stop"): (OWN.format(200), None),
    ("GET", "agents/{name}/shares"): (OWN.format(200), None),
    ("POST", "agents/{name}/shares"): (OWN.format(201), {"user": "mallory"}),
    ("DELETE", "agents/{name}/shares/{username}"): (OWN.format(204), None),
    ("GET", "agents/{name}/permissions"): (OWN.format(200), None),
    ("POST", "agents/{name}/permissions"): (OWN.format(201), {"agent": "editor"}),
    ("DELETE", "agents/{name}/permissions/{target}"): (OWN.format(204), None),
    ("GET", "agents/{name}/keys"): (OWN.format(200), None),
    ("POST", "agents/{name}/keys"): (OWN.format(201), {"name": "new"}),
    ("DELETE", "agents/{name}/keys/{prefix}"): (OWN.format(204), None),
    ("GET", "agents/{name}/loops"): (READ, None),
    ("POST", "agents/{name}/loops"): (START, NEW_LOOP),
    ("POST", "agents/{name}/executions"): (START, {"prompt": "Go"}),
    ("GET", "loops"): (ALL, None),
    ("GET", "loops/{loop_id}"): (LOOP, None),
    ("POST", "loops/{loop_id}/stop"): (LOOP, None),
    ("GET", "executions"): (ALL, None),
    ("GET", "executions/{execution_id}"): (READ, None),
    ("GET", "executions/{execution_id}/trajectory"): (READ, None),
    ("POST", "executions/{execution_id}/abandon"): (OWN.format(200), None),
    ("GET", "rooms"): (ALL.replace("404", "200"), None),
    ("POST", "rooms"): ("401 403 400 201 201 201 201 201 400 201", {"agents": ["scribe"]}),
    ("GET", "rooms/{room_id}"): (ROOM.format(200), None),
    ("PATCH", "rooms/{room_id}"): (MANAGE.format(200), {"title": "New"}),
    ("POST", "rooms/{room_id}/messages"): (ROOM.format(201), {"text": "Hello"}),
    ("POST", "rooms/{room_id}/messages/{seq}/retry"): ("401 202 404 202 202 404 403 404 404 403", None),
    ("POST", "rooms/{room_id}/turns/{turn_id}/cancel"): ("401 403 404 403 200 404 403 404 404 403", None),
    ("GET", "rooms/{room_id}/participants"): (ROOM.format(200), None),
    ("POST", "rooms/{room_id}/participants"): (MANAGE.format(201), {"user": "mallory"}),
    # An agent and a person may leave by themselves.
    ("DELETE", "rooms/{room_id}/participants/agents/{name}"): ("401 403 404 403 204 204 204 404 404 204", None),
    ("DELETE", "rooms/{room_id}/participants/people/{username}"): ("401 403 404 204 204 204 403 404 404 403", None),
    ("POST", "rooms/{room_id}/close"): (MANAGE.format(200), None),
    ("GET", "rooms/{room_id}/work"): (RAIL, None),
    ("GET", "rooms/{room_id}/loops"): (RAIL, None),
    ("GET", "graders/"): (ALL, None),
    ("POST", "graders/grade"): (ALL, {"graders": [], "trajectory": {"format": "trinity-trajectory/1", "steps": []}}),
    ("GET", "keys"): (MEMBERS, None),
    ("POST", "keys"): ("401 404 201 201 201 201 403 403 403 403", {"name": "new"}),
    ("DELETE", "keys/{prefix}"): ("401 404 404 404 204 404 403 403 403 403", None),
    ("GET", "schema"): (OPEN, None),
    ("GET", "schema/"): (OPEN, None),
    ("GET", "docs"): (PAGE, None),
    ("GET", "docs/"): (PAGE, None),
    ("GET", ""): (PAGE.replace("200", "302"), None),
    ("GET", "^"): (NOWHERE, None),
    ("POST", "^"): (NOWHERE, None),
}


def routes() -> dict[str, Any]:
    """Every route under /api/, as its template, with its view."""

    def walk(patterns: list[Any], before: str) -> Iterator[tuple[str, Any]]:
        for one in patterns:
            route = before + str(one.pattern)
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, route)
            elif isinstance(one, URLPattern) and route.startswith("api/"):
                yield route.removeprefix("api/").replace("<str:", "{").replace(">", "}"), one.callback

    return dict(walk(get_resolver().url_patterns, ""))


def methods_of(view: Any) -> set[str]:
    cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
    return {method for method in METHODS if hasattr(cls, method.lower())} if cls else {"GET"}


def test_every_route_is_classified() -> None:
    known = {(method, route) for route, view in routes().items() for method in methods_of(view)}

    unclassified = {one for one in known if one not in TABLE and one[1] not in ("", "^")}
    gone = {one for one in TABLE if one[1] not in routes()}
    assert (unclassified, gone) == (set(), set())


@pytest.fixture
def callers(
    agent: Any, make_agent: Any, alice: Any, bob: Any, carol: Any, mallory: Any, admin_user: Any
) -> dict[str, Caller]:
    """One caller of each kind."""
    editor, hermit = make_agent("editor"), make_agent("hermit")
    AgentShare.objects.create(agent=agent, user=bob)
    AgentPermission.objects.create(caller=editor, target=agent)
    people = {"carol": carol, "mallory": mallory, "bob": bob, "alice": alice, "admin": admin_user}
    agents = {"scribe": agent, "editor": editor, "hermit": hermit}
    found = {"nobody": Caller()}
    found |= {name: Caller(create_key(user=user).secret) for name, user in people.items()}
    found |= {name: Caller(create_key(agent_id=one.pk).secret) for name, one in agents.items()}
    return found


@pytest.fixture
def places(agent: Any, callers: dict[str, Caller], make_agent: Any, alice: Any) -> dict[str, str]:
    """What the templates are filled with: rows of Alice's agent scribe."""
    viewer = Viewer(user=alice)
    AgentPermission.objects.create(caller=agent, target=make_agent("target"))
    asked = {"agents": ["scribe"], "people": ["bob", "carol"], "text": "Fail"}
    room = open_room(viewer, read_room(asked))
    settle(take(agent.pk, WORKER), failure())  # type: ignore[arg-type]
    failed = room.messages.latest("seq")
    loop = start(agent, viewer)
    callers["token"] = Caller(token_of(take(agent.pk, WORKER)))  # type: ignore[arg-type]
    with agent_step(agent.pk) as step:
        call = call_agent_in(step, viewer, CallParameters("Go"), trigger=Trigger.API)
    post_message(viewer, room.pk, "Wait")
    return {
        "room_id": room.pk,
        "seq": str(failed.seq),
        "turn_id": str(room.turns.latest("pk").pk),
        "name": "scribe",
        "username": "bob",
        "target": "target",
        "loop_id": loop.pk,
        "execution_id": call.pk,
        "agent prefix": create_key(agent_id=agent.pk).key.prefix,
        "own prefix": create_key(user=alice).key.prefix,
    }


def _path(route: str, places: dict[str, str]) -> str:
    prefix = places["agent prefix" if route.startswith("agents") else "own prefix"]
    return "/api/" + route.replace("^", "nowhere").format(prefix=prefix, **places)


@pytest.mark.parametrize(("method", "route"), TABLE, ids=lambda value: value or "root")
def test_each_caller_gets_what_they_may(
    method: str, route: str, callers: dict[str, Caller], places: dict[str, str]
) -> None:
    expected, body = TABLE[method, route]
    if route.endswith("trajectory"):
        _let_it_end_with_a_trajectory(places)

    found = [_undone(lambda name=name: callers[name].send(method, _path(route, places), body)) for name in CALLERS]

    assert dict(zip(CALLERS, found, strict=True)) == dict(zip(CALLERS, map(int, expected.split()), strict=True))


def _undone(call: Callable[[], Any]) -> int:
    """The status of a call whose effects are undone, so that each caller meets the same rows."""
    with transaction.atomic():
        # Services open durable transactions: let them, as Django's own test cases do.
        transaction.get_connection().atomic_blocks[-1]._from_testcase = True
        status: int = call().status_code
        transaction.set_rollback(True)
    return status


def _let_it_end_with_a_trajectory(places: dict[str, str]) -> None:
    execution = Execution.objects.select_related("agent").get(pk=places["execution_id"])
    taken = take(execution.agent_id, WORKER)
    assert taken == execution
    settle(taken, replace(success(), steps=(({"tool": "bash", "args": {}},),)))


@pytest.mark.parametrize("route", sorted(route for route in routes() if "docs" not in route and route not in ("", "^")))
def test_a_method_that_a_route_has_not_is_refused_with_those_it_has(
    route: str, callers: dict[str, Caller], places: dict[str, str]
) -> None:
    has = methods_of(routes()[route])
    path = _path(route, places)

    for method in (*METHODS, "TRACE", "BREW"):
        if method in has:
            continue
        response = callers["admin"].send(method, path)
        assert response.status_code == 405, method
        assert has <= set(response["Allow"].split(", "))
        assert not (set(METHODS) - has) & set(response["Allow"].split(", "))

    assert callers["nobody"].send("PUT", path).status_code == (405 if "schema" in route else 401)
    assert callers["admin"].send("OPTIONS", path).status_code == 204


def test_the_page_of_the_documentation_does_not_exist_for_a_client(client: Any, carol: Any, bob: Any) -> None:
    client.force_login(carol)
    assert client.get("/api/docs/").status_code == 404
    assert client.get("/api/schema/").status_code == 404

    client.force_login(bob)
    assert client.get("/api/docs/").status_code == 200


@pytest.mark.parametrize("spoilt", ["", "trk_", "trk_0000000000_xxx", "trx_", "trx_exec_1.1:sig", "Bearer", "ä", "a b"])
def test_a_wrong_key_is_nobody(agent: Any, spoilt: str) -> None:
    response = Caller().get("/api/agents", Authorization=f"Bearer {spoilt}")

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="trinity"'


def test_a_key_of_another_scheme_is_nobody(agent: Any, alice: Any) -> None:
    secret = create_key(user=alice).secret

    assert Caller().get("/api/agents", Authorization=f"Basic {secret}").status_code == 401
    assert Caller().get("/api/agents", Authorization=secret).status_code == 401
    assert Caller().get("/api/agents", Authorization=f"bearer {secret}").status_code == 200


def test_a_key_of_someone_who_left_is_nobodys(agent: Any, alice: Any, as_alice: Caller) -> None:
    alice.is_active = False
    alice.save()

    assert as_alice.get("/api/agents").status_code == 401


def test_the_token_of_a_run_ends_with_it(agent: Any, alice: Any) -> None:
    start(agent, Viewer(user=alice))
    run = take(agent.pk, WORKER)
    caller = Caller(token_of(run))
    assert caller.get("/api/agents/scribe").status_code == 200

    settle(run, success())

    assert caller.get("/api/agents/scribe").status_code == 401


# --- having started it ------------------------------------------------------------------------------------


def test_who_started_a_loop_reads_and_stops_it_without_access(agent: Any, as_bob: Caller, shared_with_bob: Any) -> None:
    path = as_bob.post("/api/agents/scribe/loops", NEW_LOOP)["Location"]
    shared_with_bob.delete()

    assert as_bob.get("/api/agents/scribe/loops").status_code == 404
    assert as_bob.get(path).status_code == 200
    assert as_bob.post(f"{path}/stop").json()["status"] == "stopping"


def test_an_agent_that_lost_its_permission_neither_reads_nor_stops_what_it_started(
    agent: Any, make_agent: Any, caller_of: Any, as_alice: Caller
) -> None:
    editor = make_agent("editor")
    permission = AgentPermission.objects.create(caller=editor, target=agent)
    as_editor = caller_of(editor)
    path = as_editor.post("/api/agents/scribe/loops", NEW_LOOP)["Location"]
    assert as_editor.get(path).json()["started_by"] == {"kind": "agent", "name": "editor"}
    permission.delete()

    refusals = [as_editor.get(path), as_editor.post(f"{path}/stop")]

    assert [one.status_code for one in refusals] == [403, 403]
    assert not any("scribe" in one.content.decode() for one in refusals), "a refusal never names the agent"
    assert Loop.objects.get().stop_requested_at is None
    recorded = AuditEvent.objects.filter(refused=True, by_agent_id=editor.pk).order_by("id")
    assert [(one.action, one.target) for one in recorded] == [
        ("loop_read", f"loop:{Loop.objects.get().pk}"),
        ("loop_stop_requested", f"loop:{Loop.objects.get().pk}"),
    ]
    assert as_alice.post(f"{path}/stop").status_code == 200


def test_an_agent_that_may_not_call_another_is_answered_as_if_it_did_not_exist_and_is_recorded(
    agent: Any, make_agent: Any, caller_of: Any
) -> None:
    hermit = make_agent("hermit")
    as_hermit = caller_of(hermit)

    known = as_hermit.post("/api/agents/scribe/loops", NEW_LOOP)
    unknown = as_hermit.post("/api/agents/nobody/loops", NEW_LOOP)
    as_hermit.post("/api/agents/scribe/executions", {"prompt": "Go"})

    def told(response: Any, name: str) -> Any:
        said = {key: value for key, value in response.json().items() if key != "request_id"}
        return {**said, "detail": said["detail"].replace(name, "…")}

    assert told(known, "scribe") == told(unknown, "nobody")
    recorded = AuditEvent.objects.filter(refused=True, by_agent_id=hermit.pk).order_by("id")
    assert [(one.action, one.target) for one in recorded] == [
        ("loop_started", "agent:scribe"),
        ("execution_started", "agent:scribe"),
    ]


def test_a_member_who_became_a_client_sees_no_loop_of_theirs(agent: Any, as_bob: Caller, bob: Any) -> None:
    AgentShare.objects.create(agent=agent, user=bob)
    path = as_bob.post("/api/agents/scribe/loops", NEW_LOOP)["Location"]
    bob.kind = "client"
    bob.save()

    assert as_bob.get(path).status_code == 404
    assert as_bob.get("/api/loops").status_code == 404


def test_a_loop_of_an_archived_agent_is_still_read_by_its_owner(agent: Any, as_alice: Caller, alice: Any) -> None:
    loop = start(agent, Viewer(user=alice))
    as_alice.delete("/api/agents/scribe")

    assert as_alice.get(f"/api/loops/{loop.pk}").json()["stop_reason"] == "user_stopped"
    assert [one["loop_id"] for one in as_alice.get("/api/loops").json()] == [loop.pk]
    assert as_alice.get("/api/agents/scribe/loops").status_code == 404
