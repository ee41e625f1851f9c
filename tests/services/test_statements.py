"""Statements that travel together do what they would do one by one, and an error among them undoes all of them."""

import gc
import weakref
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.services import settle, take
from tests.conftest import NOON
from tests.engine import WORKER, start, success
from trinity.kernel import rows
from trinity.kernel.errors import Broken
from trinity.kernel.pipeline import Session, session_of
from trinity.kernel.statements import Statement, carry_out

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.postgres


def execution(agent: Agent, **columns: Any) -> Execution:
    return Execution(agent=agent, trigger="api", prompt="x", timeout_seconds=60, queued_at=NOON, **columns)


def renamed(agent: Agent, title: str, must_move: str = "") -> Statement:
    return rows.change(Agent, {"pk": agent.pk}, {"title": title}, must_move)


NOWHERE = {"pk": -1}


@pytest.fixture(params=[True, False], ids=["together", "one by one"])
def _both_ways(request: pytest.FixtureRequest, settings: Any) -> None:
    settings.TRINITY_PREPARED_STATEMENTS = request.param


@pytest.mark.usefixtures("_both_ways")
def test_answers_come_in_the_order_of_the_questions(agent: Agent) -> None:
    with transaction.atomic():
        first, moved, missed, then = carry_out(
            rows.reading(Agent, agent.pk),
            renamed(agent, "Scribe"),
            rows.change(Agent, NOWHERE, {"title": "nobody"}),
            rows.reading(Agent, agent.pk),
        )

    titles = [read.title for answer in (first, then) if (read := rows.row_in(Agent, answer))]
    assert titles == [agent.title, "Scribe"]
    assert (moved.moved, missed.moved) == (1, 0)


@pytest.mark.usefixtures("_both_ways")
def test_what_must_change_a_row_and_changes_none_undoes_everything_even_with_the_commit_on_its_way(
    agent: Agent,
) -> None:
    def change() -> None:
        with transaction.atomic(durable=True):
            carry_out(
                renamed(agent, "Scribe", must_move="never said"),
                rows.change(Agent, NOWHERE, {"title": "x"}, must_move="the row is gone"),
                renamed(agent, "Again"),
                commit=True,
            )

    with pytest.raises(Broken, match="the row is gone"):
        change()

    assert Agent.objects.get(pk=agent.pk).title == agent.title


@pytest.mark.usefixtures("_both_ways")
def test_an_error_of_the_database_is_djangos_and_undoes_everything(agent: Agent) -> None:
    made = execution(agent)

    def insert_twice() -> None:
        with transaction.atomic(durable=True):
            carry_out(renamed(agent, "Scribe"), rows.insertion(made), rows.insertion(made), commit=True)

    with pytest.raises(IntegrityError):
        insert_twice()

    assert not Execution.objects.exists()
    assert Agent.objects.get(pk=agent.pk).title == agent.title


@pytest.mark.usefixtures("_both_ways")
def test_the_session_serves_on_after_an_error_with_the_statements_that_failed(agent: Agent) -> None:
    for _ in range(3):
        made = execution(agent)
        with pytest.raises(IntegrityError), transaction.atomic(durable=True):
            carry_out(rows.insertion(made), rows.insertion(made), commit=True)
        with transaction.atomic(durable=True):
            carry_out(rows.insertion(made), commit=True)

    assert Execution.objects.count() == 3


@on_postgresql
@pytest.mark.usefixtures("_both_ways")
def test_a_division_by_zero_that_is_not_our_guards_stays_what_it_is(agent: Agent) -> None:
    with pytest.raises(DataError), transaction.atomic():
        carry_out(Statement("SELECT 1 / (%s::integer - 1)", (1,)), renamed(agent, "x", "no"))


@pytest.mark.usefixtures("_both_ways")
def test_texts_larger_than_every_buffer_travel_both_ways_at_once(agent: Agent) -> None:
    large = "ü%s$1'\\" * 500_000
    made = [execution(agent, response=large) for _ in range(4)]
    with transaction.atomic(durable=True):
        carry_out(*map(rows.insertion, made), commit=True)

    with transaction.atomic(durable=True):
        questions = [rows.reading(Execution, one.pk) for one in made]
        change = rows.change(Execution, {"pk": made[0].pk}, {"error": large})
        *answers, _ = carry_out(*questions, change, commit=True)

    assert all(rows.row_in(Execution, answer).response == large for answer in answers)  # type: ignore[union-attr]
    assert Execution.objects.get(pk=made[0].pk).error == large


@on_postgresql
def test_a_step_is_two_trips_and_one_commit(agent: Agent, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start(agent, Viewer(user=alice))
    run = take(agent.pk, WORKER)
    assert run is not None
    trips: list[int] = []
    carried_out = Session.carry_out

    def count(session: Session, statements: Any, *, begin: bool, commit: bool) -> Any:
        trips.append(commit)
        return carried_out(session, statements, begin=begin, commit=commit)

    monkeypatch.setattr(Session, "carry_out", count)
    with CaptureQueriesContext(connection) as captured:
        settle(run, success(), WORKER)

    assert trips == [False, True]
    assert len(captured.captured_queries) <= 12


@on_postgresql
def test_wrappers_see_each_statement_though_they_would_travel_together(agent: Agent) -> None:
    seen: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql.split()[0])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note), transaction.atomic():
        carry_out(rows.reading(Agent, agent.pk), renamed(agent, "Scribe"))

    assert [word for word in seen if word in ("SELECT", "UPDATE")] == ["SELECT", "UPDATE"]


@on_postgresql
def test_a_session_that_breaks_is_an_operational_error_and_the_next_one_works(agent: Agent) -> None:
    def break_in_the_middle() -> None:
        with transaction.atomic(durable=True):
            carry_out(renamed(agent, "Scribe"))
            _terminate(connection.connection.info.backend_pid)
            carry_out(renamed(agent, "Again"), commit=True)

    with pytest.raises(OperationalError):
        break_in_the_middle()
    connection.close()

    with transaction.atomic(durable=True):
        carry_out(renamed(agent, "At last"), commit=True)
    assert Agent.objects.get(pk=agent.pk).title == "At last"


def _terminate(number: int) -> None:
    """By another session, and only when the server says that it is gone."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", (number,))
            assert cursor.fetchone() == (True,)
    finally:
        other.close()


@on_postgresql
def test_what_is_known_of_a_session_goes_with_it() -> None:
    connection.ensure_connection()
    other = psycopg.connect(connection.connection.info.dsn, password=connection.connection.info.password)
    known = weakref.ref(session_of(other))

    other.close()
    del other
    gc.collect()

    assert known() is None


@on_postgresql
def test_plans_that_are_kept_read_no_table_from_end_to_end_though_they_were_made_while_it_was_empty(
    agent: Agent, alice: Any
) -> None:
    """PostgreSQL keeps a prepared statement's plan. Made over an empty table it would read it whole ever after."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # so that it knows how small they are, and plans anew
    before = _uses_of_plans()
    start(agent, Viewer(user=alice), max_runs=20)
    run = take(agent.pk, WORKER)
    for number in range(3):
        assert run is not None
        run = settle(run, success(f"run {number}"), WORKER)

    used = [name for name, times in _uses_of_plans().items() if times > before.get(name, 0)]
    plans = _plans_of(used)
    assert len(plans) >= 4
    assert [text for text, plan in plans.items() if "Seq Scan" in plan] == []


def _uses_of_plans() -> dict[str, int]:
    """How often this session has used each plan that it keeps."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT name, generic_plans FROM pg_prepared_statements WHERE name LIKE 'trinity%%'")
        return dict(cursor.fetchall())


def _plans_of(names: list[str]) -> dict[str, str]:
    """How this session carries out what it has prepared to read or to change."""
    plans = {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)")
        cursor.execute("SELECT name, cardinality(parameter_types), statement FROM pg_prepared_statements")
        for name, count, text in cursor.fetchall():
            if name in names and not text.startswith(("BEGIN", "COMMIT", "INSERT")):
                values = f"({', '.join(['NULL'] * count)})" if count else ""
                cursor.execute(f"EXPLAIN EXECUTE {name}{values}")
                plans[text] = "\n".join(line for (line,) in cursor.fetchall())
    return plans
