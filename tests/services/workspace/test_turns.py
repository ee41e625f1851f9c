"""How messages wake agents, how their turns come one after another, and how replies and failures appear."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent, AgentShare
from agents.services import archive_agent
from executions.models import Execution
from executions.services import settle, take
from executions.vocabulary import ExecutionStatus
from tests.engine import WORKER, again, failure, model_away, success, timeout
from tests.services.workspace.conftest import Talk
from trinity.kernel.errors import Refused
from workspace.models import Participant, Turn
from workspace.queries import seat_in, transcript, turns_to_move
from workspace.receivers import move_waiting_turns
from workspace.rooms import remove_participant
from workspace.services import cancel_turn, post_message, retry
from workspace.vocabulary import MessageKind, TurnEnding

OpenTalk = Callable[..., Talk]


@pytest.fixture
def editor(make_agent: Any) -> Any:
    return make_agent("editor")


def stop(agent: Agent) -> None:
    agent.status = "stopped"
    agent.save()


def test_with_one_agent_every_message_wakes_it_and_its_reply_appears(
    open_talk: OpenTalk, agent: Any, alice: Any
) -> None:
    talk = open_talk()

    talk.says(alice, "Say a number")
    assert talk.waiting() == ["scribe"]
    talk.answers(agent, "Seven")

    assert talk.lines(alice) == ["alice: Say a number", "scribe: Seven"]
    assert talk.waiting() == []
    turn = Turn.objects.get()
    assert (turn.ending, turn.reply.text, turn.asked_by) == (TurnEnding.ANSWERED, "Seven", alice)
    assert (turn.execution.trigger, turn.execution.room_id) == ("chat", talk.id)


def test_a_message_that_opens_a_room_wakes_as_any_other(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk(text="Hello there")

    assert talk.waiting() == ["scribe"]
    assert talk.room.title == "Hello there"
    assert Execution.objects.get().status == ExecutionStatus.QUEUED


def test_with_several_agents_only_a_mention_wakes(open_talk: OpenTalk, agent: Any, editor: Any, alice: Any) -> None:
    talk = open_talk("scribe", "editor")

    talk.says(alice, "Nobody in particular, @nobody")
    assert talk.waiting() == []
    talk.says(alice, "And you, @editor?")
    assert talk.waiting() == ["editor"]


def test_several_mentions_wake_in_order_of_mention_one_after_another(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any
) -> None:
    talk = open_talk("scribe", "editor")

    talk.says(alice, "@editor then @scribe, then @editor again")

    assert talk.waiting() == ["editor", "scribe"]
    assert take(agent.pk, WORKER) is None, "scribe has its turn after the editor's"
    talk.answers(editor, "Edited")
    execution = talk.begins(agent)
    assert "Edited" in execution.prompt


def test_messages_of_two_people_are_answered_side_by_side(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any, bob: Any
) -> None:
    talk = open_talk("scribe", "editor", people=["bob"])

    talk.says(alice, "@scribe, something long")
    talk.says(bob, "@editor, something short")

    assert talk.begins(agent)
    assert talk.begins(editor)


def test_one_agent_answers_the_messages_of_a_room_one_after_another(
    open_talk: OpenTalk, agent: Any, alice: Any
) -> None:
    talk = open_talk()
    talk.says(alice, "First question")
    talk.says(alice, "Second question")

    first = talk.begins(agent)

    assert take(agent.pk, WORKER) is None
    assert first.prompt.rstrip().split("\n")[-2] == "First question"
    assert "Second question" not in first.prompt, "it has a turn of its own"
    settle(first, success("One"))
    assert "Second question" in talk.begins(agent).prompt


def test_a_mention_adds_an_agent_that_the_person_may_use(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any
) -> None:
    talk = open_talk()

    talk.says(alice, "What do you think, @editor?")

    assert talk.waiting() == ["editor"]
    assert Participant.objects.get(agent=editor).added_by == alice
    assert talk.lines(alice, "notice") == [": alice added @editor."]


def test_a_mention_of_one_that_may_not_be_used_stays_plain_and_says_nothing(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any, bob: Any, carol: Any
) -> None:
    talk = open_talk(people=["bob", "carol"])

    talk.says(bob, "@editor @nobody hello")
    talk.says(carol, "@editor hello")

    assert talk.waiting() == ["scribe", "scribe"], "in a room with one agent every message wakes it"
    assert not Participant.objects.filter(agent=editor).exists()
    assert talk.lines(alice, "notice") == []


def test_an_agents_mention_wakes_who_is_there_and_adds_nobody(
    open_talk: OpenTalk, agent: Any, editor: Any, make_agent: Any, alice: Any
) -> None:
    make_agent("hermit")
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, ask around")

    talk.answers(agent, "@scribe asks @hermit and @editor")

    assert talk.waiting() == ["editor"], "neither itself nor one who is not here"
    assert not Participant.objects.filter(agent__name="hermit").exists()
    turn = Turn.objects.get(agent=editor)
    assert (turn.asked_by, turn.asked_by_agent) == (alice, agent)


def test_a_mention_of_a_stopped_agent_is_told_and_wakes_nobody(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    stop(agent)

    talk.says(alice, "Are you there, @scribe?")

    assert talk.waiting() == []
    assert talk.lines(alice, "notice") == [": @scribe is stopped, so it was not woken."]


def test_an_agent_whose_share_ended_is_not_woken_by_the_room_that_it_was_added_to(
    open_talk: OpenTalk, agent: Any, alice: Any, bob: Any, make_agent: Any, make_user: Any
) -> None:
    share = AgentShare.objects.create(agent=agent, user=bob)
    from workspace.parameters import read_room
    from workspace.rooms import open_room

    talk = Talk(open_room(Viewer(user=bob), read_room({"agents": ["scribe"]})), open_talk().clock)
    share.delete()

    talk.says(bob, "Hello")

    assert talk.waiting() == []
    assert talk.lines(bob, "notice") == [": @scribe may not be used here any more, so it was not woken."]


def test_a_failed_turn_appears_with_its_reason_and_can_be_tried_again_once(
    open_talk: OpenTalk, agent: Any, alice: Any
) -> None:
    talk = open_talk()
    talk.says(alice, "Say a number")
    talk.answers(agent, failure("psql: connection refused"))
    viewer = Viewer(user=alice)
    failed = transcript(seat_in(viewer, talk.id)).lines[-1]
    assert (failed.message.kind, failed.message.text) == (MessageKind.FAILED, "psql: connection refused")
    assert failed.may_retry

    first, second = retry(viewer, talk.id, failed), retry(viewer, talk.id, failed)

    assert first == second
    assert not transcript(seat_in(viewer, talk.id)).lines[-1].may_retry
    assert "Say a number" in talk.begins(agent).prompt


def test_a_turn_that_took_too_long_is_a_failed_one(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    talk.says(alice, "Take your time")

    talk.answers(agent, timeout())

    assert talk.lines(alice, "failed") == ["scribe: It took longer than 60 s."]


def test_what_is_no_failed_turn_is_not_tried_again(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    talk.says(alice, "Hello")
    talk.answers(agent, "Hello")
    viewer = Viewer(user=alice)

    with pytest.raises(Refused, match="no failed turn"):
        retry(viewer, talk.id, transcript(seat_in(viewer, talk.id)).lines[-1])


def test_its_asker_cancels_a_turn_that_waits_and_nobody_else_does(
    open_talk: OpenTalk, agent: Any, alice: Any, bob: Any
) -> None:
    talk = open_talk(people=["bob"])
    talk.says(alice, "Never mind")
    turn = Turn.objects.get()
    with pytest.raises(Refused, match="Only who asked"):
        cancel_turn(Viewer(user=bob), talk.id, turn.pk)

    assert cancel_turn(Viewer(user=alice), talk.id, turn.pk) == "cancelled"
    assert cancel_turn(Viewer(user=alice), talk.id, turn.pk) == "already_ended"

    assert (again(turn).ending, again(turn).cancelled_by) == (TurnEnding.CANCELLED, alice)
    assert Execution.objects.get().status == ExecutionStatus.CANCELLED
    assert talk.lines(alice, "notice") == [": alice cancelled the turn of @scribe."]


def test_a_turn_that_waits_behind_others_can_be_cancelled_before_it_has_an_execution(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any
) -> None:
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe @editor go")
    behind = Turn.objects.get(agent=editor)
    assert behind.execution is None

    cancel_turn(Viewer(user=alice), talk.id, behind.pk)
    talk.answers(agent, "Done")

    assert talk.waiting() == []
    assert take(editor.pk, WORKER) is None


def test_a_turn_that_has_begun_is_not_cancelled(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    talk.says(alice, "Go")
    talk.begins(agent)

    with pytest.raises(Refused, match="has begun"):
        cancel_turn(Viewer(user=alice), talk.id, Turn.objects.get().pk)


def test_a_chain_of_agents_ends_after_eight_turns_without_a_person(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any
) -> None:
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, talk with the editor")
    turns = 0
    while talk.waiting() and turns < 20:
        turns += 1
        talk.answers(agent if turns % 2 else editor, "@editor, go on" if turns % 2 else "@scribe, go on")

    assert turns == 8
    assert talk.lines(alice, "notice") == [
        ": After 8 turns without a person the agents pause here; a message of somebody lets them go on."
    ]
    talk.says(alice, "@scribe, go on")
    assert talk.waiting() == ["scribe"]


def test_the_reply_of_one_that_was_removed_while_it_worked_is_not_shown(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any
) -> None:
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, go")
    execution = talk.begins(agent)

    remove_participant(Viewer(user=alice), talk.id, agent="scribe")
    settle(execution, success("I was not stopped, @editor"))

    assert talk.lines(alice, "said") == ["alice: @scribe, go"]
    assert talk.lines(alice, "notice")[-1] == ": @scribe was removed while it worked; its reply is not shown."
    assert talk.waiting() == []
    assert again(execution).response == "I was not stopped, @editor"


def test_what_waits_for_a_removed_agent_is_withdrawn(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    talk.says(alice, "One")
    talk.says(alice, "Two")

    remove_participant(Viewer(user=alice), talk.id, agent="scribe")

    assert talk.waiting() == []
    assert Execution.objects.get().status == ExecutionStatus.CANCELLED


def test_an_archived_agents_waiting_turn_is_withdrawn_and_the_room_says_so(
    open_talk: OpenTalk, agent: Any, alice: Any
) -> None:
    talk = open_talk()
    talk.says(alice, "One")
    talk.says(alice, "Two")

    archive_agent(Viewer(user=alice), agent)
    talk.says(alice, "Three")

    assert move_waiting_turns(talk.clock(), 10) == 1
    assert talk.waiting() == []
    assert ": @scribe will not answer: its turn was withdrawn." in talk.lines(alice, "notice")
    assert talk.lines(alice, "notice")[-1] == ": @scribe is archived and answers no more."


def test_the_reply_of_an_agent_that_was_archived_while_it_worked_still_appears(
    open_talk: OpenTalk, agent: Any, alice: Any
) -> None:
    talk = open_talk()
    talk.says(alice, "One")
    execution = talk.begins(agent)

    archive_agent(Viewer(user=alice), agent)
    settle(execution, success("The last word"))

    assert "scribe: The last word" in talk.lines(alice)


def test_a_turn_whose_model_is_away_waits_and_is_handed_what_was_written_meanwhile(
    open_talk: OpenTalk, make_agent: Any, alice: Any
) -> None:
    patient = make_agent(
        "patient",
        runtime_settings={"replies": [{"response": "x"}], "unavailable_patience_seconds": 21_600},
    )
    talk = open_talk("patient", "scribe")
    talk.says(alice, "@patient, go")
    settle(talk.begins(patient), model_away())
    talk.says(alice, "By the way, it rains")
    talk.clock.pass_seconds(3600)

    execution = talk.begins(patient)

    assert execution.attempt == 2
    assert "it rains" in execution.prompt


def test_a_message_whose_turn_was_never_queued_is_found_by_the_sweep(
    open_talk: OpenTalk, agent: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = open_talk()
    monkeypatch.setattr("workspace.turns.move_turns_of", lambda room_id: None)  # the process ends here
    talk.says(alice, "Hello")
    assert Execution.objects.count() == 0

    assert move_waiting_turns(talk.clock(), 10) == 1
    assert move_waiting_turns(talk.clock(), 10) == 0

    assert Execution.objects.get().status == ExecutionStatus.QUEUED


def test_a_failure_of_what_follows_never_fails_the_message(
    open_talk: OpenTalk, agent: Any, editor: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(room_id: str) -> None:
        raise RuntimeError("no")

    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, ask the editor")
    monkeypatch.setattr("workspace.turns.move_turns_of", broken)

    talk.answers(agent, "@editor?")
    talk.says(alice, "@editor!")

    assert talk.lines(alice, "said")[-1] == "alice: @editor!"
    assert turns_to_move().count() == 1


def test_nobody_writes_in_a_room_that_they_take_no_part_in(open_talk: OpenTalk, agent: Any, mallory: Any) -> None:
    talk = open_talk()

    with pytest.raises(Refused, match="There is no room"):
        post_message(Viewer(user=mallory), talk.id, "Hello")
    with pytest.raises(Refused, match="There is no room"):
        post_message(Viewer(user=mallory), "room_0123456789abcdef", "Hello")
