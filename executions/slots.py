"""How many of an agent's slots are taken, counted from rows; gives none away."""

from executions.models import Execution
from executions.vocabulary import ExecutionStatus


def slots_used(agent_id: int) -> int:
    """Executions of the agent that are in flight."""
    return Execution.objects.filter(agent=agent_id, status=ExecutionStatus.RUNNING).count()
