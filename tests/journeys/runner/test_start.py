"""How a run starts: at most once, quickly, with exactly what it was given; on real processes."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from executions.runner import folder as files
from executions.runner import launch
from executions.runner.launch import RunnerNotStarted
from executions.runner.vocabulary import RunnerState, StartResult

pytestmark = pytest.mark.slow

PROJECT = Path(launch.__file__).resolve().parents[2]


def test_a_run_leaves_its_output_and_its_outcome(runner):
    assert runner.state is RunnerState.NEW

    result = runner.start_shell("echo héllo; echo err >&2; exit 7")

    outcome = runner.outcome()
    assert result is StartResult.STARTED
    assert runner.stdout() == "héllo\n".encode()
    assert runner.stderr() == b"err\n"
    assert (outcome.exit_code, outcome.signal, outcome.start_error) == (7, None, None)
    assert (outcome.timed_out, outcome.terminated, outcome.hung) == (False, False, False)
    assert (outcome.stdout_bytes, outcome.truncated_bytes, outcome.spool_error) == (7, 0, None)
    assert outcome.started_at <= outcome.ended_at
    assert outcome.max_rss_bytes > 100_000
    assert (runner.folder / files.OUTCOME).stat().st_size <= files.OUTCOME_BYTES


def test_a_folder_is_started_once_and_never_again(runner):
    runner.start_shell("echo once")
    runner.outcome()

    assert runner.start_shell("echo twice") is StartResult.ALREADY_STARTED
    assert runner.stdout() == b"once\n"


def test_of_many_launchers_of_one_folder_one_starts_it(runner, tmp_path):
    count = tmp_path / "count"
    together = threading.Barrier(12)

    def launch_together(_: int) -> StartResult:
        together.wait()
        return runner.start_shell(f"echo x >> {count}")

    with ThreadPoolExecutor(12) as threads:
        results = list(threads.map(launch_together, range(12)))

    runner.outcome()
    assert results.count(StartResult.STARTED) == 1
    assert results.count(StartResult.ALREADY_STARTED) == 11
    assert count.read_text() == "x\n"


def test_many_threads_start_many_runs_at_once(new_runner):
    runners = [new_runner() for _ in range(16)]

    with ThreadPoolExecutor(16) as threads:
        results = list(threads.map(lambda runner: runner.start("sh", "-c", "cat", stdin=b"hi"), runners))

    assert set(results) == {StartResult.STARTED}
    assert [runner.outcome().exit_code for runner in runners] == [0] * 16
    assert {runner.stdout() for runner in runners} == {b"hi"}


def test_the_agent_gets_exactly_the_given_environment_and_the_mark(runner):
    runner.start("env", "-0", env={"PATH": "/usr/bin:/bin", "NAME": "Zoë\nof two lines", "EMPTY": ""})

    runner.outcome()
    assert sorted(runner.stdout().decode().strip("\0").split("\0")) == [
        "EMPTY=",
        "NAME=Zoë\nof two lines",
        "PATH=/usr/bin:/bin",
        f"TRINITY_SPOOL={runner.folder}",
    ]


def test_no_secret_of_the_environment_is_written_to_the_disk(runner):
    runner.start_shell("sleep 0", env={"PATH": "/usr/bin:/bin", "TRINITY_API_KEY": "hush-hush"})

    runner.outcome()
    assert not [path for path in runner.folder.iterdir() if b"hush-hush" in path.read_bytes()]


def test_the_spool_is_readable_only_by_the_account_that_runs_trinity(runner):
    runner.start_shell("umask")

    runner.outcome()
    assert runner.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in runner.folder.iterdir()} == {0}
    umask = os.umask(0)
    os.umask(umask)
    assert int(runner.stdout(), 8) == umask  # the agent keeps the account's own


def test_a_long_prompt_arrives_whole_at_a_slow_reader(runner):
    prompt = "é".encode() * 1_000_000
    slow = "import os\nn = 0\nwhile chunk := os.read(0, 4096): n += len(chunk)\nprint(n)"

    runner.start_python(slow, stdin=prompt)

    assert runner.outcome().exit_code == 0
    assert runner.stdout() == b"2000000\n"


def test_a_long_prompt_that_is_never_read_holds_nothing_up(runner):
    runner.start("true", stdin=b"x" * 5_000_000)

    assert runner.outcome().exit_code == 0


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["/no/such/program"], "The program /no/such/program is not there."),
        (["no-such-program"], "The program no-such-program was not found in the folders of PATH."),
        (["./no-such-program"], "The program ./no-such-program is not there."),
        (["/etc/hostname/x"], "The program /etc/hostname/x is not there."),
        (["./plain"], "it may not be executed"),
        (["./text"], "it is no program for this machine"),
        (["./orphan"], "The interpreter that the first line of ./orphan names is not there."),
        (["true", "x" * 200_000], "its argument list is too long"),
        (["true", "a\0b"], "a character that no argument may hold"),
    ],
)
def test_a_program_that_cannot_run_is_named_in_a_plain_sentence(runner, argv, sentence):
    (runner.workspace / "plain").write_text("#!/bin/sh\n")
    for name, content in {"text": "hello\n", "orphan": "#!/no/such/interpreter\n"}.items():
        (runner.workspace / name).write_text(content)
        (runner.workspace / name).chmod(0o755)

    assert runner.start(*argv) is StartResult.STARTED

    outcome = runner.outcome()
    assert sentence in outcome.start_error
    assert outcome.exit_code is None
    assert outcome.signal is None


def test_arguments_arrive_byte_for_byte_whatever_the_locale(runner):
    runner.start("printf", "%s|", "Zoë", "a b", "", "\udcff", "\ud800", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})

    runner.outcome()
    assert runner.stdout() == b"Zo\xc3\xab|a b||\xff|?|"


def test_a_folder_that_is_not_there_or_none_is_named(new_runner, tmp_path):
    (tmp_path / "file").write_text("")
    absent, no_folder = new_runner(), new_runner()

    absent.start("true", cwd=tmp_path / "absent")
    no_folder.start("true", cwd=tmp_path / "file")

    assert absent.outcome().start_error == f"The folder {tmp_path}/absent is not there."
    assert no_folder.outcome().start_error == f"{tmp_path}/file is not a folder."


def test_a_folder_with_an_impossible_name_is_named(runner, tmp_path):
    runner.start("true", cwd=tmp_path / "a\0b", git=True)

    assert "could not be entered" in runner.outcome().start_error


def test_a_very_long_name_still_fits_the_outcome(runner):
    runner.start("/" + "😀" * 900)

    assert runner.outcome().start_error
    assert (runner.folder / files.OUTCOME).stat().st_size <= files.OUTCOME_BYTES


def test_limits_hold_for_the_agent(runner):
    runner.start_shell(
        "ulimit -c; ulimit -n; head -c 100000 /dev/zero > big; wc -c < big",
        limits={"RLIMIT_FSIZE": 50_000, "RLIMIT_NOFILE": 123},
    )

    runner.outcome()
    assert runner.stdout().split() == [b"0", b"123", b"50000"]


def test_a_limit_that_is_none_is_a_start_error(runner):
    runner.start("true", limits={"RLIMIT_OF_PATIENCE": 1})

    assert "limits could not be set" in runner.outcome().start_error


def test_neither_runner_nor_agent_holds_a_descriptor_of_the_launcher(runner, eventually):
    with socket.create_server(("127.0.0.1", 0)) as port, (runner.workspace / "lock").open("w") as lock:
        for held in (port, lock):
            os.set_inheritable(held.fileno(), True)
        theirs = {os.readlink(f"/proc/self/fd/{held.fileno()}") for held in (port, lock)}

        runner.start_shell("echo $$; exec sleep 30")

        agent = int(eventually(runner.stdout))
        for pid in (runner.pid, agent):
            held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
            assert not held & theirs
        assert sorted(os.listdir(f"/proc/{agent}/fd")) == ["0", "1", "2"]


def test_runner_and_agent_live_in_sessions_of_their_own(runner, eventually):
    runner.start_shell("echo $$; exec sleep 30")

    agent = int(eventually(runner.stdout))
    assert os.getsid(runner.pid) == runner.pid
    assert os.getsid(agent) == agent
    assert files.stat_fields(runner.pid)[1] != str(os.getpid()).encode()  # nobody's child who could forget it


def test_the_agent_inherits_no_blocked_or_ignored_signal(runner):
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
    try:
        runner.start("grep", "-E", "SigBlk|SigIgn", "/proc/self/status")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    runner.outcome()
    assert {int(line.split()[1], 16) for line in runner.stdout().splitlines()} == {0}


def test_a_start_leaves_no_zombie_with_the_launcher(runner):
    runner.start("true")

    runner.outcome()
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    assert not [pid for pid in children if files.stat_fields(int(pid))[0] == b"Z"]


def test_a_start_that_fails_before_the_mark_may_be_tried_again(new_runner, tmp_path):
    (tmp_path / "blocked").write_text("a file where the spool should be")
    runner = new_runner(tmp_path / "blocked" / "exec_1.1")

    with pytest.raises(RunnerNotStarted) as refused:
        runner.start("true")

    assert refused.value.reason
    assert runner.state is RunnerState.NEW
    (tmp_path / "blocked").unlink()
    assert runner.start("true") is StartResult.STARTED


def test_on_a_full_disk_nothing_is_started_and_the_folder_stays_new(new_runner, small_disk):
    runner = new_runner(small_disk / "exec_1.1")
    runner.folder.mkdir()
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100))
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(bytes(1_000_000))

    with pytest.raises(RunnerNotStarted, match="No space left"):
        runner.start("true")

    assert runner.state is RunnerState.NEW
    ballast.unlink()
    assert runner.start("true") is StartResult.STARTED
    assert runner.outcome().exit_code == 0


def test_a_failure_of_the_runner_itself_before_the_mark_is_told(runner):
    (runner.folder / files.OUTCOME_DRAFT).mkdir(parents=True)  # it cannot reserve the outcome's room

    with pytest.raises(RunnerNotStarted, match="Is a directory"):
        runner.start("true")

    assert runner.state is RunnerState.NEW


def test_the_runner_needs_nothing_but_the_standard_library():
    listing = (
        f"import sys; sys.path.append({str(PROJECT)!r})\n"
        "from executions.runner import detached\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )

    imported = subprocess.check_output([sys.executable, "-I", "-S", "-c", listing], text=True).split()

    assert set(imported) - set(sys.stdlib_module_names) == {"executions", "__main__"} - set(sys.stdlib_module_names)
    assert not {"subprocess", "typing", "dataclasses", "inspect"} & set(imported)  # each is dear, per runner


def test_a_symbolic_link_to_the_spool_names_the_same_folder(new_runner, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    runner = new_runner(tmp_path / "link" / "exec_1.1")

    runner.start_shell('echo "$TRINITY_SPOOL"')

    runner.outcome()
    assert runner.stdout().decode().strip() == str(tmp_path / "real" / "exec_1.1")
