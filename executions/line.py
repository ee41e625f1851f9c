"""Who is next in an agent's line, in one statement that is built once; writes nothing and decides nothing."""

import datetime as dt
import functools

from django.db import connection

from executions.models import Execution
from executions.vocabulary import ExecutionStatus


def next_in_line(agent_id: int, now: dt.datetime) -> tuple[int, str | None]:
    """How many of the agent's slots are taken, and its oldest due execution that waits, or None.

    Asked under the agent's lock and in a statement of its own: in the locking one two of one slot would get through.
    """
    at = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        cursor.execute(_statement(), (agent_id, agent_id, at))
        slots_taken, oldest = cursor.fetchone()
    return slots_taken, oldest


@functools.cache
def _statement() -> str:
    """The statuses stand in it as words, not as values: only so SQLite finds the partial indexes."""
    table = f'"{Execution._meta.db_table}"'
    taken = f"SELECT COUNT(*) FROM {table} WHERE agent_id = %s AND status = '{ExecutionStatus.RUNNING}'"  # noqa: S608
    oldest = (
        f"SELECT id FROM {table} WHERE agent_id = %s AND status = '{ExecutionStatus.QUEUED}' "  # noqa: S608
        "AND (not_before IS NULL OR not_before <= %s) ORDER BY queued_at, id LIMIT 1"
    )
    return f"SELECT ({taken}), ({oldest})"
