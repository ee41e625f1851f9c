"""What executions do when an agent changes; registered with agents, which know no executions. Decides nothing."""

from accounts.viewers import Viewer
from agents.models import Agent
from executions import nudging
from executions.models import Execution
from executions.services import withdraw
from executions.step import step_within
from executions.vocabulary import ExecutionStatus


def withdraw_waiting(agent: Agent, viewer: Viewer) -> None:
    """An archived agent admits nothing any more: calls that wait are cancelled. Runs of loops end with their loops."""
    with step_within(agent) as step:
        waiting = Execution.objects.filter(agent=agent, status=ExecutionStatus.QUEUED, loop_id="")
        for execution in waiting.order_by("room_id", "queued_at"):  # rooms are locked in one order by everybody
            withdraw(step, execution)


def tell_workers(agent: Agent) -> None:
    """It may admit more than before."""
    nudging.nudge(agent.pk, agent.place)
