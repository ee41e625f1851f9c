"""Carries what the agent prints from its pipe into a spool, never more than a bounded piece at once."""

import os
import time

from executions.runner.answer import AnswerWatch
from executions.runner.spool import CappedSpool

READ_BYTES = 64 * 1024
READS_AT_ONCE = 16  # then the clock is looked at: an agent that never pauses must not outrun its deadline
LAST_ROUNDS = 64  # when all is over: more than a pipe can hold, and an end if a stranger goes on writing into it


class Output:
    """One pipe of the agent, and the spool into which it flows."""

    def __init__(self, pipe: int, spool: CappedSpool, answer: AnswerWatch) -> None:
        self.pipe = pipe
        self.spool = spool
        self.is_open = True
        self._answer = answer
        os.set_blocking(pipe, False)

    def drain(self) -> bool:
        """Take what is there; True when that was as much as is taken at once, so more may be there."""
        for _ in range(READS_AT_ONCE):
            try:
                chunk = os.read(self.pipe, READ_BYTES)
            except BlockingIOError:
                self._answer.pause(time.monotonic())
                return False
            if not chunk:
                self._answer.pause(time.monotonic())
                self._close_pipe()
                return False
            self.spool.write(chunk)
            self._answer.feed(chunk, time.monotonic())
        return True

    def finish(self) -> None:
        """Take the rest, when nobody is left who should write more; the spool is on the disk afterwards."""
        rounds = 0
        while self.is_open and rounds < LAST_ROUNDS and self.drain():
            rounds += 1
        if self.is_open:
            self._close_pipe()
        self.spool.close()

    def _close_pipe(self) -> None:
        self.is_open = False
        os.close(self.pipe)
