"""Fills an installation with ended and parked loops, as years of work would: real ones, copied; PostgreSQL only.

`filling ENDED PARKED`: one loop of each kind is made by the engine's own services, and its rows are copied so many
times, each copy a second older (or parked a second longer) than the one before, spread over the agents.
"""

import sys
from typing import Any

import django

django.setup()

from django.db import connection, models  # noqa: E402 - Django has to be set up before its models can be read

from accounts.models import User  # noqa: E402
from accounts.viewers import Viewer  # noqa: E402
from agents.models import Agent  # noqa: E402
from agents.runtimes.base import Ending, Outcome  # noqa: E402
from executions.models import Execution  # noqa: E402
from executions.services import Claimant, settle, take  # noqa: E402
from loops.models import Loop, LoopEvent, Run  # noqa: E402
from loops.parameters import read_parameters  # noqa: E402
from loops.services import start_loop  # noqa: E402

WORKER = Claimant(worker="filling", host="bench", spool_id="filling", place="default", lease_seconds=30)


def first_of_its_kind(agent: Agent, **asked: Any) -> Loop:
    """A loop after its first run, whose rows the engine has written."""
    viewer = Viewer(user=User.objects.get(username="admin"))
    loop = start_loop(viewer, agent, read_parameters({"message": "Go on with the inbox.", **asked}))
    execution = take(agent.pk, WORKER)
    if execution is None or execution.loop_id != loop.pk:
        raise SystemExit("the loop to be copied did not get its turn: is a worker running?")
    settle(execution, Outcome(Ending.COMPLETED, response="One text less."))
    return loop


def copy(loop: Loop, times: int, letter: str, seconds: int) -> None:
    """Copy a loop with all its rows; `seconds` is what each copy's times differ by from those of the one before."""
    execution = Execution.objects.get(loop_id=loop.pk)
    agents = list(Agent.objects.order_by("pk").values_list("pk", flat=True))
    loop_id = f"'loop_{letter}' || lpad(n::text, 15, '0')"
    execution_id = f"'exec_{letter}' || lpad(n::text, 15, '0')"
    agent_id = f"(array{agents})[1 + n %% {len(agents)}]"
    _copy_rows(Loop, "id", loop.pk, times, seconds, id=loop_id, agent_id=agent_id)
    _copy_rows(Execution, "id", execution.pk, times, seconds, id=execution_id, loop_id=loop_id, agent_id=agent_id)
    _copy_rows(Run, "loop_id", loop.pk, times, seconds, loop_id=loop_id, execution_id=execution_id)
    _copy_rows(LoopEvent, "loop_id", loop.pk, times, seconds, loop_id=loop_id)


def _copy_rows(model: type[models.Model], key: str, of: str, times: int, seconds: int, **columns: str) -> None:
    """Copy the rows whose `key` is `of`: `columns` anew, times moved, numbers of rows given by the database."""
    table, into, expressions = model._meta.db_table, [], []  # type: str, list[str], list[str]
    for field in model._meta.concrete_fields:
        name = str(field.column)
        if isinstance(field, models.AutoField):
            continue
        moved = f"{name} + n * interval '{seconds} second'"
        into.append(name)
        expressions.append(columns.get(name, moved if isinstance(field, models.DateTimeField) else name))
    with connection.cursor() as cursor:
        cursor.execute(
            f"insert into {table} ({', '.join(into)}) select {', '.join(expressions)} "  # noqa: S608 - names of our models
            f"from {table}, generate_series(1, %s) n where {key} = %s",
            [times, of],
        )


def main() -> None:
    ended, parked = map(int, sys.argv[1:3])
    agent = Agent.objects.get(name="bench-0")
    copy(first_of_its_kind(agent, max_runs=1), ended, "e", -1)
    copy(first_of_its_kind(agent, max_runs=50, delay_seconds=3600), parked, "p", 1)
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")  # as the server does by itself after a while
    print(Loop.objects.count())


if __name__ == "__main__":
    main()
