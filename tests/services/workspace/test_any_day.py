"""Whatever people and agents do in a room, in whatever order: what must be true of it stays true."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.viewers import Viewer
from agents.services import archive_agent, start_agent, stop_agent
from executions.services import settle, take
from loops.parameters import read_parameters
from tests.engine import WORKER, failure, model_away, success
from tests.services.workspace.checking import check_room
from tests.services.workspace.conftest import Talk
from trinity.kernel.errors import Refused
from workspace.looping import start_loop_here
from workspace.models import Turn
from workspace.queries import seat_in, transcript
from workspace.receivers import close_idle_rooms, move_waiting_turns
from workspace.rooms import add_participant, close_room, remove_participant, rename_room
from workspace.services import cancel_turn, retry

WORDS = st.sampled_from(
    ["Hello", "@scribe", "@editor", "@scribe @editor go", "@nobody", "@editor, then @hermit", "the loop", "`@scribe`"]
)
WHO = st.sampled_from(["alice", "bob", "carol"])
AGENT = st.sampled_from(["scribe", "editor"])
DEEDS = st.one_of(
    st.tuples(st.just("says"), WHO, WORDS),
    st.tuples(st.just("replies"), AGENT, WORDS),
    st.tuples(st.just("fails"), AGENT, st.just("")),
    st.tuples(st.just("is away"), AGENT, st.just("")),
    st.tuples(st.sampled_from(["cancels", "retries", "loops", "renames", "sweeps"]), WHO, st.just("")),
    st.tuples(st.sampled_from(["is added", "is removed", "is stopped", "is started"]), AGENT, st.just("")),
    st.tuples(st.sampled_from(["is archived", "closes"]), AGENT, st.just("")),
)


class Day:
    """Carries out deeds in one room; what is refused is refused in words, and changes nothing."""

    def __init__(self, talk: Talk, people: dict[str, Any], agents: dict[str, Any]) -> None:
        self.talk, self.people, self.agents = talk, people, agents
        self.owner = Viewer(user=people["alice"])

    def do(self, deed: str, who: str, text: str) -> None:
        self.talk.clock.pass_seconds(1)
        try:
            self._do(deed, who, text)
        except Refused:
            return

    def _do(self, deed: str, who: str, text: str) -> None:
        room = self.talk.id
        deeds: dict[str, Callable[[], object]] = {
            "says": lambda: self.talk.says(self.people[who], text),
            "replies": lambda: self._ends(who, success(text, 0.01)),
            "fails": lambda: self._ends(who, failure()),
            "is away": lambda: self._ends(who, model_away()),
            "cancels": lambda: self._cancels(Viewer(user=self.people[who])),
            "retries": lambda: self._retries(Viewer(user=self.people[who])),
            "loops": lambda: start_loop_here(
                Viewer(user=self.people[who]), room, "scribe", read_parameters({"message": "Go", "max_runs": 2})
            ),
            "renames": lambda: rename_room(Viewer(user=self.people[who]), room, f"Room of {who}"),
            "sweeps": lambda: (move_waiting_turns(self.talk.clock(), 9), close_idle_rooms(self.talk.clock(), 9)),
            "is added": lambda: add_participant(self.owner, room, agent=who),
            "is removed": lambda: remove_participant(self.owner, room, agent=who),
            "is stopped": lambda: stop_agent(self.owner, self.agents[who]),
            "is started": lambda: start_agent(self.owner, self.agents[who]),
            "is archived": lambda: archive_agent(self.owner, self.agents[who]),
            "closes": lambda: close_room(self.owner, room),
        }
        deeds[deed]()

    def _ends(self, who: str, outcome: Any) -> None:
        execution = take(self.agents[who].pk, WORKER)
        if execution is not None:
            settle(execution, outcome)

    def _cancels(self, viewer: Viewer) -> None:
        for turn in Turn.objects.filter(room=self.talk.id, ended_at=None)[:1]:
            cancel_turn(viewer, self.talk.id, turn.pk)

    def _retries(self, viewer: Viewer) -> None:
        for line in transcript(seat_in(viewer, self.talk.id), limit=200).lines:
            if line.may_retry:
                retry(viewer, self.talk.id, line)
                return


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEEDS, max_size=25))
def test_what_must_be_true_of_a_room_stays_true_on_any_day(
    deeds: list[tuple[str, str, str]], agent: Any, make_agent: Any, open_talk: Any, alice: Any, bob: Any, carol: Any
) -> None:
    with transaction.atomic():
        transaction.get_connection().atomic_blocks[-1]._from_testcase = True  # services open durable transactions
        patient = {"replies": [{"response": "x"}], "unavailable_patience_seconds": 21_600}
        agents = {"scribe": agent, "editor": make_agent("editor", runtime_settings=patient)}
        make_agent("hermit")
        talk = open_talk("scribe", "editor", people=["bob", "carol"], max_messages=12, max_cost_usd=0.08)
        day = Day(talk, {"alice": alice, "bob": bob, "carol": carol}, agents)
        for deed in deeds:
            day.do(*deed)
            assert check_room(talk.id) == [], deed
        numbers = [one.number for one in transcript(seat_in(Viewer(user=carol), talk.id), limit=200).lines]
        assert numbers == list(range(1, len(numbers) + 1))
        if talk.room.closed:
            assert not Turn.objects.filter(room=talk.id, ended_at=None, execution=None).exists()
        transaction.set_rollback(True)
