"""The one lock: an agent's row, held until the transaction ends (section 1); opens no transaction."""

from agents.models import Agent
from trinity.kernel import rows
from trinity.kernel.errors import Broken


def lock_agent(agent_id: int) -> Agent:
    """The agent's row, held until the transaction ends. NO KEY UPDATE: a plain FOR UPDATE deadlocks with the
    foreign-key checks of children that are inserted meanwhile."""
    agent = rows.read(Agent, agent_id, lock=True)
    if agent is None:
        raise Broken(f"Agent {agent_id} is gone; agents are archived, never deleted.")
    return agent
