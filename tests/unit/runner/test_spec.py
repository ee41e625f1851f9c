"""A runner is given only bounds that make sense."""

from pathlib import Path

import pytest

from executions.runner.launch import RunnerSpec
from trinity.kernel.errors import Broken

RIGHT = {"argv": ("true",), "cwd": Path("/"), "timeout_seconds": 10}


def test_a_plain_spec_stands():
    assert RunnerSpec(**RIGHT).grace_seconds == 5


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("argv", ()),
        ("cwd", Path("relative")),
        ("timeout_seconds", 0),
        ("timeout_seconds", float("nan")),
        ("timeout_seconds", float("inf")),
        ("grace_seconds", -1),
        ("linger_seconds", -0.1),
        ("linger_seconds", float("nan")),
        ("head_bytes", -1),
        ("tail_bytes", 0),
        ("limits", {"CORE": 0}),
        ("memory_bytes", -1),
        ("processes", -1),
    ],
)
def test_a_bound_that_makes_no_sense_is_refused_by_name(name, wrong):
    with pytest.raises(Broken, match=name):
        RunnerSpec(**RIGHT | {name: wrong})
