"""A short chaos run of a fixed seed; `script/chaos --seed N --minutes M` runs longer ones."""

from pathlib import Path

import pytest

from tests.journeys.chaos import Report, Size, run_chaos

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]
SEED = 7
SHORT = Size(seconds=18, loops=16, runs=4)


def test_whatever_dies_nothing_is_lost_and_nothing_is_carried_out_twice(tmp_path: Path) -> None:
    report: Report = run_chaos(SEED, SHORT, tmp_path)

    print(report.in_words())
    assert report.wrong == []
    assert sum(report.faults.values()) >= 6
    assert sum(report.loops.values()) == SHORT.loops
