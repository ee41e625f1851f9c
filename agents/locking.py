"""The one lock: an agent's row, held until the transaction ends (section 1); opens no transaction."""

import functools

from django.db import connection

from agents.models import Agent
from trinity.kernel import rows
from trinity.kernel.errors import Broken
from trinity.kernel.statements import Answer, Statement, carry_out


def lock_agent(agent_id: int, *ahead: Statement) -> tuple[Agent, list[Answer]]:
    """The agent's row, held until the transaction ends, and the answers to what is asked ahead under the lock.

    All of it is one round trip, where the database allows it; each statement sees what was committed before it began,
    so those after the lock see all that was done under it.
    """
    locked, *answers = carry_out(Statement(_lock(connection.vendor), (agent_id,)), *ahead)
    agent = rows.row_in(Agent, locked)
    if agent is None:
        raise Broken(f"Agent {agent_id} is gone; agents are archived, never deleted.")
    return agent, answers


@functools.cache
def _lock(vendor: str) -> str:
    """NO KEY UPDATE: a plain FOR UPDATE deadlocks with the foreign-key checks of children inserted meanwhile."""
    statement = f'SELECT {rows.columns_of(Agent)} FROM "{Agent._meta.db_table}" WHERE "id" = %s'  # noqa: S608
    return f"{statement} FOR NO KEY UPDATE" if connection.features.has_select_for_no_key_update else statement
