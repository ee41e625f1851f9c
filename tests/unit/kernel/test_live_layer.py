"""The channel layer of one process: who listens hears, who falls behind is told, who is gone leaves nothing."""

import time
from typing import Any

import pytest

from trinity import live_layer
from trinity.live_layer import MISSED, LiveLayer

pytestmark = pytest.mark.asyncio


def event(number: int) -> dict[str, Any]:
    return {"type": "live.event", "text": str(number)}


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> LiveLayer:
    monkeypatch.setattr(live_layer, "CLEANING_SECONDS", 0.0)
    return LiveLayer(capacity=3)


async def test_all_of_a_group_hear_in_order_and_no_others(layer: LiveLayer) -> None:
    first, second, other = [await layer.new_channel() for _ in range(3)]
    await layer.group_add("agent.1", first)
    await layer.group_add("agent.1", second)
    await layer.group_add("agent.2", other)

    await layer.group_send("agent.1", event(1))
    await layer.group_send("agent.1", event(2))

    for channel in (first, second):
        assert [await layer.receive(channel) for _ in range(2)] == [event(1), event(2)]
    assert layer.channels == {}


async def test_who_falls_behind_is_told_that_it_missed_something_instead_of_losing_the_newest(
    layer: LiveLayer,
) -> None:
    slow = await layer.new_channel()
    await layer.group_add("agent.1", slow)

    for number in range(4):
        await layer.group_send("agent.1", event(number))

    assert await layer.receive(slow) == MISSED
    assert layer.channels == {}


async def test_a_socket_is_not_forgotten_however_long_it_listens(
    layer: LiveLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = await layer.new_channel()
    await layer.group_add("agent.1", channel)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30 * 86_400)

    await layer.group_send("agent.1", event(1))

    assert await layer.receive(channel) == event(1)


async def test_one_that_fetches_nothing_leaves_its_groups_and_in_the_end_leaves_nothing(
    layer: LiveLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, listening = await layer.new_channel(), await layer.new_channel()
    await layer.group_add("agent.1", gone)
    await layer.group_send("agent.1", event(1))
    await layer.group_add("agent.1", listening)
    now = time.time()

    monkeypatch.setattr(time, "time", lambda: now + 61)
    await layer.group_send("agent.2", event(2))
    assert set(layer.groups["agent.1"]) == {listening}
    assert layer.channels[gone].qsize() == 1  # should it live after all, it learns that it hears nothing any more

    monkeypatch.setattr(time, "time", lambda: now + 122)
    await layer.group_send("agent.2", event(3))
    assert layer.channels == {}


async def test_a_socket_that_was_only_stuck_learns_that_it_missed_something(
    layer: LiveLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = await layer.new_channel()
    await layer.group_add("agent.1", stuck)
    await layer.group_send("agent.1", event(1))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    await layer.group_send("agent.1", event(2))

    assert await layer.receive(stuck) == MISSED


async def test_many_sockets_are_not_looked_through_at_each_message(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = LiveLayer()
    looked: list[int] = []
    monkeypatch.setattr(layer, "channels", Watched(looked))
    for number in range(100):
        await layer.group_send("agent.1", event(number))

    assert len(looked) == 1


class Watched(dict[str, Any]):
    """Notes how often all of it is gone through."""

    def __init__(self, looked: list[int]) -> None:
        super().__init__()
        self._looked = looked

    def items(self) -> Any:
        self._looked.append(1)
        return super().items()
