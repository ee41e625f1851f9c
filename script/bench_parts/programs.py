"""Starts the programs of a benchmark and ends them, however it is left itself; knows nothing of what they do."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
# What a developer's shell may hold and a measured program must not meet.
NOT_PASSED_ON = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DEBUG", "DJANGO_SETTINGS_MODULE", "PYTHONPATH")
END_SECONDS = 10.0
ANSWER_SECONDS = 900.0
_PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """A program did not do its part; the text says what it printed."""


def environment(**variables: str) -> dict[str, str]:
    """What every program gets. Empty variables stand before those of a `.env` file."""
    kept = {name: text for name, text in os.environ.items() if name not in NOT_PASSED_ON}
    ours = {"DATABASE_URL": "", "REDIS_URL": "", "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT / "script")}
    return kept | ours | {"LOG_LEVEL": "WARNING"} | variables


class Program:
    """One process with its log. It ends with the block, and by the kernel's hand when the benchmark is killed."""

    def __init__(self, words: Sequence[str], variables: Mapping[str, str], log: Path, *, talks: bool = False) -> None:
        """`talks`: its standard input and output are a line of conversation, else they go nowhere and to the log."""
        self.words = list(words)
        self.log = log
        with log.open("ab") as written:
            self.process = subprocess.Popen(
                self.words,
                cwd=ROOT,
                env=dict(variables),
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else written,
                stderr=written,
                start_new_session=True,
                preexec_fn=_end_with_parent,
                text=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def lives(self) -> bool:
        return self.process.poll() is None

    def says(self) -> str:
        """The next line that it prints, without its end. Raises Failed when it ends or stays silent instead.

        To be asked for one line at a time: only the pipe is waited for.
        """
        if self.process.stdout is None:
            raise Failed(f"{self.words[-1]} talks to nobody")
        if not select.select([self.process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise Failed(f"{self.words[-1]} did not answer within {ANSWER_SECONDS:.0f} s:\n{self.last_words()}")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.words[-1]} ended instead of answering:\n{self.last_words()}")
        return line.strip()

    def tell(self, line: str) -> None:
        """Write it a line."""
        if self.process.stdin is None:
            raise Failed(f"{self.words[-1]} talks to nobody")
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def last_words(self) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])

    def end(self, sign: signal.Signals = signal.SIGTERM) -> None:
        """End it with all that it started in its session. One that talks ends by itself when nobody asks any more."""
        if self.process.stdin is not None:
            self.process.stdin.close()
            self._wait()
        if self.lives:
            self.process.send_signal(sign)
            self._wait()
        with suppress(ProcessLookupError):  # nothing is left of it
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def _wait(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.end()


def run(words: Sequence[str], variables: Mapping[str, str]) -> str:
    """Run a program to its end; what it printed. Raises Failed."""
    finished = subprocess.run(words, cwd=ROOT, env=dict(variables), capture_output=True, text=True, check=False)
    if finished.returncode:
        raise Failed(f"{' '.join(words)} ended with {finished.returncode}:\n{finished.stderr[-2000:]}")
    return finished.stdout


def wait_until(came_true: Callable[[], bool], what: str, seconds: float = 60.0, every: float = 0.02) -> None:
    """Ask again and again. Raises Failed when the time ran out."""
    end = time.monotonic() + seconds
    while not came_true():
        if time.monotonic() > end:
            raise Failed(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(every)


def _end_with_parent() -> None:
    """On Linux the kernel ends the child when the benchmark is gone; elsewhere only an orderly end does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
