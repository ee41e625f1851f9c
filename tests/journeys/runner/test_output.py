"""What is kept of what an agent prints: all up to a bound, then the head and the end, on a full disk too."""

import json

import pytest

from executions.runner import state

pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024


def test_bytes_that_are_no_text_pass_through_unchanged(runner):
    runner.start_python("import os; os.write(1, bytes(range(256))); os.write(2, b'\\0\\xff')")

    runner.outcome()
    assert runner.stdout() == bytes(range(256))
    assert runner.stderr() == b"\0\xff"


def test_of_a_long_output_head_and_end_are_kept_and_the_rest_is_counted(runner):
    runner.start_python(
        "import json, sys\n"
        "for n in range(200_000):\n"
        "    sys.stdout.write(json.dumps({'type': 'step', 'n': n, 'text': 'x' * 60}) + '\\n')\n"
        "print(json.dumps({'type': 'result'}))",
        head_bytes=MEBIBYTE,
        tail_bytes=64 * 1024,
    )

    outcome = runner.outcome(within=30)
    kept = runner.stdout()
    lines = [json.loads(line) for line in kept.splitlines()]
    (cut,) = [n for n, line in enumerate(lines) if line["type"] == "trinity.cut"]
    assert len(kept) < 1.2 * MEBIBYTE
    assert lines[0]["n"] == 0
    assert lines[-1] == {"type": "result"}
    assert [line["n"] for line in lines[:cut]] == list(range(cut))
    assert [line["n"] for line in lines[cut + 1 : -1]] == list(range(200_000 - len(lines[cut + 1 : -1]), 200_000))
    assert lines[cut]["truncated_bytes"] == outcome.truncated_bytes
    assert outcome.stdout_bytes == len(kept) - len(kept.splitlines()[cut]) - 1 + outcome.truncated_bytes


def test_a_flood_on_stderr_is_bounded_too_and_leaves_stdout_alone(runner):
    runner.start_shell("yes error | head -c 3000000 >&2; echo last >&2; echo ok", head_bytes=10_000, tail_bytes=4096)

    outcome = runner.outcome()
    assert runner.stdout() == b"ok\n"
    assert outcome.truncated_bytes == 0
    assert outcome.stderr_bytes == 3_000_005
    assert len(runner.stderr()) + outcome.stderr_truncated_bytes == 3_000_005 + len(b"[%20d bytes cut here]\n" % 0)
    assert runner.stderr().startswith(b"error\n")
    assert runner.stderr().endswith(b"last\n")


def test_what_is_printed_can_be_read_at_once_also_beyond_the_head(runner, eventually):
    runner.start_shell(
        "echo first; while [ ! -e go ]; do sleep 0.02; done;yes | head -c 500000; echo newest; exec sleep 60",
        head_bytes=10_000,
        tail_bytes=4096,
    )
    eventually(lambda: state.last_printed(runner.folder, 100) == b"first\n")

    (runner.workspace / "go").touch()

    eventually(lambda: state.last_printed(runner.folder, 100).endswith(b"y\ny\nnewest\n"))


def test_the_outcome_is_written_when_not_one_byte_is_left(new_runner, small_disk):
    runner = new_runner(small_disk / "exec_1.1")
    runner.start_shell(f"cat /dev/zero > {small_disk}/ballast; exit 3")

    assert runner.outcome().exit_code == 3


def test_a_full_disk_costs_output_but_not_the_outcome_and_not_the_last_line(new_runner, small_disk):
    runner = new_runner(small_disk / "exec_1.1")
    runner.start_python(
        "for n in range(40_000): print('y' * 50)\nprint('{\"type\":\"result\"}')", final_types=("result",)
    )

    outcome = runner.outcome()
    assert (outcome.spool_error, outcome.exit_code, outcome.hung) == ("ENOSPC", 0, False)
    assert outcome.stdout_bytes == 40_000 * 51 + 18
    assert outcome.truncated_bytes > 1_500_000
    assert runner.stdout().startswith(b"yyy")
    assert runner.stdout().endswith(b'\n{"type":"result"}\n')
