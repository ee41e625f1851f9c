"""Tells what a spool folder says of its run, and ends what must be ended; starts nothing, writes nothing."""

import fcntl
import os
import select
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from executions.runner import folder as files
from executions.runner.outcome import GitChange, OutcomeDamaged, RunnerOutcome, read_outcome
from executions.runner.vocabulary import RunnerState

__all__ = [
    "GitChange",
    "OutcomeDamaged",
    "RunnerOutcome",
    "last_printed",
    "open_pidfd",
    "outcome",
    "reap_lost",
    "state",
    "terminate",
]

REAP_SECONDS = 10.0  # what outlives KILL this long is not waited for
REAP_ROUND_SECONDS = 1.0
CLEAN_LOOKS = 2  # in the midst of an exec, something shows no environment
READ_AGAIN = 3


def state(folder: Path) -> RunnerState:
    """What the folder says. A folder that is not there is NEW: without a start mark nothing was started.

    The order of the looks matters. The lock is taken before the mark is set and let go after the outcome is
    there, so marked and unlocked without an outcome, looked for last, is lost.
    """
    if not (folder / files.START_MARK).exists():
        return RunnerState.NEW
    if (folder / files.OUTCOME).exists():
        return RunnerState.FINISHED
    if _is_locked(folder):
        return RunnerState.RUNNING
    return RunnerState.FINISHED if (folder / files.OUTCOME).exists() else RunnerState.LOST


def outcome(folder: Path) -> RunnerOutcome:
    """What came of the finished run in `folder`. Raises OutcomeDamaged, also when there is none."""
    return read_outcome(folder / files.OUTCOME)


def last_printed(folder: Path, limit_bytes: int) -> bytes:
    """The newest bytes of stdout, while it runs and afterwards; empty when there are none."""
    printed = b""
    try:
        with (folder / files.STDOUT).open("rb") as file:
            for _ in range(READ_AGAIN):
                file.seek(max(0, file.seek(0, os.SEEK_END) - limit_bytes))
                printed = file.read(limit_bytes)
                if printed:  # else the middle was cut out between the two
                    break
    except (FileNotFoundError, NotADirectoryError):
        pass
    return printed


def open_pidfd(folder: Path) -> int | None:
    """A pidfd of the living runner, to poll (readable once it has ended) and to close; None without one here.

    None also for a runner of another machine or an earlier boot: its pid means nothing here.
    """
    mark = files.read_start_mark(str(folder))
    if mark is None:
        return None
    pid, boot, ticks = mark
    if boot != files.boot_id():
        return None
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return None
    # Looked at after the open: if this is the runner, so is the pidfd, whatever becomes of the number
    if _started_at(pid, ticks):
        return pidfd
    os.close(pidfd)
    return None


def terminate(folder: Path) -> bool:
    """Ask the living runner to end its agent; False without one here. The outcome will say `terminated`."""
    if state(folder) is not RunnerState.RUNNING:
        return False
    pidfd = open_pidfd(folder)
    if pidfd is None:
        return False
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
    except ProcessLookupError:
        return False
    finally:
        os.close(pidfd)
    return True


def reap_lost(folder: Path) -> int:
    """Kill what a killed runner left behind, wherever it hid, and wait for its end; how many that were.

    Every descendant carries the mark in the environment it was started with. 0 unless the folder is LOST.
    """
    if state(folder) is not RunnerState.LOST:
        return 0
    mark = f"{files.ENV_MARK}={os.path.realpath(folder)}".encode("utf-8", "surrogateescape")
    killed: set[int] = set()
    clean_looks = 0
    deadline = time.monotonic() + REAP_SECONDS
    while clean_looks < CLEAN_LOOKS and time.monotonic() < deadline:
        ending = {pid: pidfd for pid in _all_pids() if (pidfd := _kill_if_marked(pid, mark)) is not None}
        _wait_for_end_of(ending.values())
        killed |= ending.keys()
        clean_looks = 0 if ending else clean_looks + 1
    return len(killed)


def _is_locked(folder: Path) -> bool:
    try:
        lock = os.open(folder / files.LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _started_at(pid: int, ticks: int) -> bool:
    """Whether `pid` is what started then, and lives: where init collects no dead, they keep their number."""
    try:
        fields = files.stat_fields(pid)
    except OSError:
        return False
    return int(fields[19]) == ticks and fields[0] not in (b"Z", b"X")


def _all_pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def _kill_if_marked(pid: int, mark: bytes) -> int | None:
    """A pidfd of what was killed. Opened before the look, so that it is the marked one that is killed."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            is_marked = mark in file.read().split(b"\0")
        if is_marked:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return pidfd
    except OSError:  # it ended meanwhile, or belongs to another account
        pass
    os.close(pidfd)
    return None


def _wait_for_end_of(pidfds: Iterable[int]) -> None:
    end = time.monotonic() + REAP_ROUND_SECONDS
    for pidfd in pidfds:
        ended = select.poll()
        ended.register(pidfd, select.POLLIN)
        ended.poll(max(0.0, end - time.monotonic()) * 1000)
        os.close(pidfd)
