"""What an agent is handed when its turn begins: what it has not seen, and of outsiders no name."""

from collections.abc import Callable
from typing import Any

from executions.services import settle
from tests.engine import failure, success
from tests.services.workspace.conftest import Talk
from workspace.models import Turn
from workspace.turns import EARLIER_LINES

OpenTalk = Callable[..., Talk]


def parts(prompt: str) -> tuple[str, str, str]:
    """What was handed before, what is new, and the message."""
    before, _, rest = prompt.partition("New since your last turn")
    new, _, message = rest.rpartition("The message that you answer now") if rest else ("", "", before)
    return before, new, message


def test_an_agent_is_handed_what_it_has_not_seen_and_a_look_back_at_the_rest(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any
) -> None:
    make_agent("editor")
    talk = open_talk("scribe", "editor")
    talk.says(alice, "The sky is green")
    talk.says(alice, "@scribe, one")
    _, new, message = parts(talk.answers(agent, "Noted").prompt)
    assert "The sky is green" in new
    assert "@scribe, one" in message
    talk.says(alice, "Grass is blue")
    talk.says(alice, "@scribe, two")

    before, new, message = parts(talk.begins(agent).prompt)

    assert "The sky is green" in before
    assert "Noted" in before
    assert "Grass is blue" in new
    assert "The sky is green" not in new
    assert "Noted" not in new


def test_what_was_handed_to_a_turn_that_failed_is_handed_again_as_new(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any
) -> None:
    make_agent("editor")
    talk = open_talk("scribe", "editor")
    talk.says(alice, "The sky is green")
    talk.says(alice, "@scribe, one")
    talk.answers(agent, failure())
    talk.says(alice, "@scribe, two")

    _, new, _ = parts(talk.begins(agent).prompt)

    assert "The sky is green" in new


def test_what_is_written_while_a_turn_waits_is_handed_with_it(
    open_talk: OpenTalk, agent: Any, make_agent: Any, alice: Any
) -> None:
    make_agent("editor")
    talk = open_talk("scribe", "editor")
    talk.says(alice, "@scribe, one")
    talk.says(alice, "By the way, it rains")

    execution = talk.begins(agent)

    assert "it rains" in execution.prompt
    assert Turn.objects.get().handed_seq == 2
    talk.says(alice, "Now it snows")
    settle(execution, success("Noted"))
    talk.says(alice, "@scribe, two")
    _, new, _ = parts(talk.begins(agent).prompt)
    assert "Now it snows" in new
    assert "it rains" not in new


def test_an_agent_learns_that_somebody_from_outside_reads_and_never_who(
    open_talk: OpenTalk, agent: Any, alice: Any, carol: Any
) -> None:
    talk = open_talk()
    talk.says(alice, "Hello")
    assert "Nobody from outside reads" in talk.answers(agent, "Hello").prompt
    from accounts.viewers import Viewer
    from workspace.rooms import add_participant

    add_participant(Viewer(user=alice), talk.id, user="carol")
    talk.says(carol, "Good morning")

    prompt = talk.begins(agent).prompt

    assert "Somebody from outside reads" in prompt
    assert "by somebody from outside:" in prompt
    assert "Also here: alice." in prompt
    assert "carol" not in prompt


def test_the_look_back_is_short(open_talk: OpenTalk, agent: Any, alice: Any) -> None:
    talk = open_talk()
    for number in range(EARLIER_LINES + 5):
        talk.says(alice, f"Message-{number}.")
        talk.answers(agent, f"Reply-{number}.")
    talk.says(alice, "And now?")

    before, _, _ = parts(talk.begins(agent).prompt)

    assert before.count("Message-") + before.count("Reply-") == EARLIER_LINES
    assert f"Reply-{EARLIER_LINES + 4}." in before
