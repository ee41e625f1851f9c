"""`manage.py check_loops`: what it prints, what it costs, and that it is right and harmless beside workers."""

import gc
import io
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from executions.models import Execution
from executions.services import settle, take
from loops.management.commands import check_loops
from loops.models import Loop, LoopEvent, Run
from loops.snapshot import snapshot
from tests.conftest import NOON
from tests.engine import WORKER, again, start, success

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer(alice: Any) -> Viewer:
    return Viewer(user=alice)


def check() -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("check_loops", stdout=out, stderr=err)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def ended_loops(agent: Any, number: int) -> list[Loop]:
    """Many sound loops that ended after one run, written at once; each with a long message and a long reply."""
    loops = [
        Loop(
            agent=agent, message="x" * 20_000, last_response="y" * 20_000, max_runs=1, timeout_per_run=60,
            created_at=NOON, started_at=NOON, completed_at=NOON, status="completed", stop_reason="max_runs_reached",
            runs_completed=1, repeat_count=1, last_fingerprint="y", version=4,
        )
        for _ in range(number)
    ]  # fmt: skip
    executions = [
        Execution(
            agent=agent, trigger="loop", loop_id=loop.pk, run_number=1, prompt="x", response="y" * 20_000,
            timeout_seconds=60, status="completed", queued_at=NOON, started_at=NOON, ended_at=NOON,
        )
        for loop in loops
    ]  # fmt: skip
    kinds = ("loop_started", "loop_run_started", "loop_run_completed", "loop_completed")
    Loop.objects.bulk_create(loops)
    Execution.objects.bulk_create(executions)
    Run.objects.bulk_create(
        [Run(loop=loop, run_number=1, execution=one) for loop, one in zip(loops, executions, strict=True)]
    )
    LoopEvent.objects.bulk_create(
        [LoopEvent(loop=loop, sequence=at, kind=kind, at=NOON) for loop in loops for at, kind in enumerate(kinds, 1)]
    )
    return loops


def test_it_finds_nothing_in_sound_loops_and_says_how_many_there_are(agent: Any, viewer: Viewer) -> None:
    ended_loops(agent, 3)
    start(agent, viewer)
    take(agent.pk, WORKER)

    assert check() == (0, "", "4 loops checked, 0 broken invariants.\n")


def test_it_prints_each_broken_invariant_of_every_batch_and_fails(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_loops, "BATCH", 2)
    loops = sorted(ended_loops(agent, 5), key=lambda loop: loop.pk)
    for loop in (loops[0], loops[4]):
        Loop.objects.filter(pk=loop.pk).update(version=9, spent_nano=5)

    code, out, err = check()

    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == [loops[0].pk] * 2 + [loops[4].pk] * 2
    assert err == "5 loops checked, 4 broken invariants.\n"


def test_it_fails_for_an_execution_that_nobody_would_ever_move(agent: Any, viewer: Viewer) -> None:
    start(agent, viewer)
    take(agent.pk, WORKER)
    Execution.objects.update(lease_until=None)

    code, out, _ = check()

    assert code == 1
    assert "no lease will ever end" in out


def test_a_lowered_limit_is_a_note_and_no_failure(make_agent: Callable[..., Any], viewer: Viewer) -> None:
    agent = make_agent(max_parallel_tasks=2)
    for _ in range(2):
        start(agent, viewer)
        take(agent.pk, WORKER)
    type(agent).objects.update(max_parallel_tasks=1)

    code, out, _ = check()

    assert code == 0
    assert out.startswith("note: agent scribe: 2 in flight, 1 slots")


def test_its_statements_grow_with_batches_and_not_with_loops(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def statements(batch: int) -> int:
        monkeypatch.setattr(check_loops, "BATCH", batch)
        with CaptureQueriesContext(connection) as captured:
            assert check()[0] == 0
        return len(captured)

    ended_loops(agent, 5)
    of_one_batch = statements(batch=100)
    ended_loops(agent, 35)

    assert statements(batch=100) == of_one_batch
    assert statements(batch=10) - of_one_batch <= 3 * 8


def test_its_memory_does_not_grow_with_the_loops(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = check_loops.check_loops

    def without_garbage(loop_ids: list[str]) -> list[str]:
        gc.collect()  # else Python keeps the cycles of compiled queries until they are a quarter of its heap
        return checked(loop_ids)

    monkeypatch.setattr(check_loops, "BATCH", 20)
    monkeypatch.setattr(check_loops, "check_loops", without_garbage)

    def peak() -> int:
        tracemalloc.start()
        assert check()[0] == 0
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    ended_loops(agent, 40)
    peak()  # what is made once: compiled queries, imported modules
    of_forty = peak()
    ended_loops(agent, 200)

    assert peak() < of_forty + 100_000, "two hundred loops more, of 60 kB each"


def test_a_snapshot_refuses_to_write_on_postgresql_and_locks_nobody_out_on_sqlite(agent: Any, viewer: Viewer) -> None:
    if connection.vendor == "postgresql":
        with pytest.raises(DatabaseError), snapshot():
            type(agent).objects.update(title="changed")
        return
    with snapshot():
        list(Loop.objects.all())
        written = _in_a_thread(lambda: start(agent, viewer))
    assert written == []
    assert Loop.objects.count() == 1


def test_a_snapshot_sees_one_moment(agent: Any, viewer: Viewer) -> None:
    with snapshot():
        before = Loop.objects.count()
        assert _in_a_thread(lambda: start(agent, viewer)) == []
        assert Loop.objects.count() == before

    assert Loop.objects.count() == before + 1


def test_it_raises_no_false_alarm_while_workers_run(make_agent: Callable[..., Any], viewer: Viewer) -> None:
    agents = [make_agent("one"), make_agent("two")]
    loops = [start(agent, viewer, max_runs=40) for agent in agents]

    def work(agent: Any) -> None:
        execution = take(agent.pk, WORKER)
        while execution is not None:
            execution = settle(execution, success("more", 0.01), WORKER)

    workers = [threading.Thread(target=_and_close, args=(work, agent)) for agent in agents]
    for worker in workers:
        worker.start()
    found = []
    while any(worker.is_alive() for worker in workers):
        found.append(check())
    for worker in workers:
        worker.join()

    assert {code for code, _, _ in found} == {0}, [out for _, out, _ in found if out]
    assert all(again(loop).ended for loop in loops)


def _and_close(work: Callable[..., Any], *arguments: Any) -> None:
    try:
        work(*arguments)
    finally:
        connection.close()


def _in_a_thread(work: Callable[[], Any]) -> list[BaseException]:
    """Do it on a connection of its own; what it raised, if anything."""
    raised: list[BaseException] = []

    def attempt() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return raised
