"""What every run would refuse is refused at the start, over REST, at its field (design, section 3)."""

from typing import Any

import pytest

from agents.models import Agent
from agents.runtimes.registry import runtime
from executions.models import Execution
from loops.models import Loop
from tests.web.api.calling import Caller, errors_of

CALLS = {"loops": {"message": "Go", "max_runs": 2}, "executions": {"prompt": "Go"}}


def becomes(agent: Agent, name: str, model: str = "", **chosen: Any) -> None:
    settings = runtime(name).clean_settings(chosen)
    Agent.objects.filter(pk=agent.pk).update(runtime=name, runtime_settings=settings, model=model)


@pytest.mark.parametrize("door", CALLS)
@pytest.mark.parametrize(
    ("name", "chosen", "asked", "field"),
    [
        ("model", {"protocol": "openai"}, {}, "model"),
        ("model", {"protocol": "openai"}, {"model": "m", "allowed_tools": ["read", "Bash"]}, "allowed_tools.1"),
        ("claude-code", {"permission_mode": "default"}, {"allowed_tools": ["CronCreate"]}, "allowed_tools.0"),
        ("codex", {}, {"allowed_tools": ["shell"]}, "allowed_tools"),
        ("command", {"argv": ["agent", "{model}"]}, {}, "model"),
    ],
)
def test_a_call_that_no_run_could_make_is_refused_at_once(
    as_alice: Caller, agent: Agent, door: str, name: str, chosen: Any, asked: Any, field: str
) -> None:
    becomes(agent, name, **chosen)

    response = as_alice.post(f"/api/agents/{agent.name}/{door}", CALLS[door] | asked)

    assert (response.status_code, list(errors_of(response))) == (400, [field])
    assert not Loop.objects.exists()
    assert not Execution.objects.exists()


@pytest.mark.parametrize("door", CALLS)
def test_the_agents_own_model_is_one_and_tools_that_there_are_are_taken(
    as_alice: Caller, agent: Agent, door: str
) -> None:
    becomes(agent, "model", model="qwen3", protocol="openai")

    response = as_alice.post(f"/api/agents/{agent.name}/{door}", CALLS[door] | {"allowed_tools": ["read", "shell"]})

    assert response.status_code == 202
