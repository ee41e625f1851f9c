"""How a run ends: by itself, at its deadline, on request, or hung after its answer; nothing stays."""

import contextlib
import os
import shutil
import signal

import pytest

from executions.runner import folder as files
from executions.runner import state
from executions.runner.vocabulary import RunnerState

pytestmark = pytest.mark.slow

FINAL = '{"type":"result","result":"ok"}'
STUBBORN = "import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n"


def test_at_the_deadline_the_agent_may_still_print_its_result(runner):
    runner.start_python(
        "import signal, sys, time\n"
        "def on_interrupt(*_): print('RESULT'); sys.exit(0)\n"
        "signal.signal(signal.SIGINT, on_interrupt)\n"
        "time.sleep(60)",
        timeout_seconds=0.4,
    )

    outcome = runner.outcome()
    assert (outcome.timed_out, outcome.exit_code) == (True, 0)
    assert runner.stdout() == b"RESULT\n"


def test_int_then_term_then_kill_a_grace_apart(runner):
    runner.start_python(
        "import signal, time\nfor n in (2, 15): signal.signal(n, lambda n, _: print(n))\nwhile True: time.sleep(60)",
        timeout_seconds=0.4,
        grace_seconds=0.4,
    )

    outcome = runner.outcome()
    assert (outcome.timed_out, outcome.exit_code, outcome.signal) == (True, None, signal.SIGKILL)
    assert runner.stdout() == b"2\n15\n"
    assert 1.2 <= outcome.duration_seconds < 2.5


def test_a_script_around_the_agent_does_not_keep_the_interrupt_from_it(runner, eventually):
    (runner.workspace / "agent").write_text("trap 'echo RESULT; exit' INT; echo up; while :; do sleep 0.05; done")
    runner.start_shell("sh ./agent; true", timeout_seconds=0.6)

    outcome = runner.outcome()
    assert outcome.timed_out
    assert runner.stdout() == b"up\nRESULT\n"
    assert outcome.duration_seconds < 3


@pytest.mark.parametrize(("interrupt_first", "first"), [(True, signal.SIGINT), (False, signal.SIGTERM)])
def test_the_first_signal_is_the_one_that_was_chosen(runner, interrupt_first, first):
    runner.start("sleep", "60", timeout_seconds=0.2, interrupt_first=interrupt_first)

    outcome = runner.outcome()
    assert (outcome.timed_out, outcome.signal) == (True, first)


def test_a_deadline_ends_the_whole_tree_also_what_left_its_session(runner, pids_in, is_running):
    runner.start_python(
        STUBBORN + "import subprocess\n"
        "script = 'trap \"\" INT TERM; echo $$ >> pids; sleep 90; sleep 90'\n"
        "subprocess.Popen(['setsid', 'sh', '-c', script])\n"
        "time.sleep(90)",
        timeout_seconds=0.6,
        grace_seconds=0.2,
    )
    (escaped,) = pids_in(runner.workspace / "pids", 1)

    outcome = runner.outcome()
    assert (outcome.timed_out, outcome.signal) == (True, signal.SIGKILL)
    assert outcome.leftovers_killed >= 2  # the shell and its sleep
    assert outcome.leftovers_alive == 0
    assert not is_running(escaped)


def test_an_agent_that_never_pauses_does_not_outrun_its_deadline(runner):
    runner.start("yes", timeout_seconds=0.4, final_types=("result",), head_bytes=4096, tail_bytes=4096)

    outcome = runner.outcome()
    assert outcome.timed_out
    assert outcome.duration_seconds < 3
    assert runner.stdout().endswith(b"y\n")


def test_a_stopped_agent_is_ended_too(runner, eventually):
    runner.start_shell("echo up; kill -STOP $$", timeout_seconds=0.4)

    outcome = runner.outcome()
    assert (outcome.timed_out, outcome.signal) == (True, signal.SIGINT)


def test_what_an_agent_leaves_in_the_background_does_not_hold_up_its_end(runner, pids_in, is_running):
    runner.start_shell(
        "(setsid sh -c 'echo $$ >> pids; exec sleep 60' &) ;"  # holds stdout
        "(setsid sh -c 'echo $$ >> pids; exec sleep 60' >/dev/null 2>&1 &) ;"  # holds nothing
        'while [ "$(wc -l < pids)" -lt 2 ]; do :; done; echo done'
    )

    outcome = runner.outcome()
    assert (outcome.exit_code, outcome.leftovers_killed, outcome.leftovers_alive) == (0, 2, 0)
    assert outcome.duration_seconds < 4
    assert runner.stdout() == b"done\n"
    assert not [pid for pid in pids_in(runner.workspace / "pids", 2) if is_running(pid)]


def test_what_holds_no_output_is_not_waited_for_long(runner):
    runner.start_shell("setsid sleep 60 >/dev/null 2>&1 &")

    outcome = runner.outcome()
    assert outcome.leftovers_killed == 1
    assert outcome.duration_seconds < 0.9


def test_what_ends_by_itself_after_the_agent_is_waited_for_and_heard(runner):
    runner.start_shell("(sleep 0.3; echo last words) & echo first words")

    outcome = runner.outcome()
    assert outcome.leftovers_killed == 0
    assert runner.stdout() == b"first words\nlast words\n"


def test_a_thread_that_outlives_its_first_one_is_found(runner, pids_in, is_running):
    runner.start_python(
        "import ctypes, os, threading, time\n"
        "if os.fork():\n"
        "    while not os.path.exists('pids'): time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "os.setsid()\n"
        "def go_on():\n"
        "    while open('/proc/self/stat').read().split()[2] != 'Z': time.sleep(0.01)\n"
        "    print(os.getpid(), file=open('pids', 'w'), flush=True)\n"
        "    time.sleep(60)\n"
        "threading.Thread(target=go_on).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )

    outcome = runner.outcome()
    assert (outcome.leftovers_killed, outcome.leftovers_alive) == (1, 0)


def test_a_request_ends_the_agent_and_says_so(runner, eventually):
    runner.start_shell("echo up; exec sleep 60", interrupt_first=False)
    eventually(runner.stdout)

    assert state.terminate(runner.folder)

    outcome = runner.outcome()
    assert (outcome.terminated, outcome.timed_out, outcome.signal) == (True, False, signal.SIGTERM)
    assert not state.terminate(runner.folder)  # there is nobody any more to ask


def test_a_request_that_comes_at_once_is_not_missed(runner):
    runner.start("sleep", "60", git=True)

    assert state.terminate(runner.folder)

    assert runner.outcome().terminated


def test_a_closed_terminal_and_ctrl_c_do_not_end_a_run(runner, eventually):
    runner.start_shell("echo up; while [ ! -e go ]; do sleep 0.02; done; echo done")
    eventually(runner.stdout)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
        os.kill(runner.pid, number)
    (runner.workspace / "go").touch()

    outcome = runner.outcome()
    assert (outcome.exit_code, outcome.terminated) == (0, False)
    assert runner.stdout() == b"up\ndone\n"


@pytest.mark.parametrize("last", [FINAL + "\\n", FINAL, FINAL + "\\nsome noise\\n"])
def test_a_final_object_and_then_nothing_is_a_hung_but_done_run(runner, last):
    runner.start_python(
        f"import time; print('{last}', end=''); time.sleep(60)", final_types=("result",), linger_seconds=0.3
    )

    outcome = runner.outcome()
    assert (outcome.hung, outcome.timed_out, outcome.terminated) == (True, False, False)
    assert FINAL.encode() in runner.stdout()


def test_an_agent_that_goes_on_after_its_first_answer_is_not_cut_off(runner):
    runner.start_shell(
        f"""echo '{FINAL}'; echo '{{"type":"system"}}'; sleep 0.8; echo '{FINAL}'; sleep 0.1; exit 3""",
        final_types=("result",),
        linger_seconds=0.4,
    )

    outcome = runner.outcome()
    assert (outcome.hung, outcome.exit_code) == (False, 3)
    assert runner.stdout().count(b"result") == 4


def test_the_last_answer_counts_when_it_hangs_after_a_second_one(runner):
    runner.start_shell(
        f"""echo '{FINAL}'; echo '{{"type":"system"}}'; sleep 0.5; echo '{FINAL}'; sleep 60""",
        final_types=("result",),
        linger_seconds=0.3,
    )

    outcome = runner.outcome()
    assert outcome.hung
    assert 0.8 <= outcome.duration_seconds < 3


def test_an_answer_in_time_is_done_though_the_deadline_comes_before_the_patience_ends(runner):
    runner.start_shell(f"echo '{FINAL}'; sleep 60", final_types=("result",), timeout_seconds=0.5)

    outcome = runner.outcome()
    assert (outcome.hung, outcome.timed_out) == (True, False)
    assert outcome.duration_seconds < 3


def test_without_final_types_a_hang_lasts_to_the_deadline(runner):
    runner.start_shell(f"echo '{FINAL}'; sleep 60", linger_seconds=0.1, timeout_seconds=0.5)

    outcome = runner.outcome()
    assert (outcome.hung, outcome.timed_out) == (False, True)


def test_when_its_folder_is_removed_the_run_ends(runner, pids_in, is_running, eventually):
    runner.start_shell("echo $$ >> pids; setsid sleep 60 & echo $! >> pids; wait", grace_seconds=0.2)
    pids = [*pids_in(runner.workspace / "pids", 2), runner.pid]

    shutil.rmtree(runner.folder)

    eventually(lambda: not any(is_running(pid) for pid in pids))


def test_a_silent_agent_does_not_wake_its_runner(runner, eventually):
    runner.start_shell("echo up; sleep 2.5; echo down; exec sleep 60", final_types=("result",))
    eventually(lambda: runner.stdout() == b"up\n")
    before, spent = _wakes(runner.pid), _cpu_ticks(runner.pid)

    eventually(lambda: runner.stdout() == b"up\ndown\n")

    assert _wakes(runner.pid) - before <= 4  # a look at the folder, and the line itself
    assert _cpu_ticks(runner.pid) - spent <= 1


def test_a_closed_output_does_not_make_the_runner_spin(runner, eventually):
    runner.start_shell("exec >&- 2>&-; sleep 1; touch over; exec sleep 60")

    eventually((runner.workspace / "over").exists)

    assert _cpu_ticks(runner.pid) < 30  # of 100 a second, start included
    assert runner.state is RunnerState.RUNNING


def test_an_orphan_that_ends_is_collected_while_the_agent_lives(runner, eventually):
    runner.start_shell("(sleep 0.05 &) ; (sleep 0.05 &) ; echo up; exec sleep 60")
    eventually(runner.stdout)

    def children() -> list[str]:
        with contextlib.suppress(OSError), open(f"/proc/{runner.pid}/task/{runner.pid}/children") as file:
            return file.read().split()
        return []

    eventually(lambda: len(children()) == 1)


def _wakes(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches"))


def _cpu_ticks(pid: int) -> int:
    fields = files.stat_fields(pid)
    return int(fields[11]) + int(fields[12])
