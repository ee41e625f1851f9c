"""REST doors of agents; thin: they read, call one service or query, and present."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents import schemas
from agents.models import NAME_PATTERN, Agent
from agents.presenting import agent_body
from agents.queries import agent_for, visible_agents
from agents.services import archive_agent, change_agent, create_agent, start_agent, stop_agent
from agents.vocabulary import AgentStatus
from trinity.rest import query
from trinity.rest.doors import Door, location
from trinity.rest.schema import LOCATION

_ANY_PROGRAM = OpenApiExample(
    "Any program",
    value={
        "name": "reporter",
        "runtime": "command",
        "runtime_settings": {"argv": ["/usr/local/bin/report", "--short"], "output": "text"},
        "execution_timeout_seconds": 600,
    },
    request_only=True,
)
AGENT_NAME = query.in_path("The agent's name.", NAME_PATTERN)


class AgentDoor(Door):
    """The base of doors under an agent."""

    tag = "Agents"
    path_parameters = {"name": AGENT_NAME}

    def agent(self) -> Agent:
        """The agent of the address; Refused (not found) alike when unknown and when not to be seen."""
        return agent_for(self.viewer, self.kwargs["name"])


class Agents(Door):
    tag = "Agents"
    parameters = {
        "status": query.word(AgentStatus, "Only those in this status."),
        "after": query.name("Only those whose name comes after this one, to read on.", 63),
        "limit": query.limit(200),
    }

    @extend_schema(operation_id="list_agents", responses=schemas.AgentShape(many=True))
    def get(self, request: Request) -> Response:
        """List the agents one may use. By name, without archived ones."""
        agents = visible_agents(self.viewer).select_related("owner").order_by("name")
        if self.asked["status"] is not None:
            agents = agents.filter(status=self.asked["status"])
        if self.asked["after"] is not None:
            agents = agents.filter(name__gt=self.asked["after"])
        return Response([agent_body(agent, self.viewer) for agent in agents[: self.asked["limit"]]])

    @extend_schema(
        operation_id="create_agent",
        request=schemas.NewAgent,
        responses={201: schemas.AgentShape},
        examples=[_ANY_PROGRAM],
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Create an agent. For admins; who creates it owns it, and it is running at once."""
        agent = create_agent(self.viewer, self.body())
        where = location("api:agent", name=agent.name)
        return Response(agent_body(agent, self.viewer), status=201, headers=where)


class OneAgent(AgentDoor):
    @extend_schema(operation_id="read_agent", responses=schemas.AgentShape)
    def get(self, request: Request, name: str) -> Response:
        """Read an agent. How it is called stands in it for its owner and admins only."""
        return Response(agent_body(self.agent(), self.viewer))

    @extend_schema(operation_id="change_agent", request=schemas.Changes, responses=schemas.AgentShape)
    def patch(self, request: Request, name: str) -> Response:
        """Change an agent. Title, limits, model and graders by its owner; how and where it runs by admins only."""
        return Response(agent_body(change_agent(self.viewer, self.agent(), self.body()), self.viewer))

    @extend_schema(operation_id="archive_agent", request=None, responses={200: schemas.AgentShape})
    def delete(self, request: Request, name: str) -> Response:
        """Archive an agent. Its loops are asked to stop and its keys end; its name is never used again."""
        return Response(agent_body(archive_agent(self.viewer, self.agent()), self.viewer))


class StartAgent(AgentDoor):
    @extend_schema(operation_id="start_agent", request=None, responses=schemas.AgentShape)
    def post(self, request: Request, name: str) -> Response:
        """Start an agent. It admits executions again; safe to repeat."""
        agent = self.agent()
        self.expect_no_body()
        return Response(agent_body(start_agent(self.viewer, agent), self.viewer))


class StopAgent(AgentDoor):
    @extend_schema(operation_id="stop_agent", request=None, responses=schemas.AgentShape)
    def post(self, request: Request, name: str) -> Response:
        """Stop an agent. What is in flight finishes, what is queued waits; safe to repeat."""
        agent = self.agent()
        self.expect_no_body()
        return Response(agent_body(stop_agent(self.viewer, agent), self.viewer))


def created_or_found(body: Any, made: bool) -> Response:
    """201 for what is new, 200 for what was there before."""
    return Response(body, status=201 if made else 200)
