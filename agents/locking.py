"""The one lock: an agent's row, held until the transaction ends (section 1); opens no transaction."""

import copy
import functools

from django.db import connection

from agents.models import Agent
from trinity.kernel import rows
from trinity.kernel.errors import Broken
from trinity.kernel.statements import Answer, Statement, carry_out

MOST_KNOWN = 1_000
# Agents as this process read them last, with PostgreSQL's own name for that state of the row. An agent's settings may
# be long and hardly ever change: under the lock it is asked only whether anything did.
_known: dict[int, tuple[str, Agent]] = {}


def lock_agent(agent_id: int, *ahead: Statement) -> tuple[Agent, list[Answer]]:
    """The agent's row, held until the transaction ends, and the answers to what is asked ahead under the lock.

    All of it is one round trip, where the database allows it; each statement sees what was committed before it began,
    so those after the lock see all that was done under it.
    """
    if not connection.features.has_select_for_no_key_update:
        locked, *answers = carry_out(rows.reading(Agent, agent_id), *ahead)
        agent = rows.row_in(Agent, locked)
    else:
        agent, answers = _lock(agent_id, ahead)
    if agent is None:
        raise Broken(f"Agent {agent_id} is gone; agents are archived, never deleted.")
    return agent, answers


def _lock(agent_id: int, ahead: tuple[Statement, ...]) -> tuple[Agent | None, list[Answer]]:
    state, agent = _known.get(agent_id, ("", None))
    lock, read_if_changed = _statements()
    locked, changed, *answers = carry_out(
        Statement(lock, (agent_id,)), Statement(read_if_changed, (agent_id, state)), *ahead
    )
    if not locked.rows:
        return None, answers
    if changed.rows:
        state, *values = changed.rows[0]
        agent = rows.row_of(Agent, values)
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[agent_id] = (state, agent)
    # Whoever holds the lock may change its copy; what is known stays as it was read.
    return _copied(agent), answers


def _copied(agent: Agent | None) -> Agent | None:
    if agent is None:
        return None
    made = Agent.__new__(Agent)
    made.__dict__.update(agent.__dict__)
    made._state = copy.copy(agent._state)
    return made


@functools.cache
def _statements() -> tuple[str, str]:
    """A row's place and the transaction that wrote it there name one state of it, also within a transaction."""
    table, state = f'"{Agent._meta.db_table}"', "ctid::text || xmin::text"
    return (
        f"SELECT 1 FROM {table} WHERE id = %s FOR NO KEY UPDATE",  # noqa: S608
        f"SELECT {state}, {rows.columns_of(Agent)} FROM {table} WHERE id = %s AND {state} <> %s",  # noqa: S608
    )
