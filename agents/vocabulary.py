"""Words of agents."""

from enum import StrEnum


class AgentStatus(StrEnum):
    """Whether an agent admits new executions; a stopped one finishes what is in flight."""

    RUNNING = "running"
    STOPPED = "stopped"
