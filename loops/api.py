"""REST doors of loops (section 2); thin: they read, call one service or query, and present."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.vocabulary import AuditAction
from agents.api import AgentDoor
from agents.queries import agent_to_lock
from executions.step import agent_step
from loops import schemas
from loops.parameters import read_parameters
from loops.presenting import loop_body, loop_detail, started_body
from loops.queries import LoopFilter, listed_loops, loop_for, runs_of
from loops.services import request_stop, start_loop_in
from loops.standing import standing_of, standings_of
from loops.vocabulary import LoopStatus
from trinity.kernel import clock
from trinity.rest import query
from trinity.rest.doors import Door, answered, location
from trinity.rest.etags import etag_of, not_modified
from trinity.rest.idempotency import Answer, once
from trinity.rest.schema import IDEMPOTENCY_KEY, LOCATION

_LIMITS = {"status": query.word(LoopStatus, "Only those in this status."), "limit": query.limit()}
_ETAG = OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=["200", "304"], description='`W/"version"`')
_UNTIL_DONE = OpenApiExample(
    "Drain a folder",
    value={
        "message": "Take the next text. Reply [[DONE]] if there is none.",
        "max_runs": 20,
        "stop_signal": "[[DONE]]",
        "max_cost_usd": 5,
    },
    request_only=True,
)
_IF_NONE_MATCH = OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="An ETag read before.")


class LoopList(Door):
    """What both lists of loops do."""

    tag = "Loops"

    def listed(self, agent: str | None) -> Response:
        """The loops that were asked for, newest first."""
        found = list(listed_loops(self.viewer, LoopFilter(agent, self.asked["status"]))[: self.asked["limit"]])
        now = clock.now()
        standings = standings_of(found, now)
        return Response([loop_body(loop, standings[loop.pk], self.viewer, now) for loop in found])


class Loops(LoopList):
    parameters = {"agent": query.name("Only those of this agent.", 63), **_LIMITS}

    @extend_schema(operation_id="list_loops", responses=schemas.LoopShape(many=True))
    def get(self, request: Request) -> Response:
        """List loops. Newest first, over all agents one may use."""
        return self.listed(self.asked["agent"])


class AgentLoops(LoopList, AgentDoor):
    tag = "Loops"
    parameters = _LIMITS

    @extend_schema(operation_id="list_agent_loops", responses=schemas.LoopShape(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List an agent's loops. Newest first."""
        return self.listed(name)

    @extend_schema(
        operation_id="start_loop",
        request=schemas.NewLoop,
        responses={202: schemas.StartedLoop},
        examples=[_UNTIL_DONE],
        parameters=[IDEMPOTENCY_KEY, LOCATION],
    )
    def post(self, request: Request, name: str) -> Response:
        """Start a loop. It goes on by itself on the server until a guardrail ends it."""
        agent = agent_to_lock(self.viewer, name, doing=AuditAction.LOOP_STARTED)
        body = self.body()
        asked, key = read_parameters(body), self.idempotency_key(body)

        def start() -> Answer:
            loop = start_loop_in(step, self.viewer, asked)
            return Answer(202, started_body(loop, agent.name), location("api:loop", loop_id=loop.pk))

        with agent_step(agent.pk) as step:
            answer = once(key, start)
        return answered(answer)


class LoopDoor(Door):
    """The base of doors under a loop."""

    tag = "Loops"
    path_parameters = {"loop_id": query.in_path("The loop's id.", "loop_[A-Za-z0-9_-]{16}")}


class OneLoop(LoopDoor):
    @extend_schema(
        operation_id="read_loop",
        responses={200: schemas.LoopDetail, 304: OpenApiResponse(description="Nothing changed.")},
        parameters=[_IF_NONE_MATCH, _ETAG],
    )
    def get(self, request: Request, loop_id: str) -> Response | HttpResponse:
        """Read a loop. Its state, every guardrail and how much of it is used, its runs and its last response."""
        loop = loop_for(self.viewer, loop_id)
        etag = etag_of(loop.version)
        known = not_modified(request._request, etag)
        if known is not None:
            return known
        now = clock.now()
        body = loop_detail(loop, runs_of(loop), standing_of(loop, now), self.viewer, now)
        return Response(body, headers={"ETag": etag})


class StopLoop(LoopDoor):
    @extend_schema(operation_id="stop_loop", request=None, responses=schemas.StoppedLoop)
    def post(self, request: Request, loop_id: str) -> Response:
        """Ask a loop to stop. A run in flight finishes first; safe to repeat. Who may read it may stop it."""
        loop = loop_for(self.viewer, loop_id, doing=AuditAction.LOOP_STOP_REQUESTED)
        self.expect_no_body()
        return Response({"loop_id": loop.pk, "status": request_stop(self.viewer, loop)})
