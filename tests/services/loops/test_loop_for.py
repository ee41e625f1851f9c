"""The one door to a loop by its id, which pages, REST, sockets and MCP use alike (design, section 2)."""

from typing import Any

import pytest

from accounts.models import AuditEvent
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.models import AgentPermission, AgentShare
from loops.models import Loop
from loops.queries import loop_for
from tests.engine import start
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode


@pytest.fixture
def loop(agent: Any, alice: Any) -> Loop:
    return start(agent, Viewer(user=alice))


def refusal_of(viewer: Viewer, loop_id: str) -> Refused:
    with pytest.raises(Refused) as caught:
        loop_for(viewer, loop_id, doing=AuditAction.LOOP_STOP_REQUESTED)
    return caught.value


def test_who_has_access_to_the_agent_gets_it(
    loop: Loop, agent: Any, make_agent: Any, alice: Any, bob: Any, admin_user: Any
) -> None:
    editor = make_agent("editor")
    AgentShare.objects.create(agent=agent, user=bob)
    AgentPermission.objects.create(caller=editor, target=agent)

    for viewer in (
        Viewer(user=alice),
        Viewer(user=bob),
        Viewer(user=admin_user),
        Viewer(agent_id=agent.pk),
        Viewer(agent_id=editor.pk),
    ):
        assert loop_for(viewer, loop.pk) == loop
    assert not AuditEvent.objects.filter(refused=True).exists()


def test_a_stranger_is_refused_without_the_agents_name_and_without_a_line(loop: Loop, mallory: Any) -> None:
    refusal = refusal_of(Viewer(user=mallory), loop.pk)

    assert refusal.code is RefusalCode.FORBIDDEN
    assert "scribe" not in refusal.detail
    assert not AuditEvent.objects.filter(refused=True).exists()


def test_an_agent_without_permission_is_refused_and_recorded_with_what_it_wanted(loop: Loop, make_agent: Any) -> None:
    hermit = make_agent("hermit")

    refusal = refusal_of(Viewer(agent_id=hermit.pk), loop.pk)

    assert refusal.code is RefusalCode.FORBIDDEN
    recorded = AuditEvent.objects.get(refused=True)
    assert (recorded.action, recorded.target) == ("loop_stop_requested", f"loop:{loop.pk}")
    assert recorded.by_agent_id == hermit.pk


def test_having_started_it_counts_for_a_person(loop: Loop, bob: Any) -> None:
    Loop.objects.update(started_by=bob)

    assert loop_for(Viewer(user=bob), loop.pk) == loop


def test_having_started_it_does_not_count_for_who_left(loop: Loop, bob: Any) -> None:
    Loop.objects.update(started_by=bob)
    bob.is_active = False
    bob.save()

    assert refusal_of(Viewer(user=bob), loop.pk).code is RefusalCode.FORBIDDEN


def test_having_started_it_does_not_count_for_an_agent(loop: Loop, make_agent: Any) -> None:
    hermit = make_agent("hermit")
    Loop.objects.update(started_by=None, source_agent=hermit)

    assert refusal_of(Viewer(agent_id=hermit.pk), loop.pk).code is RefusalCode.FORBIDDEN


def test_for_a_client_there_is_no_loop_not_even_one_they_started(loop: Loop, carol: Any) -> None:
    Loop.objects.update(started_by=carol)

    assert refusal_of(Viewer(user=carol), loop.pk).code is RefusalCode.NOT_FOUND


@pytest.mark.parametrize("loop_id", ["", "loop_unknown", "\x00", "\ud800", "x" * 10_000])
def test_an_unknown_id_is_not_found(loop: Loop, alice: Any, loop_id: str) -> None:
    assert refusal_of(Viewer(user=alice), loop_id).code is RefusalCode.NOT_FOUND
