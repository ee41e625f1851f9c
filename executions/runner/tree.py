"""Finds and signals everything that descends from the runner; knows nothing of spools and outcomes."""

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator

from executions.runner.folder import start_ticks, stat_fields

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def become_reaper_of_orphans() -> None:
    """Whatever leaves its session or loses its parent stays in our tree, instead of becoming init's child."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """For a forked child: be killed when `parent` dies, also when it has died already."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def signal_descendants(number: signal.Signals) -> set[int]:
    """Send `number` to all descendants, in whatever group or session; returns the pids it went to."""
    return {pid for pid, ticks in _descendants() if send(pid, ticks, number)}


def count_descendants() -> int:
    """How many run below us."""
    return sum(1 for _ in _descendants())


def send(pid: int, ticks: int, number: signal.Signals) -> bool:
    """Send to `pid` if it is still what started at `ticks`; False when it is gone or not ours to signal."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_ticks(pid) != ticks:
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True


def _descendants() -> Iterator[tuple[int, int]]:
    """pid and start ticks of everything below us that still runs."""
    children: dict[int, list[tuple[int, int, bool]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError):  # it ended while we looked
                parent, ticks, runs = _position(int(name))
                children.setdefault(parent, []).append((int(name), ticks, runs))
    parents = [os.getpid()]
    while parents:
        for pid, ticks, runs in children.get(parents.pop(), []):
            parents.append(pid)
            if runs:
                yield pid, ticks


def _position(pid: int) -> tuple[int, int, bool]:
    """Parent, start ticks, and whether it runs: a zombie's other threads may, long after its first."""
    fields = stat_fields(pid)
    return int(fields[1]), int(fields[19]), fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
