"""What is taken from a pipe at once is bounded."""

import os

from executions.runner.answer import AnswerWatch
from executions.runner.output import READ_BYTES, READS_AT_ONCE, Output
from executions.runner.spool import CappedSpool


def opened(pipe, path):
    spool = CappedSpool(os.open(path, os.O_RDWR | os.O_CREAT), head_bytes=10, tail_bytes=1024)
    return Output(pipe, spool, AnswerWatch([]))


def test_a_source_that_never_pauses_does_not_keep_the_clock_from_being_looked_at(tmp_path):
    output = opened(os.open("/dev/zero", os.O_RDONLY), tmp_path / "out")

    assert output.drain()

    assert output.spool.printed_bytes == READ_BYTES * READS_AT_ONCE
    output.finish()
    assert not output.is_open


def test_a_pipe_that_a_stranger_holds_open_does_not_hold_up_the_end(tmp_path):
    pipe, strangers_end = os.pipe()
    output = opened(pipe, tmp_path / "out")
    os.write(strangers_end, b"last words")

    output.finish()

    os.close(strangers_end)
    assert (tmp_path / "out").read_bytes() == b"last words"
