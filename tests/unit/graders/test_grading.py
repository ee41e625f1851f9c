"""The service: one pass for all graders, the shape of its answer, errors by path, and a few words for tables."""

from typing import Any

import pytest

from graders import catalogue
from graders.grading import grade, summary
from graders.trajectory import Call, Step, Trajectory
from tests.unit.graders.making import EDIT, LIST, MAKE, loop_outcome, own, verdict
from trinity.kernel.errors import Refused


def test_the_answer_has_the_shape_of_the_rest_answer() -> None:
    answer = grade([{**loop_outcome(0), "name": "mine"}], own(MAKE, MAKE))

    assert list(answer) == ["results", "lint"]
    [result] = answer["results"]
    assert list(result) == ["type", "name", "status", "passed", "score", "kind", "evidence", "details"]
    assert (result["type"], result["name"], result["status"], result["kind"]) == ("loop-outcome", "mine", "ok", "code")
    assert (result["passed"], result["score"]) == (False, 0.0)


def test_several_graders_judge_in_one_pass_each_by_its_own_options() -> None:
    steps = iter([Step([Call("bash")])] * 3)  # can be walked only once
    graders = [loop_outcome(1), loop_outcome(2), loop_outcome(2, should_loop=True)]

    results = grade(graders, Trajectory(steps))["results"]

    assert [result["passed"] for result in results] == [False, True, False]
    assert [result["details"]["retries"] for result in results] == [2, 2, 2]


def test_no_trajectory_is_an_error_and_no_pass() -> None:
    [result] = grade([loop_outcome()], None)["results"]

    assert (result["status"], result["passed"], result["score"]) == ("error", None, None)
    assert summary(result) == "not graded"


@pytest.mark.parametrize(
    ("trajectory", "said"),
    [
        ({}, "known trajectory format"),
        ([], "the list is empty"),
        ("steps", 'must be an object, found "steps" (text)'),
        (3, "must be an object"),
        ({"steps": None}, "steps must be a list, found nothing (null)"),
        (own(format="trinity-trajectory/2"), 'format must be "trinity-trajectory/1"'),
        (own([MAKE], "x"), "step 2: must be a list of calls"),
        (own([MAKE], {"tool": "x"}, 5), "step 3"),
        (own([{"args": {}}]), "step 1: call 1: tool must be text, found nothing (null)"),
        (own([MAKE, 7]), "step 1: call 2 must be an object"),
        (own({**MAKE, "error": "yes"}), 'error must be true or false, found "yes" (text)'),
        (own({**MAKE, "agent": ["x"]}), "agent must be text"),
        (own({**MAKE, "id": {}}), "id must be text"),
        (own(end_reason=3), "end_reason must be text, found 3 (a number)"),
        (own(simulation=[]), "simulation must be an object"),
        (own(simulation={"max_iterations": "10"}), "simulation.max_iterations must be an integer ≥ 0"),
        (own(simulation={"max_iterations": True}), "simulation.max_iterations must be an integer ≥ 0"),
    ],
)
def test_a_trajectory_that_cannot_be_read_is_refused_with_place_and_reason(trajectory: Any, said: str) -> None:
    with pytest.raises(Refused) as refused:
        grade([loop_outcome()], trajectory)

    [(path, [sentence])] = refused.value.errors.items()
    assert path == "trajectory"
    assert said in sentence


def test_odd_but_valid_json_is_graded() -> None:
    odd = {
        "tool": "",
        "args": [None, {"": {"": [True, 1e308, -0.0, "\ud800", "\x00"]}}, 10**400],
        "result": {"deep": [[[[]]]]},
        "error": None,
        "agent": "\n",
        "id": 7,
        "unknown": {"key": 1},
    }
    trajectory = own([odd], [], {"event": {"any": "thing"}}, [odd, odd], note="unknown members are passed over")

    result = verdict(trajectory)

    assert (result["details"]["retries"], result["details"]["call_ids"]) == (1, ["7", "7", "7"])
    assert result["evidence"].encode("utf-8")


def test_a_trajectory_needs_no_format_when_its_steps_speak_for_it() -> None:
    assert verdict({"steps": [[MAKE], [MAKE]]})["details"]["retries"] == 1


def test_tuples_serve_as_lists() -> None:
    assert verdict({"steps": ((MAKE,), (MAKE,))})["details"]["retries"] == 1


@pytest.mark.parametrize(
    ("steps", "config", "words"),
    [
        ([LIST], {}, "no looping"),
        ([MAKE] * 4, {}, "no looping"),
        ([MAKE] * 5, {}, "bash ×5 in a row"),
        ([MAKE, EDIT] * 5, {"max_cycle_period": 2}, "bash, edit ×5 in a row"),
        ([[MAKE, EDIT], [LIST]] * 5, {"max_cycle_period": 2}, "bash + edit, bash ×5 in a row"),
        ([MAKE] * 5, {"should_loop": True}, "bash ×5 in a row (expected)"),
        ([MAKE], {"should_loop": True}, "no looping, though it was expected"),
    ],
)
def test_a_few_words_say_what_happened(steps: list, config: dict, words: str) -> None:
    assert summary(verdict(own(*steps), 3, **config)) == words


def test_a_few_words_say_that_the_cap_was_reached() -> None:
    assert summary(verdict(own(LIST, end_reason="simulation_cap"), 3)) == "reached the iteration cap"
    both = verdict(own(*[MAKE] * 5, end_reason="simulation_cap"), 3)
    assert summary(both) == "bash ×5 in a row, reached the iteration cap"


def test_the_catalogue_tells_each_graders_options_and_taxonomy() -> None:
    [entry] = [entry for entry in catalogue() if entry["type"] == "loop-outcome"]

    assert entry["taxonomy"] == {
        "determinism": "static",
        "cost": "free",
        "reference": "reference-free",
        "temporal_scope": "trajectory-level",
        "score_kind": "code",
    }
    options = {option["name"]: option for option in entry["options"]}
    assert list(options) == ["max_acceptable_retries", "should_loop", "match", "tools", "max_cycle_period"]
    assert options["max_acceptable_retries"]["required"] is True
    assert (options["max_cycle_period"]["minimum"], options["max_cycle_period"]["maximum"]) == (1, 10)
    assert options["match"]["choices"] == ["name-args", "name", "observation"]
    assert (options["should_loop"]["type"], options["should_loop"]["default"]) == ("boolean", False)
    assert all(option["meaning"] for option in options.values())
