"""Who may see which page: every address is asked by everybody."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from agents.runtimes.registry import runtime
from executions.adding import check_call
from executions.models import Execution
from tests.web.pages.conftest import Stage

OPEN_TO_ALL = {"login", "logout"}
ROOM_PAGES = {
    "workspace", "rooms", "room", "room-head", "room-foot", "room-lines", "room-tail", "room-line", "room-line-text",
    "retry-turn", "post-message", "cancel-turn", "star-room", "rename-room", "close-room", "add-to-room",
    "remove-from-room",
}  # fmt: skip
FOR_CLIENTS_TOO = {"password_change"} | ROOM_PAGES
ELSEWHERE = ("admin/", "api/", "healthz", "metrics", "mcp")
UNKNOWN = {
    "loop_id": "loop_0123456789abcdef",
    "execution_id": "exec_0123456789abcdef",
    "name": "nobodys",
    "prefix": "abc",
    "room_id": "room_0123456789abcdef",
    "number": "7",
    "turn_id": "77777",
    "participant_id": "77777",
}


def page_names() -> Iterator[str]:
    """The name of every page's address."""
    for pattern in get_resolver().url_patterns:
        if str(pattern.pattern).startswith(ELSEWHERE):
            continue
        patterns = pattern.url_patterns if isinstance(pattern, URLResolver) else [pattern]
        for one in patterns:
            if isinstance(one, URLPattern) and one.name:
                yield one.name


FOR_ADMINS = {"add-agent"}
MEMBER_PAGES = sorted(set(page_names()) - OPEN_TO_ALL - FOR_CLIENTS_TOO)


def address(name: str, given: dict[str, str]) -> str:
    """The address of a page, with as many of the values as it takes."""
    taken = {key for one in get_resolver().reverse_dict.getlist(name) for _, keys in one[0] for key in keys}
    return reverse(name, kwargs={key: given[key] for key in taken})


@pytest.fixture
def real(stage: Stage, bob: Any) -> dict[str, str]:
    """Values with which every address leads to something of Alice's; Bob takes part in her room."""
    from accounts.services import create_key
    from workspace.models import Turn
    from workspace.parameters import read_room
    from workspace.rooms import add_participant, open_room

    loop = stage.completed()
    room = open_room(stage.viewer, read_room({"agents": [stage.agent.name], "text": "Hello", "title": "Docs"}))
    add_participant(stage.viewer, room.pk, user=bob.username)
    execution = loop.runs.first().execution_id
    Execution.objects.filter(pk=execution).update(prompt=check_call.PROMPT)  # so that the pages of checks know it
    key = create_key(user=stage.viewer.user, name="laptop").key
    return {
        "loop_id": loop.pk,
        "execution_id": execution,
        "name": loop.agent.name,
        "prefix": key.prefix,
        "room_id": room.pk,
        "number": "1",
        "turn_id": str(Turn.objects.get().pk),
        "participant_id": str(room.participants.get(user=None).pk),
    }


@pytest.mark.parametrize("name", MEMBER_PAGES)
def test_nobody_is_sent_to_the_login_page(name: str, real: dict[str, str]) -> None:
    for method in ("get", "post"):
        response = getattr(Client(), method)(address(name, real))

        assert response.status_code in (302, 405)
        assert response.status_code == 405 or response["Location"].startswith("/login/?next=/")


@pytest.mark.parametrize("name", MEMBER_PAGES)
def test_to_a_client_no_member_page_exists(name: str, real: dict[str, str], as_carol: Client) -> None:
    for method in ("get", "post"):
        assert getattr(as_carol, method)(address(name, real)).status_code in (404, 405)


@pytest.mark.parametrize("name", [name for name in MEMBER_PAGES if name not in ("dashboard", "dashboard-board")])
def test_a_stranger_learns_nothing_of_an_agent(name: str, real: dict[str, str], as_mallory: Client) -> None:
    known, unknown = address(name, real), address(name, UNKNOWN)
    if known == unknown:
        return  # the page is the stranger's own
    for method in ("get", "post"):
        response = getattr(as_mallory, method)(known)

        assert response.status_code in (403, 404, 405)
        assert real["name"] not in response.content.decode()


@pytest.mark.parametrize("name", sorted(ROOM_PAGES))
def test_nobody_gets_to_a_room_without_a_login(name: str, real: dict[str, str]) -> None:
    for method in ("get", "post"):
        response = getattr(Client(), method)(address(name, real))

        assert response.status_code in (302, 405)
        assert response.status_code == 405 or response["Location"].startswith("/login/?next=/")


@pytest.mark.parametrize("name", sorted(ROOM_PAGES - {"workspace", "rooms"}))
def test_to_who_takes_no_part_a_room_does_not_exist(
    name: str, real: dict[str, str], as_mallory: Client, as_carol: Client
) -> None:
    for browser in (as_mallory, as_carol):
        for method in ("get", "post"):
            response = getattr(browser, method)(address(name, real), {"name": "bob", "title": "x", "text": "x"})

            assert response.status_code in (404, 405)
            assert real["name"] not in response.content.decode()


@pytest.mark.parametrize("name", sorted(set(MEMBER_PAGES) - FOR_ADMINS))
def test_who_shares_the_agent_sees_its_pages(name: str, real: dict[str, str], as_bob: Client) -> None:
    response = as_bob.get(address(name, real))

    assert response.status_code in (200, 405)


@pytest.mark.parametrize("name", sorted(FOR_ADMINS))
def test_what_runs_code_on_the_server_is_for_admins(name: str, real: dict[str, str], as_bob: Client) -> None:
    assert as_bob.get(address(name, real)).status_code == 403
    assert as_bob.post(address(name, real)).status_code == 403


@pytest.mark.parametrize("name", ["start-agent", "stop-agent", "share-agent", "unshare-agent", "abandon-execution"])
def test_what_is_the_owners_own_is_refused_to_others(name: str, real: dict[str, str], as_bob: Client) -> None:
    response = as_bob.post(address(name, real))

    assert response.status_code == 403


def test_bob_does_not_see_where_the_agent_works_or_how_it_is_called(real: dict[str, str], as_bob: Client) -> None:
    page = as_bob.get(address("agent-settings", real)).content.decode()

    assert "replies" not in page
    assert "Workspace</dt>" not in page


def test_an_unknown_loop_and_a_loop_of_rubbish_are_not_found(as_alice: Client) -> None:
    for rubbish in (
        "loop_0123456789abcdef",
        "loop_x",
        "%00",
        "loop_0123456789abcde%00",
        "..",
        "loop_0123456789abcdef%0a",
    ):
        assert as_alice.get(f"/loops/{rubbish}/").status_code == 404
        assert as_alice.get(f"/executions/{rubbish.replace('loop', 'exec')}/").status_code == 404


@pytest.mark.parametrize("name", ["%00", "a%00b", "A", "-a", "a" * 64, "..", "a%0a"])
def test_an_agent_of_a_rubbish_name_is_not_found(as_alice: Client, name: str) -> None:
    assert as_alice.get(f"/agents/{name}/loops/").status_code == 404


def test_pages_and_fragments_hold_no_inline_script_or_style(real: dict[str, str], as_alice: Client) -> None:
    import re

    for name in MEMBER_PAGES:
        response = as_alice.get(address(name, real), {"open": real["loop_id"]})
        page = response.content.decode()

        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|hx-on", page), name
        assert "'unsafe" not in response.get("Content-Security-Policy", "")


def test_the_policy_lets_nothing_in_from_elsewhere(as_alice: Client) -> None:
    policy = as_alice.get("/")["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy


def test_the_settings_say_what_holds_an_agent_and_what_does_not(
    as_alice: Client, as_bob: Client, real: dict[str, str], stage: Stage
) -> None:
    sandbox = {"write": ["/srv/shared"]}
    chosen = {"argv": ["agent"], "isolation": {"memory_mb": 512, "bwrap": sandbox}}
    kept = runtime("command").clean_settings(chosen)
    type(stage.agent).objects.filter(pk=stage.agent.pk).update(runtime="command", runtime_settings=kept)

    for_alice, for_bob = (each.get(address("agent-settings", real)).content.decode() for each in (as_alice, as_bob))

    assert "its home, and /srv/shared; nowhere else" in for_alice
    assert "its home, and 1 folder more; nowhere else" in for_bob
    assert "/srv/shared" not in for_bob
    for page in (for_alice, for_bob):
        assert "more than 512 MiB together is ended" in page
        assert "It may start as many processes as its account may." in page
