"""The practice agent as a program that crashes, hangs, floods, or has lost its model."""

import json
import os
import select
import signal
import subprocess
import time

import pytest


def test_crash_ends_by_a_signal_without_a_result(practice):
    call = practice.in_loop("crash", fresh=True)

    assert call.exit_code == -signal.SIGABRT
    assert [event["type"] for event in call.events] == ["system"]
    assert call.stderr == "practice agent: this is the crash that was asked for\n"
    assert list(practice.folder.iterdir()) == []  # no core


def started(practice, prompt, mark):
    """The agent, once it has printed a line with the mark; and what it printed."""
    program = practice.start(environment=practice.of_run())
    program.stdin.write(prompt.encode())
    program.stdin.close()
    seen, until = b"", time.monotonic() + 10
    while mark not in seen or not seen.endswith(b"\n"):
        assert select.select([program.stdout], [], [], until - time.monotonic())[0], seen
        seen += os.read(program.stdout.fileno(), 65536)
    return program, seen


def test_hang_does_not_end_but_an_interrupt_still_brings_the_cost(practice):
    program, _ = started(practice, "hang, cost 0.25", b"From here on nothing happens.")

    assert program.poll() is None
    program.send_signal(signal.SIGINT)
    with program:
        final = json.loads(program.stdout.read().splitlines()[-1])

    assert program.returncode == 130
    assert (final["is_error"], final["total_cost_usd"]) == (True, 0.25)
    assert final["result"] == "Interrupted while hanging."


def test_hang_and_ignore_signals_ends_by_kill_alone(practice):
    program, _ = started(practice, "hang and ignore signals", b"From here on nothing happens.")

    program.send_signal(signal.SIGINT)
    program.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(timeout=0.3)
    program.kill()
    with program:
        assert b'"result"' not in program.stdout.read()
    assert program.returncode == -signal.SIGKILL


def test_hang_after_the_answer_prints_one_result_and_stays(practice):
    program, seen = started(practice, "hang after the answer", b'"type": "result"')

    program.send_signal(signal.SIGINT)  # would be a second result, and the last one counts
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(timeout=0.3)
    program.terminate()
    with program:
        assert program.stdout.read() == b""
    assert json.loads(seen.splitlines()[-1])["is_error"] is False


def test_shout_prints_a_great_deal_and_the_answer_last(practice):
    call = practice.in_loop("shout 2 MB")

    assert sum(len(event["text"]) for event in call.events if event.get("subtype") == "noise") > 2_000_000
    assert call.reply.endswith("Before this, 2 MB were printed.")


def pass_time(practice, seconds):
    """Let all that the agent remembers lie so much longer back."""
    file = practice.folder / ".practice.json"
    memory = json.loads(file.read_text())
    memory["first_asked"] = {key: first - seconds for key, first in memory["first_asked"].items()}
    file.write_text(json.dumps(memory))


@pytest.mark.parametrize(("word", "status"), [("rate limit", 429), ("overloaded", 529)])
def test_the_model_is_away_until_the_time_is_over(practice, word, status):
    away = practice.in_loop(f"{word} for 30 seconds")
    pass_time(practice, 20)
    still_away = practice.in_loop(f"{word} for 30 seconds")
    pass_time(practice, 10)
    back = practice.in_loop(f"{word} for 30 seconds")

    assert away.exit_code == 1
    assert (away.final["subtype"], away.final["is_error"], away.final["api_error_status"]) == (
        "success",
        True,
        status,
    )
    assert away.final["total_cost_usd"] == 0
    assert away.tools == []  # before it has used any tool
    said = next(event for event in away.events if event["type"] == "assistant")
    assert said["is_api_error_message"] is True
    assert said["message"]["model"] == "<synthetic>"
    assert still_away.final["api_error_status"] == status
    assert back.reply.startswith("Run 1:")


def test_another_loop_is_away_for_a_time_of_its_own(practice):
    assert practice.in_loop("rate limit for 0 seconds", loop="loop_a").final["is_error"] is False
    for loop in ("loop_a", "loop_b"):
        assert practice.in_loop("rate limit for 30 seconds", loop=loop).final["is_error"] is True


def test_outside_a_loop_the_model_goes_away_again_each_time(practice):
    in_turn = []
    for execution in ("exec_1", "exec_1", "exec_2"):
        call = practice.call("rate limit for 30 seconds", environment={"TRINITY_EXECUTION_ID": execution})
        in_turn.append(call.final["is_error"])
        pass_time(practice, 30)

    assert in_turn == [True, False, True]
