"""A nudge may be lost, and a broker that is away costs its timeout once, not each time."""

import pytest

from executions import nudging


class Broker:
    """Counts what reaches it; away until told otherwise."""

    def __init__(self) -> None:
        self.tried = 0
        self.away = True

    def __call__(self, agent_id: int, place: str) -> None:
        self.tried += 1
        if self.away:
            raise TimeoutError("no answer")


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    nudging.send_with(broker)
    return broker


def test_while_the_broker_is_away_only_the_first_nudge_waits_for_it(broker: Broker) -> None:
    for agent_id in range(200):
        nudging.nudge(agent_id, "default")

    assert broker.tried == 1


def test_it_is_tried_again_after_a_while(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    nudging.nudge(1, "default")
    broker.away = False
    later = nudging.time.monotonic() + nudging.QUIET_SECONDS
    monkeypatch.setattr(nudging.time, "monotonic", lambda: later)

    nudging.nudge(1, "default")
    nudging.nudge(1, "default")

    assert broker.tried == 3
