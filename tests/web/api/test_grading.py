"""Grading over REST: the vectors, what is refused, and an execution's own trajectory."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.viewers import Viewer
from agents.runtimes.base import Ending, Outcome
from executions.grading import grade_execution
from executions.models import Verdict
from executions.services import settle, take
from tests.conftest import load_json
from tests.engine import WORKER, queue_chat, start, success
from tests.web.api.calling import Caller

VECTORS = load_json("graders/loop_outcome.json")["vectors"]
STRICT = {"type": "loop-outcome", "config": {"max_acceptable_retries": 0}}


def trajectory_of(vector: dict[str, Any]) -> dict[str, Any]:
    found = {"format": "trinity-trajectory/1", "steps": vector["steps"], "end_reason": vector["end_reason"]}
    return found | ({"simulation": vector["simulation"]} if "simulation" in vector else {})


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: f"{one['id']} {one['title']}")
def test_a_vector_is_judged_as_expected(as_alice: Caller, vector: dict[str, Any]) -> None:
    body = {
        "graders": [{"type": "loop-outcome", "config": vector["config"]}],
        "trajectory": trajectory_of(vector),
    }

    answer = as_alice.post("/api/graders/grade", body)

    expected = vector["expected"]
    if "config_error" in expected:
        assert answer.status_code == 400
        assert any(expected["config_error"] in path for path in answer.json()["errors"])
        return
    result = answer.json()["results"][0]
    assert (result["passed"], result["score"], result["status"]) == (expected["passed"], expected["score"], "ok")
    for name in ("looped", "retries", "signals"):
        assert result["details"][name] == expected[name]
    if "lint" in vector:
        assert [warning["code"] for warning in answer.json()["lint"]] == vector["lint"]


def test_the_catalogue_says_what_the_grader_is(as_alice: Caller) -> None:
    (found,) = as_alice.get("/api/graders/").json()

    assert found["type"] == "loop-outcome"
    assert found["taxonomy"] == {
        "determinism": "static",
        "cost": "free",
        "reference": "reference-free",
        "temporal_scope": "trajectory-level",
        "score_kind": "code",
    }
    assert {option["name"] for option in found["options"] if option["required"]} == {"max_acceptable_retries"}


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"trajectory": {"steps": []}}, "graders"),
        ({"graders": [STRICT]}, "trajectory"),
        ({"graders": [STRICT], "trajectory": {}, "execution_id": "exec_1"}, "trajectory"),
        ({"graders": [STRICT], "execution_id": 3}, "execution_id"),
        ({"graders": [STRICT], "trajectory": {"steps": 3}}, "trajectory"),
        ({"graders": [{"type": "loop-outcom", "config": {}}], "trajectory": {"steps": []}}, "graders[0].type"),
        ({"graders": [STRICT], "trajectory": {"steps": []}, "lint": True}, "lint"),
    ],
)
def test_a_wrong_request_is_refused_at_its_field(as_alice: Caller, body: dict[str, Any], at: str) -> None:
    answer = as_alice.post("/api/graders/grade", body)

    assert answer.status_code == 400
    assert at in answer.json()["errors"]


@pytest.fixture
def spun(agent: Any, alice: Any) -> Any:
    """An execution whose agent issued the same call five times."""
    start(agent, Viewer(user=alice), max_runs=1)
    execution = take(agent.pk, WORKER)
    call = {"tool": "bash", "args": {"command": "make"}, "result": "error"}
    settle(execution, Outcome(Ending.COMPLETED, response="done", steps=((call,),) * 5))
    return execution


def test_the_trajectory_of_an_execution_is_graded(as_alice: Caller, spun: Any) -> None:
    answer = as_alice.post("/api/graders/grade", {"graders": [STRICT], "execution_id": spun.pk})

    assert answer.json()["results"][0]["details"]["retries"] == 4
    assert not Verdict.objects.exists(), "nothing is stored"


def test_an_execution_that_still_runs_is_refused(as_alice: Caller, agent: Any) -> None:
    execution = queue_chat(agent)

    answer = as_alice.post("/api/graders/grade", {"graders": [STRICT], "execution_id": execution.pk})

    assert answer.status_code == 409


def test_an_execution_without_a_trajectory_is_an_error_and_no_pass(as_alice: Caller, agent: Any) -> None:
    execution = queue_chat(agent)
    taken = take(agent.pk, WORKER)
    settle(taken, success())

    answer = as_alice.post("/api/graders/grade", {"graders": [STRICT], "execution_id": execution.pk})

    (result,) = answer.json()["results"]
    assert (result["status"], result["passed"], result["score"]) == ("error", None, None)


def test_anothers_execution_is_not_there(as_mallory: Caller, spun: Any) -> None:
    answer = as_mallory.post("/api/graders/grade", {"graders": [STRICT], "execution_id": spun.pk})

    assert answer.status_code == 404


def test_the_verdict_stands_with_the_execution_and_in_the_loops_runs(as_alice: Caller, spun: Any) -> None:
    grade_execution(spun.pk)

    execution = as_alice.get(f"/api/executions/{spun.pk}").json()
    loop = as_alice.get(f"/api/loops/{spun.loop_id}").json()

    assert execution["verdicts"][0]["summary"] == "bash ×5 in a row"
    assert execution["verdicts"][0]["passed"] is False
    assert loop["runs"][0]["verdicts"] == [{"type": "loop-outcome", "passed": False, "summary": "bash ×5 in a row"}]


@pytest.mark.parametrize(("verdict", "count"), [("failed", 1), ("passed", 0), ("error", 0)])
def test_executions_are_listed_by_verdict(as_alice: Caller, spun: Any, verdict: str, count: int) -> None:
    grade_execution(spun.pk)

    assert len(as_alice.get(f"/api/executions?verdict={verdict}").json()) == count


@pytest.mark.parametrize(
    ("graders", "at"),
    [
        ([{"type": "loop-outcome", "config": {}}], "graders[0].config.max_acceptable_retries"),
        ([{"type": "nothing", "config": {}}], "graders[0].type"),
    ],
)
def test_an_agent_is_not_given_wrong_graders(
    as_alice: Caller, agent: Any, graders: list[Any], at: str, make_agent: Callable[..., Any]
) -> None:
    answer = as_alice.patch(f"/api/agents/{agent.name}", {"graders": graders})

    assert answer.status_code == 400
    assert at in answer.json()["errors"]
    agent.refresh_from_db()
    assert agent.graders is None
