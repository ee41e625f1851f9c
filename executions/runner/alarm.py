"""Turns the signals that concern a runner into something to poll; decides nothing about them."""

import contextlib
import os
import signal
from types import FrameType


class Alarm:
    """Wakes a poll on `fd` when a child ended or somebody asked the runner to end.

    Closed terminals and Ctrl-C reach every process of a session or group: they are no reason to end a run.
    """

    def __init__(self) -> None:
        self.end_requested = False
        self.fd, self._ring = os.pipe()
        for fd in (self.fd, self._ring):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        for number in (
            signal.SIGHUP,
            signal.SIGINT,
            signal.SIGQUIT,
            signal.SIGUSR1,
            signal.SIGUSR2,
            signal.SIGTSTP,
        ):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, _only_wake)  # ignored, the kernel would reap for us and lose the exit code
        signal.signal(signal.SIGTERM, self._request_end)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the launcher's thread may have blocked some

    def silence(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, 4096)

    def _request_end(self, number: int, frame: FrameType | None) -> None:
        self.end_requested = True


def _only_wake(number: int, frame: FrameType | None) -> None:
    pass
