"""What remains when the launcher, the runner or the machine's memory of a pid is gone."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from executions.runner import folder as files
from executions.runner import launch, state
from executions.runner.outcome import OutcomeDamaged
from executions.runner.vocabulary import RunnerState, StartResult

pytestmark = pytest.mark.slow

PROJECT = str(launch.PROGRAM.resolve().parents[2])


def test_a_run_survives_the_kill_of_its_launcher_and_of_all_its_group(runner):
    program = (
        f"import sys; sys.path.insert(0, {PROJECT!r})\n"
        "from pathlib import Path\n"
        "from executions.runner.launch import RunnerSpec, start\n"
        "loop = 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done'\n"
        f"workspace, folder = Path({str(runner.workspace)!r}), Path({str(runner.folder)!r})\n"
        "spec = RunnerSpec(argv=('sh', '-c', loop), cwd=workspace, timeout_seconds=30)\n"
        "print(start(folder, spec, stdin=b'', env={'PATH': '/usr/bin:/bin'}), flush=True)\n"
        "import time; time.sleep(60)"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert worker.stdout.readline() == "started\n"

    os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()

    assert runner.state is RunnerState.RUNNING
    assert runner.start("false") is StartResult.ALREADY_STARTED
    assert runner.outcome().exit_code == 0
    assert runner.stdout().split() == [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8"]


def test_a_killed_runner_takes_its_agent_along_and_is_lost_for_good(runner, eventually, is_running):
    runner.start_shell("echo $$; exec sleep 60")
    agent = int(eventually(runner.stdout))

    runner.kill()

    eventually(lambda: not is_running(agent))
    assert runner.state is RunnerState.LOST
    assert runner.start("true") is StartResult.ALREADY_STARTED
    assert not state.terminate(runner.folder)
    assert state.open_pidfd(runner.folder) is None
    assert state.last_printed(runner.folder, 100) == f"{agent}\n".encode()


def test_what_a_killed_runner_left_behind_is_killed(runner, pids_in, is_running, eventually):
    runner.start_shell(
        "echo $$ > agent; (setsid sh -c 'echo $$ >> pids; sleep 61 & echo $! >> pids; wait' &) ;"
        "sleep 62 & echo $! >> pids; wait"
    )
    left = pids_in(runner.workspace / "pids", 3)
    (agent,) = pids_in(runner.workspace / "agent", 1)
    runner.kill()
    eventually(lambda: not is_running(agent))
    assert all(is_running(pid) for pid in left)  # only the agent itself dies with its runner

    assert state.reap_lost(runner.folder) == 3

    assert not any(is_running(pid) for pid in left)
    assert state.reap_lost(runner.folder) == 0


def test_nothing_is_reaped_of_a_living_run_nor_of_another_folder(new_runner, pids_in, is_running):
    lost, living = (
        new_runner(),
        new_runner(new_runner().folder.with_name("exec_0.10")),
    )  # a name that begins alike
    living.start_shell("setsid sleep 60 & echo $! > pids_of_living; wait")
    lost.start("sleep", "60")
    (pid,) = pids_in(living.workspace / "pids_of_living", 1)
    lost.kill()

    state.reap_lost(lost.folder)

    assert state.reap_lost(living.folder) == 0
    assert living.state is RunnerState.RUNNING
    assert is_running(pid)


def test_a_runner_that_fails_itself_leaves_nothing_running_and_says_why(runner, pids_in, is_running):
    (runner.workspace / "spool").symlink_to(runner.folder)
    runner.start_shell("mkdir -p spool/outcome.json/x; setsid sleep 60 & echo $! >> pids; echo $$ >> pids; wait")
    left = pids_in(runner.workspace / "pids", 2)

    os.kill(runner.pid, signal.SIGTERM)

    with pytest.raises(OutcomeDamaged):
        runner.outcome()
    assert not any(is_running(pid) for pid in left)
    assert "IsADirectoryError" in (runner.folder / files.LOG).read_text()


def test_a_watcher_is_woken_when_the_run_has_ended_and_finds_it_finished(runner):
    runner.start("sleep", "0.3")
    pidfd = state.open_pidfd(runner.folder)
    end = select.poll()
    end.register(pidfd, select.POLLIN)

    assert runner.state is RunnerState.RUNNING
    assert not end.poll(0)
    assert end.poll(5000)

    os.close(pidfd)
    assert runner.state is RunnerState.FINISHED
    assert state.open_pidfd(runner.folder) is None


def test_a_run_that_ends_at_once_is_never_taken_for_lost(new_runner):
    for runner in [new_runner() for _ in range(10)]:
        seen = []
        with ThreadPoolExecutor(1) as thread:
            started = thread.submit(runner.start, "true")
            while not seen or seen[-1] is not RunnerState.FINISHED:
                seen.append(runner.state)
                assert not (started.done() and started.exception())
        assert [seen[n] for n in range(len(seen)) if n == 0 or seen[n] is not seen[n - 1]] in (
            [RunnerState.NEW, RunnerState.RUNNING, RunnerState.FINISHED],
            [RunnerState.NEW, RunnerState.FINISHED],
        )


def test_a_pid_of_another_boot_or_of_a_later_stranger_is_not_taken_for_the_runner(runner, eventually):
    runner.start("sleep", "60")
    mark = runner.folder / files.START_MARK
    pid, boot, ticks = mark.read_text().split()

    for stranger in (
        f"{pid} 00000000-0000-0000-0000-000000000000 {ticks}",
        f"{pid} {boot} {int(ticks) + 1}",
        f"{2**22 + 1} {boot} {ticks}",  # above any pid
        f"{pid} {boot}",  # still being written
        "",
    ):
        mark.write_text(stranger)
        assert state.open_pidfd(runner.folder) is None
        assert not state.terminate(runner.folder)

    mark.write_text(f"{pid} {boot} {ticks}\n")
    assert state.terminate(runner.folder)


def test_a_folder_that_is_not_there_is_new(runner):
    assert runner.state is RunnerState.NEW
    assert state.open_pidfd(runner.folder) is None
    assert not state.terminate(runner.folder)
    assert state.reap_lost(runner.folder) == 0
    assert state.last_printed(runner.folder, 100) == b""
    with pytest.raises(OutcomeDamaged):
        state.outcome(runner.folder)


def test_many_readers_do_not_keep_a_run_from_starting(new_runner, eventually):
    runner = new_runner()
    runner.folder.mkdir(parents=True)
    (runner.folder / files.LOCK).touch()
    asker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys\n"
            "while True:\n"
            "    with open(sys.argv[1]) as lock: fcntl.flock(lock, fcntl.LOCK_SH); print(flush=True)",
            str(runner.folder / files.LOCK),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        asker.stdout.readline()
        assert runner.start("true") is StartResult.STARTED
    finally:
        asker.kill()
        asker.communicate()
