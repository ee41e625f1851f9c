"""The call that an execution asks of its agent's runtime; starts nothing."""

from agents.runtimes.base import AgentCall
from executions.models import Execution


def call_of(execution: Execution) -> AgentCall:
    """The call that an execution asks of its agent's runtime."""
    tools = execution.allowed_tools
    return AgentCall(
        prompt=execution.prompt,
        model=execution.model or execution.agent.model,
        allowed_tools=tuple(tools) if tools is not None else None,
        timeout_seconds=execution.timeout_seconds,
        run_number=execution.run_number or 1,
    )
