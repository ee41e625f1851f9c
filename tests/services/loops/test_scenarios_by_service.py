"""All scenarios of loops.json through the real service: a scripted agent and a clock that stands still."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.registry import runtime
from executions.services import Claimant, settle, take
from executions.worker.calls import call_of
from loops import services
from loops.invariants import check_loop
from loops.models import Loop
from loops.parameters import read_parameters
from loops.words import loop_words
from tests.conftest import StillClock
from tests.scenarios import Played, Scenario, dollars, scenarios

WORKER = Claimant(worker="w1", host="h1", spool_id="s1", place="default", lease_seconds=30)


def play(scenario: Scenario, agent: Any, viewer: Viewer, clock: StillClock) -> Loop:
    loop = services.start_loop(viewer, agent, read_parameters(scenario.loop))
    if scenario.stops("before_run", 1):
        services.request_stop(viewer, loop)
    execution = take(agent.pk, WORKER)
    while True:
        while execution is not None:
            answer = runtime(agent.runtime).answer(call_of(execution), agent.runtime_settings)
            if scenario.stops("during_run", execution.run_number):
                services.request_stop(viewer, loop)
            clock.pass_seconds((answer.duration_ms or 0) / 1000)
            execution = settle(execution, answer, WORKER)
        loop.refresh_from_db()
        if loop.ended:
            return loop
        assert loop.next_run_at is not None, "a loop that is neither over nor parked has a run"
        if scenario.stops("while_parked", loop.runs_completed + 1):
            services.request_stop(viewer, loop)
            continue
        clock.now = loop.next_run_at
        assert services.end_due_parks(clock.now, 10) == 1
        execution = take(agent.pk, WORKER)


def played(loop: Loop, viewer: Viewer) -> Played:
    runs = list(loop.runs.select_related("execution"))
    return Played(
        status=loop.status,
        stop_reason=loop.stop_reason,
        runs_completed=loop.runs_completed,
        failed_runs=loop.failed_runs,
        total_cost_usd=dollars(loop.spent_nano),
        last_response=loop.last_response,
        error=loop.error or None,
        run_statuses=[run.execution.status for run in runs],
        prompts=[run.execution.prompt for run in runs],
        words=loop_words(
            loop.status, loop.stop_reason, stopped_by_viewer=loop.stop_requested_by == viewer.user
        ).workspace,
    )


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda one: f"{one.id} {one.title}")
def test_the_service_ends_the_loop_as_expected(
    scenario: Scenario, make_agent: Callable[..., Any], alice: Any, still_clock: StillClock
) -> None:
    agent = make_agent(runtime_settings={"replies": scenario.replies}, execution_timeout_seconds=900)
    viewer = Viewer(user=alice)

    loop = play(scenario, agent, viewer, still_clock)

    assert played(loop, viewer).differences(scenario.expected) == {}
    assert check_loop(loop) == []
