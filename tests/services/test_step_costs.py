"""What one step of a loop costs: statements, commits, messages and sessions; and that none of it grows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from loops.models import Loop
from loops.services import end_due_parks, request_stop
from tests.conftest import NOON, StillClock
from tests.engine import WORKER, again, model_away, queue_chat, start, success
from trinity.kernel import live
from trinity.kernel.pipeline import KEEP_PLANS

pytestmark = pytest.mark.django_db(transaction=True)
MOST_STATEMENTS_OF_A_STEP = 12  # BEGIN and COMMIT counted (the contract)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def statements(call: Callable[[], Any]) -> tuple[list[str], Any]:
    """What a call sends to the database, BEGIN and COMMIT included, and what it returns."""
    with CaptureQueriesContext(connection) as captured:
        returned = call()
    return [query["sql"] for query in captured.captured_queries], returned


def commits(sent: list[str]) -> int:
    return sum(sql.startswith("COMMIT") for sql in sent)


def ended_loops(agent: Any, number: int) -> None:
    """Loops of the past, each with a run."""
    loops = [
        Loop(
            agent=agent, message="x", max_runs=1, timeout_per_run=60, created_at=NOON, completed_at=NOON,
            status="completed", stop_reason="max_runs_reached", runs_completed=1,
        )
        for _ in range(number)
    ]  # fmt: skip
    Loop.objects.bulk_create(loops)
    Execution.objects.bulk_create(
        Execution(
            agent=agent, trigger="loop", loop_id=loop.pk, run_number=1, prompt="x", timeout_seconds=60,
            status="completed", queued_at=NOON, ended_at=NOON,
        )
        for loop in loops
    )  # fmt: skip


def test_a_step_of_a_loop_is_one_commit_of_at_most_twelve_statements(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None

    sent, following = statements(lambda: settle(run, success("one", 0.10), WORKER))

    assert following is not None
    assert len(sent) <= MOST_STATEMENTS_OF_A_STEP, sent
    assert commits(sent) == 1
    assert not [sql for sql in sent if "SAVEPOINT" in sql]


def test_the_lock_is_the_first_statement_of_the_transaction(agent: Any, viewer: Viewer) -> None:
    loop = start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None
    calls: list[Callable[[], Any]] = [
        lambda: start(agent, viewer),
        lambda: take(agent.pk, WORKER),
        lambda: settle(run, success(), WORKER),
        lambda: request_stop(viewer, again(loop)),
    ]
    for call in calls:
        sent, _ = statements(call)
        begins = [at for at, sql in enumerate(sent) if sql.startswith("BEGIN")]
        assert len(begins) == 1
        first = next(sql for sql in sent[begins[0] + 1 :] if sql != KEEP_PLANS)
        assert first.startswith("SELECT") and 'FROM "agents_agent"' in first  # noqa: PT018
        if connection.vendor == "postgresql":
            assert first.endswith("FOR NO KEY UPDATE")


def test_run_one_hundred_costs_what_run_two_costs(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer, max_runs=100)
    run = take(agent.pk, WORKER)
    costs = []
    while run is not None:
        sent, run = statements(lambda run=run: settle(run, success(f"run {len(costs)}", 0.10), WORKER))
        costs.append(len(sent))

    assert len(costs) == 100
    assert set(costs[:-1]) == {costs[0]}
    assert costs[-1] <= costs[0], "the last one queues nothing"


def test_a_step_costs_the_same_beside_many_loops_that_ended_and_many_runs_that_wait(
    agent: Any, viewer: Viewer, still_clock: StillClock
) -> None:
    def cost() -> int:
        start(agent, viewer, max_runs=2)
        run = take(agent.pk, WORKER)
        assert run is not None
        sent, following = statements(lambda: settle(run, success(), WORKER))
        assert following is not None
        settle(following, success())
        return len(sent)

    alone = cost()
    ended_loops(agent, 300)
    still_clock.pass_seconds(60)
    later = [queue_chat(agent) for _ in range(50)]
    Execution.objects.filter(pk__in=[one.pk for one in later]).update(not_before=still_clock.now.replace(year=2099))

    assert cost() == alone


def test_a_step_that_goes_on_with_another_loops_run_writes_both_and_no_more(
    make_agent: Callable[..., Any], viewer: Viewer, still_clock: StillClock
) -> None:
    narrow = make_agent("narrow", max_parallel_tasks=1)
    start(narrow, viewer)
    still_clock.pass_seconds(1)
    other = start(narrow, viewer)
    still_clock.pass_seconds(1)
    run = take(narrow.pk, WORKER)
    assert run is not None

    sent, following = statements(lambda: settle(run, success(), WORKER))

    assert following.loop_id == other.pk
    assert len(sent) <= MOST_STATEMENTS_OF_A_STEP + 4  # its execution, its loop; its loop's update and events
    assert commits(sent) == 1


def test_a_park_and_a_wait_for_the_model_are_no_dearer_than_a_run(
    make_agent: Callable[..., Any], viewer: Viewer, still_clock: StillClock
) -> None:
    agent = make_agent(
        "patient", runtime_settings={"replies": [{"response": "x"}], "unavailable_patience_seconds": 3600}
    )
    start(agent, viewer, delay_seconds=60)
    run = take(agent.pk, WORKER)
    assert run is not None

    away, _ = statements(lambda: settle(run, model_away(), WORKER))
    still_clock.pass_seconds(3000)
    run = take(agent.pk, WORKER)
    assert run is not None
    parked, _ = statements(lambda: settle(run, success(), WORKER))
    still_clock.pass_seconds(60)
    woken, moved = statements(lambda: end_due_parks(still_clock.now, 10))

    assert moved == 1
    assert max(len(away), len(parked), len(woken)) <= MOST_STATEMENTS_OF_A_STEP
    assert (commits(away), commits(parked), commits(woken)) == (1, 1, 1)


def test_a_sweep_over_parks_costs_one_query_while_none_is_due(agent: Any, viewer: Viewer) -> None:
    for _ in range(3):
        start(agent, viewer, delay_seconds=60)
        run = take(agent.pk, WORKER)
        assert run is not None
        settle(run, success())

    sent, moved = statements(lambda: end_due_parks(NOON, 10))

    assert (len(sent), moved) == (1, 0)


@pytest.fixture
def published() -> Iterator[list[Sequence[live.LiveEvent]]]:
    sent: list[Sequence[live.LiveEvent]] = []
    live.travel_by(sent.append)
    yield sent
    live.travel_by(None)


def test_a_step_publishes_once_and_after_its_commit(
    agent: Any, viewer: Viewer, published: list[Sequence[live.LiveEvent]]
) -> None:
    loop = start(agent, viewer)
    run = take(agent.pk, WORKER)
    assert run is not None
    published.clear()

    settle(run, success(), WORKER)

    assert len(published) == 1
    bodies = [event["body"] for event in published[0]]
    assert [body["type"] for body in bodies] == ["loop_run_completed", "loop_run_started"]
    assert bodies[-1]["version"] == again(loop).version


def test_what_was_undone_is_neither_published_nor_nudged(
    agent: Any,
    viewer: Viewer,
    published: list[Sequence[live.LiveEvent]],
    quiet_nudges: list[tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("loops.services.audit_line", fail)

    with pytest.raises(ConnectionError):
        start(agent, viewer)

    assert (published, quiet_nudges) == ([], [])
    assert not Loop.objects.exists()
    assert not Execution.objects.exists()


def test_events_hold_no_prompt_and_no_reply(
    agent: Any, viewer: Viewer, published: list[Sequence[live.LiveEvent]]
) -> None:
    start(agent, viewer, message="the secret message", max_runs=1)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success("the secret reply"))

    assert published
    assert "secret" not in repr(published)


def test_no_step_opens_a_session(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer, max_runs=20)
    run = take(agent.pk, WORKER)
    opened: list[Any] = []

    def count(**_: Any) -> None:
        opened.append(1)

    connection_created.connect(count)
    try:
        while run is not None:
            run = settle(run, success(), WORKER)
    finally:
        connection_created.disconnect(count)

    assert opened == []
