"""Loops that are started from a room: their card in the transcript, for members only; no rule of loops stands here."""

from accounts.services import forbidden
from accounts.viewers import Viewer
from accounts.vocabulary import AuditAction
from agents.queries import agent_for
from executions.step import AgentStep, agent_step
from loops.models import Loop
from loops.parameters import LoopParameters
from loops.services import start_loop_in
from trinity.kernel.errors import refused_field
from workspace.models import Turn
from workspace.queries import seat_in
from workspace.rail import refuse_outsiders
from workspace.record import record_in
from workspace.services import refuse_if_closed
from workspace.turns import may_loop, takes_part
from workspace.vocabulary import MessageKind


def start_loop_here(viewer: Viewer, room_id: str, agent_name: str, asked: LoopParameters) -> Loop:
    """Start a loop from the rail, with an agent that takes part and that the viewer may use.

    Refused (not found) to clients and to who takes no part, (conflict) when the room is closed, by field when the
    agent does not take part, and as any start of a loop is.
    """
    seat = seat_in(viewer, room_id)
    refuse_outsiders(seat)
    agent = agent_for(viewer, agent_name, doing=AuditAction.LOOP_STARTED)
    with agent_step(agent.pk) as step:
        record = record_in(step, room_id)
        refuse_if_closed(record.room)
        if not takes_part(record, agent):
            raise refused_field("agent", f"{agent.name} takes no part in this room.")
        return start_loop_in(step, viewer, asked, room_id=room_id)


def card_of(step: AgentStep, viewer: Viewer, loop: Loop) -> None:
    """The card of a loop that was just started from its room. Refused in a turn that somebody from outside asked for.

    What the agent says in the turn that started it is for members only, too.
    """
    turn = Turn.objects.select_related("asked_by").filter(execution=viewer.execution_id or None).first()
    if turn is not None and not may_loop(turn):
        raise forbidden("This message came from outside: only what members ask for is repeated. Do it once.")
    record = record_in(step, loop.room_id)
    by_agent = step.agent if viewer.agent_id == step.agent.pk else loop.source_agent
    record.say(MessageKind.LOOP, loop.title, user=viewer.user, agent=by_agent, loop=loop, members_only=True)
    if turn is not None:
        Turn.objects.filter(pk=turn.pk).update(started_loop=True)
