"""The embedded server, used from outside: the main job, restarts at the worst moments, one server only."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.journeys.conftest import Witness
from tests.journeys.server import EmbeddedServer, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.once]


def test_a_loop_over_the_inbox_leaves_one_summary_per_text(server: EmbeddedServer) -> None:
    workspace = server.home / "agents" / "inbox" / "workspace"
    texts = {path.name for path in (workspace / "inbox").iterdir()}
    assert len(texts) >= 12

    loop_id = server.start_loop(
        "inbox", message="Summarise the next text. Reply [[DONE]] when none is left.", max_runs=20,
        stop_signal="[[DONE]]",
    )  # fmt: skip
    loop = server.ended_loop(loop_id)

    assert (loop["status"], loop["stop_reason"]) == ("completed", "stop_signal_matched")
    assert loop["runs_completed"] == len(texts) + 1
    assert {path.name for path in (workspace / "done").iterdir()} == texts
    assert len(list((workspace / "outbox").iterdir())) == len(texts)
    assert list((workspace / "inbox").iterdir()) == []


def test_a_second_server_on_the_same_data_is_refused_with_a_sentence(server: EmbeddedServer) -> None:
    second = server.manage("serve")

    assert second.returncode != 0
    assert "Another Trinity server" in second.stderr
    assert str(server.process.pid) in second.stderr


def test_what_a_command_wrote_beside_the_server_is_carried_out(server: EmbeddedServer) -> None:
    followed = server.manage("loop", "practice", "say a number", "--max-runs", "2", "--follow")

    assert followed.returncode == 0, followed.stderr
    assert "run   2 / 2" in followed.stdout
    assert "completed · reached max runs" in followed.stdout


def test_the_exit_code_of_a_followed_loop_says_how_it_ended(server: EmbeddedServer) -> None:
    failed = server.manage("loop", "practice", "always fail", "--max-runs", "2", "--follow")

    assert failed.returncode == 5
    assert "failed · error" in failed.stdout


def test_a_closed_terminal_does_not_end_the_server(server: EmbeddedServer) -> None:
    server.send(signal.SIGHUP)

    assert server.get("/healthz", key=None)[0] == 200


def test_term_ends_the_server_at_once_and_the_run_in_flight_goes_on(server: EmbeddedServer, witness: Witness) -> None:
    server.add_agent("slow", witness.argv(4))
    loop_id = server.start_loop("slow", message="go", max_runs=2)
    wait_for(lambda: witness.runs_of(loop_id) == [1], what="run 1")

    began = time.monotonic()
    server.send(signal.SIGTERM)
    assert server.wait(5) == 0
    assert time.monotonic() - began < 5
    server.start()
    loop = server.ended_loop(loop_id)

    assert loop["status"] == "completed"
    assert [run["status"] for run in loop["runs"]] == ["completed", "completed"]
    assert witness.runs_of(loop_id) == [1, 2]


def test_a_killed_server_goes_on_with_a_parked_a_waiting_and_a_working_loop(
    server: EmbeddedServer, witness: Witness
) -> None:
    server.add_agent("parker", witness.argv(0), max_parallel_tasks=1)
    server.add_agent("worker", witness.argv(3), max_parallel_tasks=1)
    parked = server.start_loop("parker", message="go", max_runs=3, delay_seconds=3)
    working = server.start_loop("worker", message="go", max_runs=2)
    waiting = server.start_loop("worker", message="go", max_runs=2)
    wait_for(lambda: server.loop(parked)["next_run_at"], what="the park")
    wait_for(lambda: witness.runs_of(working) == [1], what="a run in flight")
    assert server.loop(waiting)["status"] == "queued"

    server.kill()
    server.start()
    loops = [server.ended_loop(one) for one in (parked, working, waiting)]

    assert [loop["status"] for loop in loops] == ["completed"] * 3
    assert [witness.runs_of(one) for one in (parked, working, waiting)] == [[1, 2, 3], [1, 2], [1, 2]]
    assert all(run["status"] == "completed" for loop in loops for run in loop["runs"])
    assert server.manage("check_loops").returncode == 0


def test_three_kills_in_a_row_double_and_lose_nothing(server: EmbeddedServer, witness: Witness) -> None:
    server.add_agent("steady", witness.argv(0.7))
    loop_id = server.start_loop("steady", message="go", max_runs=8)

    for run in (1, 3, 5):
        wait_for(lambda run=run: run in witness.runs_of(loop_id), what=f"run {run}")
        server.kill()
        server.start()
    loop = server.ended_loop(loop_id)

    assert loop["status"] == "completed"
    assert witness.runs_of(loop_id) == list(range(1, 9))


def test_the_key_and_the_password_are_readable_by_their_owner_only(server: EmbeddedServer) -> None:
    for name in ("admin-password", "admin-api-key", "secret-key"):
        assert os.stat(server.home / name).st_mode & 0o777 == 0o600, name


def test_sixty_slow_loops_go_on_at_once(server: EmbeddedServer, witness: Witness) -> None:
    server.add_agent("crowd", witness.argv(6), max_parallel_tasks=60)
    threads_before = _threads(server)

    loops = [server.start_loop("crowd", message=f"go {number}", max_runs=1) for number in range(60)]

    def in_flight() -> bool:
        return sum(bool(witness.runs_of(one)) for one in loops) == 60

    wait_for(in_flight, seconds=30, what="sixty runs in flight")
    assert all(server.loop(one)["status"] == "running" for one in loops[:1] + loops[-1:])
    assert _threads(server) <= threads_before + 12, "a run in flight costs no thread"
    assert {server.ended_loop(one)["status"] for one in loops} == {"completed"}


def _threads(server: EmbeddedServer) -> int:
    assert server.process is not None
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))
