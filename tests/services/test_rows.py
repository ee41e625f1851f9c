"""Rows that are read and written with statements built once are the same as the ORM's, value by value."""

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext

from accounts.viewers import Viewer
from agents.locking import lock_agent
from agents.models import Agent
from executions.models import Execution
from loops.models import Loop, Run
from tests.conftest import NOON
from tests.engine import again, start
from trinity.kernel import rows
from trinity.kernel.rows import Sql

MOMENT = NOON + dt.timedelta(microseconds=123_457)


def values(row: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def execution(agent: Agent, **columns: Any) -> Execution:
    """One with a value of every kind that is not its default."""
    return Execution(
        **{
            "agent": agent,
            "trigger": "api",
            "prompt": "'quoted' \"twice\" 100 % {x} \\ 😀\n",
            "timeout_seconds": 7_200,
            "allowed_tools": ["Bash", "a'b", "ü"],
            "permission_denials": [],
            "cost_nano": 9 * 10**16,
            "cost_estimated": True,
            "input_tokens": 2**63 - 1,
            "queued_at": MOMENT,
            "not_before": MOMENT,
            **columns,
        }
    )


@pytest.mark.parametrize("tools", [None, ["Bash"], ["'"]], ids=["null", "a list", "a quote"])
def test_a_row_is_read_as_the_orm_reads_it(tools: Any, agent: Agent, alice: Any) -> None:
    made = execution(agent, allowed_tools=tools)
    made.save()
    loop = start(agent, Viewer(user=alice), allowed_tools=tools)

    for model, pk in ((Execution, made.pk), (Loop, loop.pk), (Agent, agent.pk)):
        read = rows.read(model, pk)
        assert read is not None
        assert values(read) == values(model._default_manager.get(pk=pk))
        assert (read._state.adding, read._state.db) == (False, "default")


def test_a_row_that_is_not_there_is_none(agent: Agent) -> None:
    assert rows.read(Execution, "exec_none") is None
    assert rows.read(Agent, agent.pk + 1) is None


@pytest.mark.parametrize("tools", [None, ["Bash"]])
def test_a_row_is_inserted_as_the_orm_inserts_it(tools: Any, agent: Agent) -> None:
    by_hand, by_orm = execution(agent, allowed_tools=tools), execution(agent, allowed_tools=tools)

    rows.insert(by_hand)
    by_orm.save(force_insert=True)

    assert values(again(by_hand)) | {"id": ""} == values(again(by_orm)) | {"id": ""}
    assert Execution.objects.filter(pk=by_hand.pk, allowed_tools__isnull=tools is None).exists(), "no JSON null"


def test_a_row_whose_key_the_database_makes_is_inserted_too(agent: Agent, alice: Any) -> None:
    loop = start(agent, Viewer(user=alice))
    made = execution(agent, trigger="loop", loop_id=loop.pk, run_number=2, status="cancelled", ended_at=NOON)
    rows.insert(made)

    rows.insert(Run(loop=loop, run_number=2, execution=made))

    assert [(run.run_number, run.execution_id) for run in loop.runs.all()][1] == (2, made.pk)


def test_a_row_twice_is_refused(agent: Agent) -> None:
    made = execution(agent)
    rows.insert(made)

    with pytest.raises(IntegrityError), transaction.atomic():
        rows.insert(made)


def test_columns_are_updated_where_the_guard_holds_and_nowhere_else(agent: Agent) -> None:
    made, other = execution(agent), execution(agent)
    for one in (made, other):
        rows.insert(one)
    columns = {"response": "50 %s 'x'", "permission_denials": ["ü"], "ended_at": MOMENT, "status": "cancelled"}

    assert rows.update(Execution, {"pk": made.pk, "status": "queued"}, columns)
    assert not rows.update(Execution, {"pk": made.pk, "status": "queued"}, columns)
    assert not rows.update(Execution, {"pk": "exec_none"}, columns)

    assert {name: getattr(again(made), name) for name in columns} == columns
    assert values(again(other)) == values(other)


def test_the_same_columns_in_another_order_are_another_statement(agent: Agent) -> None:
    made = execution(agent)
    rows.insert(made)

    rows.update(Execution, {"pk": made.pk}, {"response": "r", "error": "e"})
    rows.update(Execution, {"pk": made.pk}, {"error": "e2", "response": "r2"})

    assert (again(made).response, again(made).error) == ("r2", "e2")


def test_sql_stands_in_the_place_of_a_value(agent: Agent) -> None:
    made = execution(agent)
    rows.insert(made)

    assert rows.update(
        Execution, {"pk": made.pk}, {"error": "e", "attempt": Sql("attempt + %s * 2", (3,)), "response": "r"}
    )

    assert (again(made).error, again(made).attempt, again(made).response) == ("e", 7, "r")


def test_the_lock_locks_on_postgresql_and_says_nothing_on_sqlite(agent: Agent) -> None:
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        locked, _ = lock_agent(agent.pk)

    assert values(locked) == values(agent)
    lock = next(query["sql"] for query in captured.captured_queries if 'FROM "agents_agent"' in query["sql"])
    assert lock.endswith("FOR NO KEY UPDATE") is (connection.vendor == "postgresql")


def test_an_agent_that_somebody_changed_is_read_anew_under_the_lock_even_within_one_transaction(agent: Agent) -> None:
    def title() -> str:
        with transaction.atomic():
            locked, _ = lock_agent(agent.pk)
        return locked.title

    titles = [title()]
    with transaction.atomic():
        for number in range(3):
            Agent.objects.filter(pk=agent.pk).update(title=f"{number}")
            titles.append(title())
    Agent.objects.filter(pk=agent.pk).update(title="last")

    assert [*titles, title()] == [agent.title, "0", "1", "2", "last"]


def test_who_holds_the_lock_changes_a_copy_and_not_what_the_next_one_gets(agent: Agent) -> None:
    with transaction.atomic():
        locked, _ = lock_agent(agent.pk)
        locked.title = "never written"
    with transaction.atomic():
        locked, _ = lock_agent(agent.pk)

    assert locked.title == agent.title


def test_wrappers_see_the_statements(agent: Agent) -> None:
    seen: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql.split()[0])
        return execute(sql, params, many, context)

    made = execution(agent)
    with connection.execute_wrapper(note):
        rows.insert(made)
        rows.read(Execution, made.pk)
        rows.update(Execution, {"pk": made.pk}, {"error": "e"})

    assert seen == ["INSERT", "SELECT", "UPDATE"]
