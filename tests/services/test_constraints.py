"""What must never be true is refused by the database itself (section 1), whoever writes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model, ProtectedError

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.services import settle, take
from loops.models import Loop, LoopEvent, Run
from loops.vocabulary import LoopStatus
from tests.conftest import NOON
from tests.engine import WORKER, again, start, success


@pytest.fixture
def active(agent: Any, alice: Any) -> Loop:
    """One run ended, the second is in flight."""
    loop = start(agent, Viewer(user=alice))
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success("one", 0.10), WORKER)
    return again(loop)


@pytest.fixture
def ended(agent: Any, alice: Any) -> Loop:
    loop = start(agent, Viewer(user=alice), max_runs=1)
    run = take(agent.pk, WORKER)
    assert run is not None
    settle(run, success("one", 0.10))
    return again(loop)


def refused(write: Callable[[], object], constraints: str) -> None:
    """The write fails by this very constraint (or one of several, where each refuses it), and nothing of it stays."""
    with pytest.raises(IntegrityError) as error:
        _write(write)
    assert any(name in str(error.value) for name in constraints.split(" or ")), error.value


def _write(write: Callable[[], object]) -> None:
    with transaction.atomic():
        write()
        connection.check_constraints()


def loop_update(loop: Loop, **columns: Any) -> Callable[[], object]:
    return lambda: Loop.objects.filter(pk=loop.pk).update(**columns)


def execution_update(loop: Loop, run_number: int, **columns: Any) -> Callable[[], object]:
    return lambda: Execution.objects.filter(loop_id=loop.pk, run_number=run_number).update(**columns)


def execution_of(loop: Loop, **columns: Any) -> Execution:
    return Execution.objects.create(
        **{
            "agent": loop.agent,
            "trigger": "loop",
            "loop_id": loop.pk,
            "prompt": "x",
            "timeout_seconds": 60,
            "queued_at": NOON,
            **columns,
        }
    )


def sqlite_names_columns(constraint: str, columns: str) -> str:
    """A breach of uniqueness as each database says it."""
    return columns if connection.vendor == "sqlite" else constraint


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_second_run_of_a_loop_that_waits_or_works(status: str, active: Loop) -> None:
    claim = {"claim_token": "t"} if status == "running" else {}

    refused(
        lambda: execution_of(active, status=status, **claim),
        sqlite_names_columns("one_run_of_a_loop_at_a_time", "executions_execution.loop_id"),
    )


def test_executions_of_no_loop_are_not_counted_as_one(agent: Any) -> None:
    for _ in range(2):
        Execution.objects.create(agent=agent, trigger="chat", prompt="x", timeout_seconds=60, queued_at=NOON)

    assert Execution.objects.filter(loop_id="").count() == 2


def test_a_run_number_twice(active: Loop) -> None:
    execution = execution_of(active, status="cancelled", ended_at=NOON)

    refused(
        lambda: Run.objects.create(loop=active, run_number=2, execution=execution),
        sqlite_names_columns("a_run_number_once_in_a_loop", "loops_run.loop_id, loops_run.run_number"),
    )


def test_a_run_zero(active: Loop) -> None:
    execution = execution_of(active, status="cancelled", ended_at=NOON)

    refused(lambda: Run.objects.create(loop=active, run_number=0, execution=execution), "run_numbers_start_at_one")


def test_an_execution_in_two_runs(active: Loop) -> None:
    execution = Execution.objects.get(loop_id=active.pk, run_number=1)

    refused(
        lambda: Run.objects.create(loop=active, run_number=3, execution=execution),
        sqlite_names_columns("loops_run_execution_id_key", "loops_run.execution_id"),
    )


def test_an_event_twice(active: Loop) -> None:
    refused(
        lambda: LoopEvent.objects.create(loop=active, sequence=1, kind="loop_parked", at=NOON),
        sqlite_names_columns("an_event_once_in_a_loop", "loops_loopevent.loop_id, loops_loopevent.sequence"),
    )


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"status": "paused"}, "loop_status_known or loop_ended_is_at_rest"),
        ({"stop_reason": "bored"}, "loop_reason_known or loop_reason_if_and_only_if_ended"),
        ({"on_failure": "retry"}, "loop_policy_known"),
        ({"stop_reason": "user_stopped"}, "loop_reason_if_and_only_if_ended"),
        ({"status": "stopped", "completed_at": NOON}, "loop_reason_if_and_only_if_ended"),
        ({"completed_at": NOON}, "loop_ended_is_at_rest"),
        ({"status": "stopped", "stop_reason": "user_stopped"}, "loop_ended_is_at_rest"),
        ({"spent_nano": -1}, "loop_spent_not_negative"),
        ({"max_cost_nano": 0}, "loop_budget_positive"),
        ({"max_cost_nano": -5}, "loop_budget_positive"),
        ({"max_runs": 0}, "loop_max_runs_in_bounds"),
        ({"max_runs": 101}, "loop_max_runs_in_bounds"),
        ({"runs_completed": 11}, "loop_runs_within_its_limit"),
        ({"no_progress_threshold": 1}, "loop_threshold_never_one"),
    ],
    ids=lambda value: str(value),
)
def test_of_an_active_loop(columns: dict[str, Any], constraint: str, active: Loop) -> None:
    refused(loop_update(active, **columns), constraint)


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"stop_reason": ""}, "loop_reason_if_and_only_if_ended"),
        ({"completed_at": None}, "loop_ended_is_at_rest"),
        ({"next_run_at": NOON}, "loop_ended_is_at_rest"),
        ({"status": "running"}, "loop_reason_if_and_only_if_ended or loop_ended_is_at_rest"),
    ],
    ids=lambda value: str(value),
)
def test_of_an_ended_loop(columns: dict[str, Any], constraint: str, ended: Loop) -> None:
    refused(loop_update(ended, **columns), constraint)


@pytest.mark.parametrize("status", [LoopStatus.INTERRUPTED])
def test_a_status_of_old_records_is_known(status: LoopStatus, ended: Loop) -> None:
    assert loop_update(ended, status=status, stop_reason="interrupted")() == 1


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"status": "paused"}, "execution_status_known or execution_ended_has_an_end"),
        ({"trigger": "whim"}, "execution_trigger_known"),
        ({"cost_nano": -1}, "execution_cost_not_negative"),
        ({"claim_token": ""}, "execution_in_flight_is_claimed"),
        ({"ended_at": NOON}, "execution_ended_has_an_end"),
        ({"status": "completed"}, "execution_ended_has_an_end"),
        ({"attempt": -1}, "attempt"),
    ],
    ids=lambda value: str(value),
)
def test_of_an_execution_in_flight(columns: dict[str, Any], constraint: str, active: Loop) -> None:
    refused(execution_update(active, 2, **columns), constraint)


def test_an_ended_execution_without_its_end(active: Loop) -> None:
    refused(execution_update(active, 1, ended_at=None), "execution_ended_has_an_end")


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"status": "paused"}, "agent_status_known"),
        ({"execution_timeout_seconds": 9}, "agent_timeout_in_bounds"),
        ({"execution_timeout_seconds": 7_201}, "agent_timeout_in_bounds"),
        ({"max_parallel_tasks": 0}, "agent_has_a_slot"),
    ],
    ids=lambda value: str(value),
)
def test_of_an_agent(columns: dict[str, Any], constraint: str, agent: Agent) -> None:
    refused(lambda: Agent.objects.filter(pk=agent.pk).update(**columns), constraint)


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Agent, Execution, Loop, LoopEvent, Run])
def test_every_constraint_of_a_model_stands_in_the_database(model: type[Model]) -> None:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, model._meta.db_table)

    assert {constraint.name for constraint in model._meta.constraints} <= set(found)


@pytest.mark.parametrize("delete", ["agent", "execution"])
def test_what_a_loop_hangs_on_cannot_be_deleted(delete: str, active: Loop) -> None:
    row = active.agent if delete == "agent" else Execution.objects.get(loop_id=active.pk, run_number=1)

    with pytest.raises(ProtectedError):
        row.delete()
