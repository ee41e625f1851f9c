"""Finds and signals everything that descends from the runner; knows nothing of spools and outcomes."""

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator

from executions.runner.folder import start_ticks, stat_fields

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
FREEZE_ROUNDS = 50
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_libc = ctypes.CDLL(None, use_errno=True)


def become_reaper_of_orphans() -> None:
    """Whatever leaves its session or loses its parent stays in our tree, instead of becoming init's child."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """For a forked child: be killed when `parent` dies, also when it has died already."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


def gain_nothing_more() -> None:
    """For a forked child: neither keep the capabilities it was given, nor get any by what it starts (sudo)."""
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def signal_descendants(number: signal.Signals, *, but: int | None = None) -> set[int]:
    """Send `number` to all descendants, in whatever group or session, except `but`; the pids it went to."""
    return {pid for pid, ticks in _descendants() if pid != but and send(pid, ticks, number)}


def freeze_descendants() -> None:
    """Stop all of them, so that what forks as fast as it can does not outrun its end."""
    seen: set[int] = set()
    for _ in range(FREEZE_ROUNDS):
        fresh = {pid for pid, ticks in _descendants() if pid not in seen and send(pid, ticks, signal.SIGSTOP)}
        if not fresh:
            return
        seen |= fresh


def count_descendants() -> int:
    """How many run below us."""
    return sum(1 for _ in _descendants())


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send `number` to the process group of `leader`, but not to the leader itself."""
    for pid, ticks in _descendants():
        with contextlib.suppress(OSError):
            if pid != leader and int(stat_fields(pid)[2]) == leader:
                send(pid, ticks, number)


def usage(memory_limit: int) -> tuple[int, int]:
    """How many processes run below us, and the bytes of memory they hold together.

    What several of them share counts for each, unless that would be more than `memory_limit`: then it is shared
    out (which costs more to find out), as far as the kernel tells us.
    """
    pids = [pid for pid, _ in _descendants()]
    held = sum(_resident_bytes(pid) for pid in pids)
    if held > memory_limit > 0:
        held = sum(_own_share_bytes(pid) for pid in pids)
    return len(pids), held


def _resident_bytes(pid: int) -> int:
    try:
        return int(stat_fields(pid)[21]) * PAGE_BYTES
    except OSError:
        return 0


def _own_share_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            line = next((line for line in file if line.startswith(b"Pss:")), None)
    except OSError:  # gone, or another account's
        line = None
    return _resident_bytes(pid) if line is None else int(line.split()[1]) * 1024


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
