"""Who is next in an agent's line, in one statement that is built once; writes nothing and decides nothing."""

import datetime as dt
import functools

from django.db import connection

from executions.models import Execution
from executions.vocabulary import ExecutionStatus
from trinity.kernel import rows
from trinity.kernel.statements import Answer, Statement


def asking_for_next(agent_id: int, now: dt.datetime) -> Statement:
    """Asks how many of the agent's slots are taken, and for its oldest due execution that waits.

    Under the agent's lock, and in a statement of its own: in the locking one two of one slot would get through.
    """
    at = connection.ops.adapt_datetimefield_value(now)
    return Statement(_statement(connection.vendor), (agent_id, agent_id, at))


def next_in_line(answer: Answer) -> tuple[int, Execution | None]:
    """How many slots are taken, and the oldest due execution, or None."""
    slots_taken, *found = answer.rows[0]
    return slots_taken, rows.row_of(Execution, found) if found[0] is not None else None


@functools.cache
def _statement(vendor: str) -> str:
    """The statuses stand in it as words, not as values: only so SQLite finds the partial indexes."""
    table, columns = f'"{Execution._meta.db_table}"', rows.columns_of(Execution)
    taken = f"SELECT COUNT(*) AS taken FROM {table} WHERE agent_id = %s AND status = '{ExecutionStatus.RUNNING}'"  # noqa: S608
    oldest = (
        f"SELECT {columns} FROM {table} WHERE agent_id = %s AND status = '{ExecutionStatus.QUEUED}' "  # noqa: S608
        "AND (not_before IS NULL OR not_before <= %s) ORDER BY queued_at, id LIMIT 1"
    )
    return f"SELECT slots.taken, oldest.* FROM ({taken}) slots LEFT JOIN ({oldest}) oldest ON TRUE"  # noqa: S608
