"""MCP doors of loops (section 2); thin: they read, call one service or query, and present, as REST's do."""

from typing import Any

from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.models import Agent
from agents.queries import agent_for
from executions.step import agent_step
from loops.models import Loop
from loops.parameters import read_parameters
from loops.presenting import loop_body, loop_detail, started_body
from loops.queries import LoopFilter, listed_loops, loop_for, runs_of
from loops.schemas import NewLoop
from loops.services import request_stop, start_loop_in
from loops.standing import standing_of, standings_of
from loops.vocabulary import LoopStatus
from trinity.kernel import clock, fields
from trinity.kernel.errors import Refused, refused_field
from trinity.kernel.vocabulary import RefusalCode
from trinity.mcp.tools import Given, ToolDoor, arguments_of, required_of, tools
from trinity.rest.idempotency import Answer, key_of, once

MOST_LISTED = 200
LISTED = 50
_AGENT = {"type": "string", "maxLength": 63, "description": "The agent's name. A key of an agent means itself."}
_LOOP_ID = {"type": "string", "maxLength": 40, "description": "The loop's id, such as loop_0123456789abcdef."}
_KEY = {
    "type": "string",
    "maxLength": 255,
    "description": "Any text of yours: the same one with the same arguments starts one loop only, for 24 hours.",
}


def run_agent_loop(viewer: Viewer, given: Given) -> dict[str, Any]:
    """Start a loop; the answer does not wait for any run."""
    asked = dict(given)
    name, key = asked.pop("agent_name", None), asked.pop("idempotency_key", None)
    if not isinstance(key, str | None):
        raise refused_field("idempotency_key", "Must be a string.")
    agent = agent_for(viewer, _agent_name(viewer, name), doing=AuditAction.LOOP_STARTED)
    parameters = read_parameters(asked)

    def start() -> Answer:
        return Answer(202, started_body(start_loop_in(step, viewer, parameters), agent.name))

    with agent_step(agent.pk) as step:
        answer = once(key_of(viewer, f"MCP run_agent_loop {agent.name}", key, asked), start)
    return {"success": True, **answer.body}


def get_loop_status(viewer: Viewer, given: Given) -> dict[str, Any]:
    """Everything of a loop, its runs and its last response included."""
    loop = _loop(viewer, given, AuditAction.LOOP_READ)
    now = clock.now()
    return loop_detail(loop, runs_of(loop), standing_of(loop, now), viewer, now)


def stop_loop(viewer: Viewer, given: Given) -> dict[str, Any]:
    """Ask a loop to stop; a run in flight finishes first."""
    loop = _loop(viewer, given, AuditAction.LOOP_STOP_REQUESTED)
    return {"loop_id": loop.pk, "status": str(request_stop(viewer, loop))}


def list_loops(viewer: Viewer, given: Given) -> dict[str, Any]:
    """The loops that the viewer may see, newest first."""
    asked = fields.read(
        given,
        {
            "agent_name": lambda value: fields.text(value, 1, 63),
            "status": lambda value: fields.word(value, LoopStatus),
            "limit": lambda value: fields.integer(value, 1, MOST_LISTED),
        },
    )
    wanted = LoopFilter(asked.get("agent_name"), asked.get("status"))
    found = list(listed_loops(viewer, wanted)[: asked.get("limit", LISTED)])
    now = clock.now()
    standings = standings_of(found, now)
    return {"loops": [loop_body(loop, standings[loop.pk], viewer, now) for loop in found]}


def register() -> None:
    """Put the tools of loops on the list."""
    start = NewLoop()
    tools.add(
        "run_agent_loop",
        ToolDoor(
            "Start a loop",
            "Start a loop on an agent: the same message again and again, one run after another, until a guardrail ends"
            " it. Returns its loop_id at once; read with get_loop_status how it goes on.",
            run_agent_loop,
            {"agent_name": _AGENT, **arguments_of(start), "idempotency_key": _KEY},
            required_of(start),
        ),
    )
    tools.add(
        "get_loop_status",
        ToolDoor(
            "Read a loop",
            "How a loop stands: status and why it ended, every guardrail and how much of it is used, a summary of each"
            " run, and the last response whole.",
            get_loop_status,
            {"loop_id": _LOOP_ID},
            ("loop_id",),
            read_only=True,
        ),
    )
    tools.add(
        "stop_loop",
        ToolDoor(
            "Stop a loop",
            "Ask a loop to stop. A run in flight finishes first. Answers stopping, or already_done; safe to repeat.",
            stop_loop,
            {"loop_id": _LOOP_ID},
            ("loop_id",),
        ),
    )
    tools.add(
        "list_loops",
        ToolDoor(
            "List loops",
            "The loops you may see, newest first, without their runs.",
            list_loops,
            {
                "agent_name": {**_AGENT, "description": "Only those of this agent."},
                "status": {"type": "string", "enum": [str(status) for status in LoopStatus]},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": LISTED},
            },
            read_only=True,
        ),
    )


def _agent_name(viewer: Viewer, given: Any) -> str:
    """The agent that was named; an agent that names none means itself."""
    if given is None and not viewer.is_person:
        own = Agent.objects.filter(pk=viewer.agent_id or 0).values_list("name", flat=True).first()
        return own or ""
    known: dict[str, fields.Read] = {"agent_name": lambda value: fields.text(value, 1, 63)}
    name: str = fields.read({"agent_name": given}, known, required=("agent_name",))["agent_name"]
    return name


def _loop(viewer: Viewer, given: Given, doing: AuditAction) -> Loop:
    """The loop that was named. An unknown one and one that may not be seen are told alike here."""
    known: dict[str, fields.Read] = {"loop_id": lambda value: fields.text(value, 1, 40)}
    loop_id = fields.read(given, known, required=("loop_id",))["loop_id"]
    try:
        return loop_for(viewer, loop_id, doing=doing)
    except Refused as refusal:
        if refusal.code not in (RefusalCode.NOT_FOUND, RefusalCode.FORBIDDEN):
            raise
        raise Refused(f"Loop {loop_id!r} not found or not accessible.", code=RefusalCode.NOT_FOUND) from None
