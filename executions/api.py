"""REST doors of executions; thin: they read, call one service or query, and present."""

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.vocabulary import AuditAction
from agents.api import AgentDoor
from agents.queries import agent_for
from executions import schemas, trajectory
from executions.models import Execution
from executions.presenting import called_body, execution_detail, execution_row_body
from executions.queries import ExecutionFilter, execution_for, listed_executions
from executions.requests import abandon, call_agent_in, read_call
from executions.step import agent_step
from executions.vocabulary import ExecutionStatus, Trigger, VerdictFilter
from executions.waiting import wait_of, waits_of
from trinity.kernel import clock
from trinity.kernel.errors import Refused
from trinity.kernel.vocabulary import RefusalCode
from trinity.rest import query
from trinity.rest.doors import Door, answered, location
from trinity.rest.idempotency import Answer, once
from trinity.rest.schema import IDEMPOTENCY_KEY, LOCATION


class Executions(Door):
    tag = "Executions"
    parameters = {
        "agent": query.name("Only those of this agent.", 63),
        "trigger": query.word(Trigger, "Only those that this made."),
        "status": query.word(ExecutionStatus, "Only those in this status."),
        "loop_id": query.name("Only those of this loop.", 32),
        "verdict": query.word(VerdictFilter, "Only those of which a grader says this."),
        "limit": query.limit(),
    }

    @extend_schema(operation_id="list_executions", responses=schemas.ExecutionRow(many=True))
    def get(self, request: Request) -> Response:
        """List executions. Newest first, over all agents one may use."""
        wanted = ExecutionFilter(**{name: value for name, value in self.asked.items() if name != "limit"})
        found = list(listed_executions(self.viewer, wanted)[: self.asked["limit"]])
        waits = waits_of(found, clock.now())
        return Response([execution_row_body(one, waits.get(one.pk)) for one in found])


class AgentExecutions(AgentDoor):
    tag = "Executions"

    @extend_schema(
        operation_id="call_agent",
        request=schemas.Call,
        responses={202: schemas.Called},
        examples=[OpenApiExample("One call", value={"prompt": "Say hello.", "timeout_seconds": 60}, request_only=True)],
        parameters=[IDEMPOTENCY_KEY, LOCATION],
    )
    def post(self, request: Request, name: str) -> Response:
        """Call an agent once. It is queued and carried out on the server; read it to see what came of it."""
        agent = agent_for(self.viewer, name, doing=AuditAction.EXECUTION_STARTED)
        body = self.body()
        asked, key = read_call(body), self.idempotency_key(body)

        def call() -> Answer:
            execution = call_agent_in(step, self.viewer, asked, trigger=Trigger.API)
            return Answer(202, called_body(execution), location("api:execution", execution_id=execution.pk))

        with agent_step(agent.pk) as step:
            answer = once(key, call)
        return answered(answer)


class ExecutionDoor(Door):
    """The base of doors under an execution."""

    tag = "Executions"
    path_parameters = {"execution_id": query.in_path("The execution's id.", "exec_[A-Za-z0-9_-]{16}")}

    def execution(self) -> Execution:
        """The execution of the address; Refused (not found) alike when unknown and when not to be seen."""
        return execution_for(self.viewer, self.kwargs["execution_id"])


class OneExecution(ExecutionDoor):
    @extend_schema(operation_id="read_execution", responses=schemas.ExecutionDetail)
    def get(self, request: Request, execution_id: str) -> Response:
        """Read an execution. Everything but its trajectory."""
        execution = self.execution()
        return Response(execution_detail(execution, wait_of(execution, clock.now())))


class ExecutionTrajectory(ExecutionDoor):
    @extend_schema(operation_id="read_trajectory", responses=schemas.TrajectoryShape)
    def get(self, request: Request, execution_id: str) -> Response:
        """Read what an execution did. Its tool calls and their results, in order; there is none while it runs."""
        execution = self.execution()
        found = trajectory.read(execution)
        if found is None:
            raise Refused("No trajectory is kept of this execution.", code=RefusalCode.NOT_FOUND)
        return Response(found)


class AbandonExecution(ExecutionDoor):
    @extend_schema(operation_id="abandon_execution", request=None, responses=schemas.Abandoned)
    def post(self, request: Request, execution_id: str) -> Response:
        """Abandon a hung execution. Its whole process tree is killed and it fails; for the owner and admins."""
        execution = self.execution()
        self.expect_no_body()
        return Response({"execution_id": execution.pk, "status": abandon(self.viewer, execution)})
