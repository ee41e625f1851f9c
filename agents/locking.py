"""The one lock: an agent's row, held until the transaction ends (section 1); opens no transaction."""

from agents.models import Agent
from trinity.kernel import rows
from trinity.kernel.errors import Broken
from trinity.kernel.statements import Answer, Statement, carry_out


def lock_agent(agent_id: int, *ahead: Statement) -> tuple[Agent, list[Answer]]:
    """The agent's row, held until the transaction ends, and the answers to what is asked ahead under the lock.

    All of it is one round trip, where the database allows it; each statement sees what was committed before it began,
    so those after the lock see all that was done under it.
    """
    locked, *answers = carry_out(rows.locking(Agent, agent_id), *ahead)
    agent = rows.row_in(Agent, locked)
    if agent is None:
        raise Broken(f"Agent {agent_id} is gone; agents are archived, never deleted.")
    return agent, answers
