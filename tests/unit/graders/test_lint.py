"""What lint warns of."""

import pytest

from graders.grading import grade
from tests.unit.graders.making import MAKE, loop_outcome, own


def lint(limit: int, in_trajectory: int | None, in_config: int | None = None) -> list[str]:
    simulation = None if in_trajectory is None else {"max_iterations": in_trajectory}
    answer = grade([loop_outcome(limit)], own(MAKE, simulation=simulation), max_iterations=in_config)
    return [warned["code"] for warned in answer["lint"]]


@pytest.mark.parametrize(
    ("limit", "iterations", "warns"), [(9, 10, True), (10, 10, True), (8, 10, False), (0, 1, True), (0, 2, False)]
)
def test_a_limit_that_cannot_be_exceeded_is_warned_of(limit: int, iterations: int, warns: bool) -> None:
    assert lint(limit, iterations) == (["retry-signal-unreachable"] if warns else [])


def test_the_trajectorys_own_number_outranks_the_configs() -> None:
    assert lint(5, 100, in_config=3) == []
    assert lint(5, 3, in_config=100) == ["retry-signal-unreachable"]
    assert lint(5, None, in_config=3) == ["retry-signal-unreachable"]


def test_without_a_number_there_is_nothing_to_warn_of() -> None:
    assert lint(10**6, None) == []


def test_a_warning_names_its_grader_and_both_numbers() -> None:
    graders = [loop_outcome(1), {**loop_outcome(9), "name": "mine"}]

    [warned] = grade(graders, own(simulation={"max_iterations": 10}))["lint"]

    assert warned == {
        "code": "retry-signal-unreachable",
        "grader": "graders[1]",
        "message": (
            'loop-outcome "mine": max_acceptable_retries is 9, but 10 iterations allow at most 9 retries in a row: '
            "only the iteration cap can count as a loop."
        ),
    }
