"""What a runner holds its agent to: memory, processes, another account, a wrapper that outlives the first signals."""

import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from executions.runner.launch import Account
from tests.bubblewrap import needs_bubblewrap

MIB = 1024 * 1024
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may start an agent as another user")
HOG = "held = []\nwhile True:\n    held.append(bytearray(b'x' * (8 << 20)))\n    print(len(held), flush=True)\n"


def test_an_agent_that_takes_more_memory_than_it_may_is_killed(runner):
    runner.start_python(HOG, memory_bytes=200 * MIB)

    outcome = runner.outcome()

    assert (outcome.limit, outcome.timed_out, outcome.terminated) == ("memory", False, False)
    assert outcome.signal == signal.SIGKILL
    assert outcome.leftovers_alive == 0


def test_memory_counts_over_the_whole_tree_also_over_what_left_its_session(runner, pids_in, is_running):
    """No one of them holds as much as the limit; the agent itself holds next to nothing."""
    hold = "import os, time; print(os.getpid(), flush=True); held = bytearray(b'x' * (80 << 20)); time.sleep(60)"
    program = f'for n in 1 2 3; do setsid {sys.executable} -I -S -c "{hold}" >> pids & done; sleep 60'
    runner.start_shell(program, memory_bytes=200 * MIB)

    outcome = runner.outcome()

    assert outcome.limit == "memory"
    assert not any(is_running(pid) for pid in pids_in(runner.workspace / "pids", 3))


def test_memory_that_is_shared_counts_once(runner):
    """Five forks of one that holds 60 MiB share it: they hold 60 MiB and not 360."""
    runner.start_python(
        "import os, time\n"
        "held = bytearray(b'x' * (60 << 20))\n"
        "for _ in range(5):\n    if not os.fork(): time.sleep(2); os._exit(0)\n"
        "for _ in range(5): os.wait()\n",
        memory_bytes=200 * MIB,
    )

    outcome = runner.outcome()

    assert (outcome.limit, outcome.exit_code) == (None, 0)


def test_an_agent_within_its_limits_notices_nothing(runner):
    runner.start_python("print('done')", memory_bytes=500 * MIB, processes=3)

    outcome = runner.outcome()

    assert (outcome.limit, outcome.exit_code, runner.stdout()) == (None, 0, b"done\n")


def test_an_agent_with_more_processes_than_it_may_have_is_ended_with_all_of_them(runner, pids_in, is_running):
    runner.start_shell("for n in 1 2 3 4 5 6; do sleep 60 & echo $! >> pids; done; wait", processes=4)

    outcome = runner.outcome()

    assert (outcome.limit, outcome.leftovers_alive) == ("processes", 0)
    assert not any(is_running(pid) for pid in pids_in(runner.workspace / "pids", 6))


def test_what_forks_without_end_is_ended(runner):
    """Each child forks again and again, but for a stop after 3,000, should the limit not hold."""
    bomb = "import os, time\nfor _ in range(12):\n    os.fork()\n    time.sleep(0.05)\ntime.sleep(60)\n"
    runner.start_python(bomb, processes=20)

    outcome = runner.outcome(within=30)

    assert (outcome.limit, outcome.leftovers_alive) == ("processes", 0)


# --- another account ---------------------------------------------------------------------------------------


@pytest.fixture
def nobody() -> Account:
    found = pwd.getpwnam("nobody")
    return Account(found.pw_uid, found.pw_gid, (found.pw_gid,))


@pytest.fixture
def open_folder(nobody: Account) -> Iterator[Path]:
    """A folder of that account, below folders that it may enter (pytest's own it may not)."""
    with tempfile.TemporaryDirectory(prefix="trinity-test-") as folder:
        os.chmod(folder, 0o755)
        os.chown(folder, nobody.uid, nobody.gid)
        yield Path(folder)


@as_root
def test_an_agent_becomes_its_account_for_good_and_loses_all_power(runner, nobody, open_folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)
    runner.start_shell(
        "id -u; id -g; id -G; touch made;"
        " grep -E '^(CapEff|CapPrm|CapAmb|NoNewPrivs)' /proc/self/status | tr -d '\\t0';"
        f" for path in {secret} /etc/shadow; do cat $path 2>/dev/null || echo refused; done",
        account=nobody,
        cwd=open_folder,
    )

    assert runner.outcome().exit_code == 0
    ids = [str(nobody.uid), str(nobody.gid), str(nobody.gid)]
    powers = ["CapPrm:", "CapEff:", "CapAmb:", "NoNewPrivs:1"]
    assert runner.stdout().decode().split() == [*ids, *powers, "refused", "refused"]
    assert (open_folder / "made").stat().st_uid == nobody.uid


@as_root
def test_another_account_still_dies_with_its_runner(runner, nobody, open_folder, pids_in, is_running, eventually):
    runner.start_shell("echo $$ > pids; exec sleep 60", account=nobody, cwd=open_folder)
    (pid,) = pids_in(open_folder / "pids", 1)

    runner.kill()

    assert eventually(lambda: not is_running(pid))


@as_root
def test_another_account_is_ended_at_its_deadline_and_may_open_its_outputs(runner, nobody, open_folder):
    runner.start_shell(
        "trap 'echo cost > /dev/stdout; exit 0' INT; while :; do sleep 0.1; done",
        account=nobody,
        cwd=open_folder,
        timeout_seconds=1,
    )

    outcome = runner.outcome()

    assert (outcome.timed_out, runner.stdout()) == (True, b"cost\n")


@as_root
def test_the_kernel_refuses_that_account_more_processes_than_it_may_have(runner, nobody, open_folder):
    many = "for n in $(seq 50); do sleep 2 & echo $! >> pids; done"
    runner.start_shell(many, account=nobody, cwd=open_folder, limits={"RLIMIT_NPROC": 10})

    assert runner.outcome().exit_code != 0
    assert 0 < len((open_folder / "pids").read_text().split()) < 10


@as_root
def test_a_folder_that_the_account_may_not_enter_is_named(runner, nobody, tmp_path):
    tmp_path.chmod(0o700)
    runner.start("true", account=nobody, cwd=tmp_path)

    assert "may not be entered" in runner.outcome().start_error


@as_root
def test_commits_in_a_folder_of_that_account_are_counted(runner, nobody, open_folder):
    as_nobody = {"user": nobody.uid, "group": nobody.gid, "cwd": open_folder, "env": {"PATH": os.environ["PATH"]}}
    subprocess.run(["git", "init", "-q"], check=True, **as_nobody)
    commit = "git -c user.name=a -c user.email=a@example.org commit -q -m one"
    env = {"PATH": os.environ["PATH"], "HOME": str(open_folder)}

    runner.start_shell(f"echo one > f; git add f; {commit}", account=nobody, cwd=open_folder, git=True, env=env)

    assert runner.outcome().git.commits == 1


# --- a wrapper ---------------------------------------------------------------------------------------------


@needs_bubblewrap
@pytest.mark.parametrize("trapped", ["INT", "TERM"])
def test_what_is_wrapped_in_a_sandbox_still_hears_the_first_signals(runner, trapped):
    """Bubblewrap itself would die of them, and take what it wraps along."""
    wrapper = ["bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/"]
    program = (
        f"trap 'echo cost; exit 0' {trapped}; {'' if trapped == 'INT' else 'trap : INT;'} while :; do sleep 0.1; done"
    )
    runner.start(
        *wrapper,
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "sh",
        "-c",
        program,
        wrapped=True,
        timeout_seconds=1,
        grace_seconds=2,
    )

    outcome = runner.outcome()

    assert (outcome.timed_out, runner.stdout(), outcome.leftovers_alive) == (True, b"cost\n", 0)
