"""Starts the loop of a form once, however often the form is sent; what a loop is, `services` knows."""

from dataclasses import asdict

from accounts.form_tokens import key_of_form
from accounts.viewers import Viewer
from agents.models import Agent
from executions.step import agent_step
from loops.models import Loop
from loops.parameters import LoopParameters
from loops.queries import loop_for
from loops.services import start_loop_in
from trinity.rest.idempotency import Answer, once

ROUTE = "form loops"


def start_once(viewer: Viewer, agent: Agent, asked: LoopParameters, token: str, *, room_id: str = "") -> Loop:
    """The loop that this form started before, else a new one; twins that come at once wait for the agent's lock."""
    key = key_of_form(viewer, f"{ROUTE} {agent.name} {room_id}".strip(), token, asdict(asked))
    with agent_step(agent.pk) as step:
        answer = once(key, lambda: Answer(302, {"loop_id": start_loop_in(step, viewer, asked, room_id=room_id).pk}))
    return loop_for(viewer, answer.body["loop_id"])
