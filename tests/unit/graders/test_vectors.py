"""All vectors of loop_outcome.json, through the service that REST and the agents' settings call."""

import json
from typing import Any

import pytest

from graders.grading import grade
from tests.unit.graders.making import DATA
from trinity.kernel.errors import Refused

VECTORS = json.loads((DATA / "graders" / "loop_outcome.json").read_text(encoding="utf-8"))["vectors"]


def asked(vector: dict[str, Any]) -> dict[str, Any]:
    graders = [{"type": "loop-outcome", "config": vector["config"]}]
    trajectory = {key: vector[key] for key in ("steps", "end_reason", "simulation") if key in vector}
    answer = grade(graders, {"format": "trinity-trajectory/1", **trajectory})
    return json.loads(json.dumps(answer))  # the answer is plain JSON


@pytest.mark.parametrize("vector", [v for v in VECTORS if "config_error" not in v["expected"]], ids=lambda v: v["id"])
def test_a_vector_gets_the_verdict_that_it_expects(vector: dict[str, Any]) -> None:
    answer = asked(vector)

    [result] = answer["results"]
    said = {key: result[key] for key in ("passed", "score")}
    said |= {key: result["details"][key] for key in ("looped", "retries", "signals")}
    assert said == vector["expected"], vector["why"]
    assert result["status"] == "ok"
    if "lint" in vector:
        assert [warned["code"] for warned in answer["lint"]] == vector["lint"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if "config_error" in v["expected"]], ids=lambda v: v["id"])
def test_a_vector_with_a_wrong_config_is_refused_at_its_key(vector: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        asked(vector)

    assert list(refused.value.errors) == [f"graders[0].config.{vector['expected']['config_error']}"], vector["why"]


def test_there_are_vectors_of_every_kind() -> None:
    assert len(VECTORS) == 58
    assert {vector["id"][0] for vector in VECTORS} == set("TSCLPNKMEFAXY")
