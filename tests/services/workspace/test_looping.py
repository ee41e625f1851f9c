"""Loops that are started from a room: they belong to it, have a card for members, and clients cannot cause any."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import AgentPermission, AgentShare
from executions.models import Execution
from executions.services import settle
from executions.tokens import token_of, viewer_of_token
from loops.models import Loop
from loops.parameters import read_parameters
from loops.services import start_loop
from tests.engine import start, success
from tests.services.workspace.conftest import Talk
from trinity.kernel.errors import Refused
from workspace.looping import start_loop_here
from workspace.models import Message, Turn
from workspace.queries import seat_in
from workspace.rail import agents_in, room_executions, room_loops
from workspace.rooms import close_room
from workspace.vocabulary import MessageKind

OpenTalk = Callable[..., Talk]
THREE = read_parameters({"message": "Say a number", "max_runs": 3})


def as_running(execution: Execution) -> Viewer:
    viewer = viewer_of_token(token_of(execution))
    assert viewer is not None
    return viewer


def test_what_a_turn_starts_belongs_to_its_room_and_has_a_card_for_members(
    open_talk: OpenTalk, agent: Any, alice: Any, carol: Any
) -> None:
    talk = open_talk(people=["carol"])
    talk.says(alice, "Do this 3 times: say a number")
    execution = talk.begins(agent)

    loop = start_loop(as_running(execution), agent, THREE)
    settle(execution, success("It is under way"))

    assert loop.room_id == talk.id
    assert set(Execution.objects.filter(loop_id=loop.pk).values_list("room_id", flat=True)) == {talk.id}
    card = Message.objects.get(kind=MessageKind.LOOP)
    assert (card.loop, card.agent, card.text, card.members_only) == (loop, agent, "Say a number", True)
    assert talk.lines(alice) == [
        "alice: Do this 3 times: say a number",
        "scribe: Say a number",
        "scribe: It is under way",
    ]
    assert talk.lines(carol) == ["alice: Do this 3 times: say a number"]
    assert (seat_in(Viewer(user=carol), talk.id).last_seq, talk.room.last_seq) == (1, 3)


def test_a_loop_that_is_handed_to_another_agent_belongs_to_the_room_of_the_turn(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any
) -> None:
    editor = make_agent("editor")
    AgentPermission.objects.create(caller=agent, target=editor)
    talk = open_talk()
    talk.says(alice, "Let the editor do it twice")

    loop = start_loop(as_running(talk.begins(agent)), editor, THREE)

    card = Message.objects.get(kind=MessageKind.LOOP)
    assert (loop.room_id, card.agent) == (talk.id, agent)


def test_what_a_loops_run_starts_belongs_to_the_room_of_its_loop(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    start_loop_here(Viewer(user=alice), talk.id, "scribe", THREE)

    inner = start_loop(as_running(talk.begins(agent)), agent, THREE)

    assert inner.room_id == talk.id


def test_a_call_that_belongs_to_no_room_starts_loops_of_no_room(agent: Any, alice: Any) -> None:
    from executions.services import take
    from tests.engine import WORKER

    start(agent, Viewer(user=alice))
    inner = start_loop(as_running(take(agent.pk, WORKER)), agent, THREE)  # type: ignore[arg-type]

    assert inner.room_id == ""
    assert not Message.objects.exists()


def test_in_a_turn_that_a_client_asked_for_no_loop_is_started(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any, carol: Any
) -> None:
    editor = make_agent("editor")
    talk = open_talk("scribe", "editor", people=["carol"])
    talk.says(carol, "@scribe, do this 3 times: say a number")
    execution = talk.begins(agent)
    assert "trinity loop" not in execution.prompt

    with pytest.raises(Refused, match="from outside"):
        start_loop(as_running(execution), agent, THREE)
    settle(execution, success("@editor, do it for me"))

    handed_on = talk.begins(editor)
    with pytest.raises(Refused, match="from outside"):
        start_loop(as_running(handed_on), editor, THREE)
    assert not Loop.objects.exists()


def test_what_an_agent_says_of_a_loop_is_kept_from_clients_and_what_it_says_of_other_things_is_not(
    open_talk: OpenTalk, agent: Any, alice: Any, carol: Any
) -> None:
    talk = open_talk(people=["carol"])
    talk.says(alice, "What is a for loop?")
    talk.answers(agent, "A for loop goes through a list")
    start_loop_here(Viewer(user=alice), talk.id, "scribe", THREE)
    settle(talk.begins(agent), success("1"))
    talk.says(alice, "How far is it?")
    for reply in ("The loop is in run 2", "Nothing of interest"):
        execution = talk.begins(agent)
        while execution.loop_id:
            settle(execution, success(execution.pk))
            execution = talk.begins(agent)
        settle(execution, success(reply))
        talk.says(alice, "And now?")

    assert "scribe: A for loop goes through a list" in talk.lines(carol)
    assert "scribe: Nothing of interest" in talk.lines(carol)
    assert "scribe: The loop is in run 2" not in talk.lines(carol)
    assert "scribe: The loop is in run 2" in talk.lines(alice)


def test_a_loop_from_the_rail_needs_an_agent_that_takes_part_and_may_be_used(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any, bob: Any, carol: Any
) -> None:
    make_agent("editor")
    talk = open_talk(people=["bob", "carol"])
    for user, name, code in (
        (alice, "editor", "invalid"),
        (alice, "nobody", "not_found"),
        (bob, "scribe", "not_found"),
        (carol, "scribe", "not_found"),
    ):
        with pytest.raises(Refused) as refused:
            start_loop_here(Viewer(user=user), talk.id, name, THREE)
        assert refused.value.code == code

    close_room(Viewer(user=alice), talk.id)
    with pytest.raises(Refused, match="closed"):
        start_loop_here(Viewer(user=alice), talk.id, "scribe", THREE)
    assert not Loop.objects.exists()


# --- the rail ---------------------------------------------------------------------------------------------


def test_the_rooms_loops_are_those_started_from_it_and_those_of_its_agents_that_one_may_use(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any, bob: Any, carol: Any
) -> None:
    elsewhere = make_agent("elsewhere")
    talk = open_talk(people=["bob", "carol"])
    here = start_loop_here(Viewer(user=alice), talk.id, "scribe", THREE)
    beside = start(agent, Viewer(user=alice))
    start(elsewhere, Viewer(user=alice))

    def seen(viewer: Viewer) -> set[str]:
        return {loop.pk for loop in room_loops(seat_in(viewer, talk.id))}

    assert seen(Viewer(user=alice)) == {here.pk, beside.pk}
    assert seen(Viewer(user=bob)) == {here.pk}, "what the agent does elsewhere is not for who may not use it"
    assert seen(Viewer(agent_id=agent.pk)) == {here.pk, beside.pk}
    AgentShare.objects.create(agent=agent, user=bob)
    assert seen(Viewer(user=bob)) == {here.pk, beside.pk}
    with pytest.raises(Refused):
        room_loops(seat_in(Viewer(user=carol), talk.id))
    assert [one.name for one in agents_in(seat_in(Viewer(user=alice), talk.id))] == ["scribe"]


def test_work_tells_who_asked_what_came_of_it_and_what_it_waits_for(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any, bob: Any, carol: Any
) -> None:
    from executions.services import take
    from tests.engine import WORKER, failure, timeout
    from workspace.services import cancel_turn

    editor = make_agent("editor", max_parallel_tasks=1)
    talk = open_talk("scribe", "editor", people=["bob", "carol"])
    talk.says(alice, "@scribe, first")
    talk.answers(agent, "@editor, second")
    talk.answers(editor, failure())
    talk.says(bob, "@editor, third")
    talk.answers(editor, timeout())
    talk.says(bob, "@scribe, fourth")
    cancel_turn(Viewer(user=bob), talk.id, Turn.objects.latest("pk").pk)
    start_loop_here(Viewer(user=alice), talk.id, "editor", THREE)
    assert take(editor.pk, WORKER)
    talk.says(alice, "@editor, fifth")

    def told(user: Any, **more: Any) -> list[tuple[str, str, str]]:
        work = room_executions(seat_in(Viewer(user=user), talk.id), talk.clock(), **more)
        return [(one.title, one.kind_words, one.outcome_words) for one in (*work.now, *work.earlier)]

    assert told(alice, all_earlier=True) == [
        ("@editor, fifth", "You asked", "Waiting for a slot"),
        ("Say a number", "Loop run", "Working"),
        ("@scribe, fourth", "bob asked", "Stopped by bob"),
        ("@editor, third", "bob asked", "Timed out"),
        ("@editor, second", "Handed on", "Failed"),
        ("@scribe, first", "You asked", "Done"),
    ]
    assert told(bob)[2:4] == [
        ("@scribe, fourth", "You asked", "Stopped by you"),
        ("@editor, third", "You asked", "Timed out"),
    ]
    short = room_executions(seat_in(Viewer(user=alice), talk.id), talk.clock())
    assert (len(short.earlier), short.hidden) == (3, 1)
    talk.clock.pass_seconds(31 * 86_400)
    assert room_executions(seat_in(Viewer(user=alice), talk.id), talk.clock()).earlier == ()
    with pytest.raises(Refused):
        room_executions(seat_in(Viewer(user=carol), talk.id), talk.clock())
