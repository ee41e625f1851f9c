"""The one lock: an agent's row, held until the transaction ends (section 1); opens no transaction."""

from agents.models import Agent
from trinity.kernel.errors import Broken


def lock_agent(agent_id: int) -> Agent:
    """The agent's row, held until the transaction ends. NO KEY UPDATE: a plain FOR UPDATE deadlocks with the
    foreign-key checks of children that are inserted meanwhile."""
    agent = Agent.objects.select_for_update(no_key=True).filter(pk=agent_id).first()
    if agent is None:
        raise Broken(f"Agent {agent_id} is gone; agents are archived, never deleted.")
    return agent
