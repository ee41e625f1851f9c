"""Whether an agent can be called as somebody asks, as far as its runtime can tell beforehand; starts nothing."""

from collections.abc import Sequence

from agents.models import Agent
from agents.runtimes.base import AgentCall
from agents.runtimes.registry import runtime
from trinity.kernel.errors import Refused, refused_field


def refuse_impossible_call(agent: Agent, *, model: str, allowed_tools: Sequence[str] | None) -> None:
    """Refused at `allowed_tools` or `model` when every run would be: a restriction that cannot be kept, a tool that
    there is not, a model that is missing (section 3). Better now than at each run."""
    kind = runtime(agent.runtime)
    if allowed_tools is not None and not kind.restricts_tools(agent.runtime_settings):
        raise tools_not_restricted(agent)
    if kind.answers_in_worker:
        return
    tools = None if allowed_tools is None else tuple(allowed_tools)
    call = AgentCall(prompt="Any.", model=model or agent.model, allowed_tools=tools)
    kind.command(call, agent.runtime_settings)  # it is pure, and says what it cannot start


def tools_not_restricted(agent: Agent) -> Refused:
    """A runtime that cannot keep the restriction refuses it; it never ignores it."""
    return refused_field("allowed_tools", f"The runtime {agent.runtime} cannot restrict tools; leave this out.")
