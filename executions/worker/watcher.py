"""Waits for all of a worker's runners and for its timers in one thread; does nothing itself when one is due."""

import contextlib
import heapq
import itertools
import os
import select
import threading
import time
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)
Then = Callable[[], None]
FAR = 3600.0


class Watcher:
    """One poll over pidfds and a heap of timers. `then` is called in this thread and must only hand on."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._waiting: dict[int, Then] = {}
        self._timers: list[tuple[float, int, Then]] = []
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._stopping = False
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._poll.register(self._wake_read, select.POLLIN)
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the waits at once; what runs goes on under its runners."""
        self._stopping = True
        self._wake()
        self._thread.join(timeout=2)

    def when_ended(self, pidfd: int, then: Then) -> None:
        """Call `then` once, when the process of `pidfd` ends; the descriptor is closed here."""
        with self._lock:
            self._waiting[pidfd] = then
            self._poll.register(pidfd, select.POLLIN)
        self._wake()

    def after(self, seconds: float, then: Then) -> None:
        """Call `then` once, that many seconds from now on the monotonic clock."""
        with self._lock:
            heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), then))
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._wake_write, b"x")

    def _run(self) -> None:
        while not self._stopping:
            ready = self._poll.poll(self._milliseconds_to_next())
            for then in [*self._ended(ready), *self._due()]:
                try:
                    then()
                except Exception:
                    log.exception("what was waited for could not be handed on")
        with self._lock:
            for pidfd in self._waiting:
                os.close(pidfd)
            self._waiting.clear()

    def _milliseconds_to_next(self) -> float:
        with self._lock:
            seconds = self._timers[0][0] - time.monotonic() if self._timers else FAR
        return max(0.0, min(seconds, FAR)) * 1000 + 0.5

    def _ended(self, ready: list[tuple[int, int]]) -> list[Then]:
        found: list[Then] = []
        with self._lock:
            for descriptor, _ in ready:
                if descriptor == self._wake_read:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake_read, 65536)
                elif descriptor in self._waiting:
                    self._poll.unregister(descriptor)
                    found.append(self._waiting.pop(descriptor))
                    os.close(descriptor)
        return found

    def _due(self) -> list[Then]:
        found: list[Then] = []
        with self._lock:
            while self._timers and self._timers[0][0] <= time.monotonic():
                found.append(heapq.heappop(self._timers)[2])
        return found
