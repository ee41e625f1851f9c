"""script/bench: what it calls met, what it makes of rounds, and that nothing it started outlives it."""

import json
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from bench_parts import peers, usage
from bench_parts.bench import Bench
from bench_parts.contending import Contender, contend
from bench_parts.programs import Failed, Program, environment, wait_until
from bench_parts.protocol import Shape, measured, percentile
from bench_parts.report import Bar, Figure, of_rounds, paired, table, write_json
from packages import Unavailable

pytestmark = pytest.mark.once
SHAPE = Shape(loops=2, runs=5)
CLAIMS_A_RATE = (
    "from bench_parts.protocol import Measured, answer\n"
    "answer(lambda shape: Measured(shape.steps / {rate}, 1.0, 2.0))\n"
)


def program(tmp_path: Path, source: str, **how: Any) -> Program:
    return Program([sys.executable, "-c", source], environment(), tmp_path / "log", **how)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A benchmark that starts no server."""
    return Bench(servers=None, folder=tmp_path, quick=True, rounds=3)  # type: ignore[arg-type]


@pytest.fixture
def contender(tmp_path: Path) -> Any:
    """Makes a contender that claims so many steps per second."""
    with ExitStack() as until_the_end:

        def make(name: str, rate: float, source: str = CLAIMS_A_RATE) -> Contender:
            made = until_the_end.enter_context(program(tmp_path, source.format(rate=rate), talks=True))
            made.says()
            return Contender(name, [made])

        yield make


@pytest.mark.parametrize(
    ("bar", "number", "met"),
    [
        (Bar(least=1.3), 1.3, True),
        (Bar(least=1.3), 1.29, False),
        (Bar(most=3), 3.0, True),
        (Bar(most=3), 3.01, False),
        (Bar(most=3), math.nan, False),
        (Bar(least=0.6), math.nan, False),
    ],
)
def test_a_bar_is_met_up_to_its_edge_and_never_by_nothing(bar: Bar, number: float, met: bool) -> None:
    assert bar.met_by(number) is met


def test_a_bar_is_for_the_ratio_unless_it_is_said_to_be_for_the_number() -> None:
    ratio = Figure("s", "w", 40.0, "ms", ratio=2.0, bar=Bar(most=1.2))
    number = Figure("s", "w", 40.0, "ms", ratio=2.0, bar=Bar(most=50), bar_is_for_number=True)

    assert (ratio.verdict, number.verdict) == ("not met", "met")


def test_a_comparison_is_the_median_of_each_rounds_own_ratio() -> None:
    slow_machine_in_round_two = paired("peer", [200.0, 20.0, 220.0], [100.0, 10.0, 100.0])

    assert slow_machine_in_round_two == {"against": "peer (100)", "ratio": 2.0}


def test_a_comparison_with_nobody_has_no_ratio() -> None:
    figure = of_rounds("s", "w", [1.0], "ms", **paired("peer", [1.0], []), bar=None)

    assert figure.ratio is None


def test_gaps_are_between_the_runs_of_one_loop_only() -> None:
    found = measured(1.0, [[0.0, 0.010, 0.030], [5.0, 5.020]])

    assert (round(found.gap_ms_p50), round(found.gap_ms_p99)) == (20, 20)


def test_a_percentile_is_one_of_the_numbers() -> None:
    hundred = list(range(100, 0, -1))

    assert [percentile(hundred, part) for part in (0.5, 0.99, 1.0)] == [50, 99, 100]
    assert math.isnan(percentile([], 0.5))


def test_the_table_and_the_json_tell_the_same(tmp_path: Path) -> None:
    figures = [
        of_rounds("steps", "Trinity", [100.0, 300.0, 200.0], "steps/s", **paired("peer", [200.0], [100.0])),
        Figure("steps", "nothing", math.nan, "ms", bar=Bar(most=3)),
    ]
    write_json(tmp_path / "figures.json", {"cores": 2}, figures, ["peer: no network"])
    told = json.loads((tmp_path / "figures.json").read_text())
    lines = table(figures).splitlines()

    assert "200 steps/s (100–300)" in lines[2] and "2.00" in lines[2]  # noqa: PT018
    assert "— ms" in lines[3] and "not met" in lines[3]  # noqa: PT018
    assert len({len(line) for line in lines}) == 1
    assert [row["number"] for row in told["figures"]] == [200.0, None]
    assert told["figures"][1]["verdict"] == "not met"
    assert told["not_measured"] == ["peer: no network"]


def test_contenders_take_turns_and_one_that_fails_is_told_of_and_left_out(bench: Bench, contender: Any) -> None:
    good = contender("trinity", 100)
    failing = contender("floor", 0, "print('ready', flush=True)\ninput()\nraise SystemExit('no such table')\n")
    other = contender("dbos", 50)

    contend(bench, [good, failing, other], [SHAPE])

    assert [round(rate) for rate in good.steps_per_second(SHAPE)] == [100, 100, 100]
    assert [round(rate) for rate in other.steps_per_second(SHAPE)] == [50, 50, 50]
    assert failing.steps_per_second(SHAPE) == []
    assert "no such table" in bench.not_measured[0]


def test_a_contender_that_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_parts.programs.ANSWER_SECONDS", 0.05)

    with program(tmp_path, "input()", talks=True) as one, pytest.raises(Failed, match="did not answer"):
        one.says()


def test_a_contender_that_ended_says_why(tmp_path: Path) -> None:
    with (
        program(tmp_path, "raise SystemExit('not today')", talks=True) as one,
        pytest.raises(Failed, match="not today"),
    ):
        one.says()


@pytest.mark.parametrize("talks", [True, False])
def test_what_a_program_started_ends_with_it(tmp_path: Path, talks: bool) -> None:
    child = tmp_path / "child"
    source = (
        "import pathlib, subprocess, sys, time\n"
        f"pid = subprocess.Popen(['sleep', '300']).pid\npathlib.Path({str(child)!r}).write_text(str(pid))\n"
        f"{'sys.stdin.read()' if talks else 'time.sleep(300)'}\n"
    )
    with program(tmp_path, source, talks=talks):
        wait_until(lambda: child.exists() and bool(child.read_text()), "the child")
        assert runs(int(child.read_text()))

    wait_until(lambda: not runs(int(child.read_text())), "the child to be gone", seconds=5)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not usage.PROC.is_dir(), reason="there is no /proc here")
def test_processor_time_and_memory_are_those_of_the_program_and_its_children(tmp_path: Path) -> None:
    source = (
        "import subprocess, sys, time\n"
        "busy = 'import time\\nheld = bytes(range(256)) * 200_000\\n"
        "while time.process_time() < 0.3: pass\\ntime.sleep(300)'\n"
        "subprocess.Popen([sys.executable, '-c', busy])\nsys.stdin.read()\n"
    )
    with program(tmp_path, source, talks=True) as one:
        wait_until(lambda: (usage.processor_seconds([one]) or 0) >= 0.3, "the child's work")
        assert (usage.resident_mib([one]) or 0) > 48


def test_peers_that_cannot_be_had_are_said_to_be_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pins = tmp_path / "pins.txt"
    pins.write_text("dbos==3.4.0 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.setattr(peers, "PINS", pins)
    monkeypatch.setattr(peers, "VENV", tmp_path / "peers")
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(Unavailable, match="environment cannot be made"):
        peers.peers_python()

    assert not (tmp_path / "peers" / ".installed").exists()
