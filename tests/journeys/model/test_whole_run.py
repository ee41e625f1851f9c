"""An agent of the runtime `model`, from the queue to the outcome: worker, runner, program and service."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.models import Agent
from executions.models import Execution
from executions.worker.carrier import Carrier
from loops.invariants import check_loop
from loops.models import Loop
from tests.engine import start
from tests.journeys.server import wait_for

from .conftest import KEY, PRICED
from .services import Answer, Call, Refusal

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
COMMIT = "git add -A && git -c user.name=a -c user.email=a@example.org commit -q -m more"


@pytest.fixture
def carrier(tmp_path: Path, settings: Any) -> Iterator[Carrier]:
    settings.TRINITY_SWEEP_SECONDS = 0.2
    carrier = Carrier(tmp_path / "home")
    carrier.start()
    yield carrier
    carrier.stop()


@pytest.fixture
def on_a_model(
    make_agent: Callable[..., Agent], protocol: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Agent]:
    """An agent whose model is the service; the key is a variable of the worker's."""
    monkeypatch.setenv(KEY, "sk-of-the-worker")

    def make(service: Any, **chosen: Any) -> Agent:
        given = {"protocol": protocol, "base_url": service.address, "key_variable": KEY, "retry_seconds": 0, **chosen}
        agent = make_agent("thinker", runtime="model", runtime_settings=given, model=PRICED[protocol])
        Agent.objects.filter(pk=agent.pk).update(workspace=str(workspace))
        return agent

    return make


def ended(loop: Loop) -> Loop:
    def look() -> bool:
        loop.refresh_from_db()
        return loop.ended

    wait_for(look, seconds=60, what=f"{loop.pk} to end")
    return loop


def test_a_loop_of_runs_with_tools_keeps_replies_cost_calls_and_commits(
    carrier: Carrier, on_a_model: Callable[..., Agent], serve: Any, workspace: Path, alice: Any
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    work = [Call("write", {"path": "a.txt", "content": "x\n"}), Call("shell", {"command": f"date +%N >> b; {COMMIT}"})]
    service = serve(Answer(work), Answer(["one"]), Answer(work), Answer(["two [[DONE]]"]))
    agent = on_a_model(service)

    loop = ended(start(agent, Viewer(user=alice), stop_signal="[[DONE]]"))

    runs = list(Execution.objects.filter(loop_id=loop.pk).order_by("run_number"))
    assert [run.response for run in runs] == ["one", "two [[DONE]]"]
    assert [run.error for run in runs] == ["", ""]
    assert all(run.cost_nano and run.cost_estimated and run.commits == 1 for run in runs)
    assert loop.stop_reason == "stop_signal_matched"
    assert all("sk-of-the-worker" in str(headers) for headers in service.headers)
    check_loop(loop)


def test_a_service_that_is_away_at_first_is_waited_for_and_no_run_fails(
    carrier: Carrier, on_a_model: Callable[..., Agent], serve: Any, alice: Any
) -> None:
    away = Refusal(429, "rate_limit_error", headers={"retry-after": "1"})
    agent = on_a_model(serve(away, Answer(["back"])))

    loop = ended(start(agent, Viewer(user=alice), max_runs=1))

    run = Execution.objects.get(loop_id=loop.pk)
    assert (loop.status, loop.failed_runs, run.response) == ("completed", 0, "back")
    assert run.attempt > 1
