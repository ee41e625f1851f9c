"""A room from outside, on a real server with the practice agent: it chats, and starts loops with its own command."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.server import EmbeddedServer, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.once]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    installation = EmbeddedServer(tmp_path_factory.mktemp("rooms") / "home")
    installation.start()
    yield installation
    installation.stop()


class Room:
    """One room of the admin's with practice."""

    def __init__(self, server: EmbeddedServer, **more: Any) -> None:
        self.server = server
        status, opened = server.post("/api/rooms", {"agents": ["practice"], **more})
        assert status == 201, opened
        self.address = f"/api/rooms/{opened['room_id']}"

    def says(self, text: str) -> int:
        status, posted = self.server.post(f"{self.address}/messages", {"text": text})
        assert status == 201, posted
        return int(posted["seq"])

    def read(self, key: str = "") -> dict[str, Any]:
        status, found = self.server.get(self.address, key=key)
        assert status == 200, found
        return dict(found)

    def reply_after(self, seq: int) -> dict[str, Any]:
        """What the agent's turn brought, once it has ended."""

        def look() -> dict[str, Any] | None:
            found = self.read()
            later = [one for one in found["messages"] if one["seq"] > seq and one["kind"] in ("said", "failed")]
            return later[-1] if later and not found["turns"] else None

        return wait_for(look, seconds=60, what="a reply")

    def card(self) -> dict[str, Any]:
        return dict(next(one["loop"] for one in reversed(self.read()["messages"]) if one["kind"] == "loop"))

    def ended_card(self) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.card()
            return found if found["words"]["tone"] != "active" else None

        return wait_for(look, seconds=60, what="the loop to end")


def test_practice_answers_and_is_handed_what_it_has_not_seen(server: EmbeddedServer) -> None:
    room = Room(server)

    first = room.reply_after(room.says("say a number"))
    second = room.reply_after(room.says("fail"))

    assert "my number is" in first["text"]
    assert (second["kind"], second["may_retry"]) == ("failed", True)
    execution = server.get(f"/api/executions/{second['execution_id']}")[1]
    assert "@practice" in execution["prompt"]
    assert "my number is" in execution["prompt"], "what it said before, for its memory"


def test_do_this_three_times_becomes_a_loop_of_the_room_and_a_client_sees_none_of_it(server: EmbeddedServer) -> None:
    made = server.manage("create_user", "carol", "--kind", "client")
    assert made.returncode == 0, made.stderr
    key = server.manage("create_api_key", "carol").stdout.strip()
    room = Room(server, people=["carol"])

    reply = room.reply_after(room.says("do this 3 times: say a number"))

    assert "I have started a loop of at most 3 runs" in reply["text"]
    assert reply["members_only"]
    card = room.ended_card()
    assert (card["words"]["workspace"], card["run_number"], card["max_runs"]) == ("Done", 3, 3)
    work = server.get(f"{room.address}/work?all=true")[1]
    assert [one["kind_words"] for one in work["earlier"]].count("Loop run") == 3
    assert server.get(f"{room.address}/loops")[1][0]["loop_id"] == card["loop_id"]
    theirs = room.read(key)
    assert [one["text"] for one in theirs["messages"]] == ["do this 3 times: say a number"]
    assert "loop" not in str(theirs)
    assert server.get(f"{room.address}/loops", key=key)[0] == 404


def test_every_second_until_becomes_a_delay_and_a_stop_signal(server: EmbeddedServer) -> None:
    room = Room(server)

    room.reply_after(room.says("every 1 second until run 2, at most 5: say a number"))

    card = room.ended_card()
    loop = server.loop(card["loop_id"])
    assert (loop["stop_reason"], loop["runs_completed"]) == ("stop_signal_matched", 2)
    assert (loop["delay_seconds"], loop["max_runs"], loop["stop_signal"]) == (1, 5, "[[DONE]]")


def test_slower_than_an_hour_is_refused_with_a_hint(server: EmbeddedServer) -> None:
    room = Room(server)

    reply = room.reply_after(room.says("every 2 hours: say a number"))

    assert reply["text"].startswith("This is not repeated: A loop pauses an hour")
    assert not [one for one in room.read()["messages"] if one["kind"] == "loop"]


def test_a_turn_goes_on_over_a_restart_of_the_server(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "home")
    server.start()
    try:
        room = Room(server)
        seq = room.says("say a number, take 3 seconds")
        room.says("say a number, and again")
        wait_for(lambda: [one for one in room.read()["turns"] if one["state"] == "working"], what="the turn to begin")
        server.kill()
        server.start()

        reply = room.reply_after(seq)

        said = [one["author"]["name"] for one in room.read()["messages"] if one["kind"] == "said"]
        assert said == ["admin", "admin", "practice", "practice"]
        assert "my number is" in reply["text"]
    finally:
        server.stop()
