"""Carries hints to other processes on a thread of its own, so that no step waits for Redis; they may be lost.

While one batch is on its way the next one gathers: the busier a process is, the fewer trips its hints need.
"""

import atexit
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import structlog

log = structlog.get_logger(__name__)
Hint = TypeVar("Hint")
MOST_WAITING = 10_000  # what is newer pushes out what is older: readers read again by themselves
MOST_TOGETHER = 500
FLUSH_SECONDS = 2.0  # at the end of a process, so that a command's last hint is not lost


class Postman(Generic[Hint]):
    """Delivers hints in their order. Its thread begins with the first one."""

    def __init__(self, name: str, deliver: Callable[[Sequence[Hint]], None]) -> None:
        self._name, self._deliver = name, deliver
        self._waiting: deque[Hint] = deque(maxlen=MOST_WAITING)
        self._something = threading.Event()
        self._idle = threading.Event()
        self._begin = threading.Lock()
        self._thread: threading.Thread | None = None

    def post(self, hints: Iterable[Hint]) -> None:
        """Take them along; returns at once."""
        self._idle.clear()
        self._waiting.extend(hints)
        if self._thread is None:
            self._start()
        self._something.set()

    def flush(self, seconds: float = FLUSH_SECONDS) -> bool:
        """Wait until all that was posted is on its way; False when the time ran out."""
        return self._thread is None or self._idle.wait(seconds)

    def _start(self) -> None:
        with self._begin:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
                atexit.register(self.flush)

    def _run(self) -> None:
        while self._something.wait():
            self._something.clear()
            while together := self._next():
                try:
                    self._deliver(together)
                except Exception as error:
                    log.warning("hints were not delivered; they are not needed", to=self._name, error=repr(error))
            if not self._something.is_set():
                self._idle.set()

    def _next(self) -> list[Hint]:
        return [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_TOGETHER))]
