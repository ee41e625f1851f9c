"""The files of a spool folder, and the mark that says who runs in it; never starts or ends anything.

Loaded by the detached runner: standard library only, and of that only what is small.
"""

import os

SPEC = "spec.json"
STDIN = "stdin"
STDOUT = "stdout"
STDERR = "stderr"
LOCK = "lock"
START_MARK = "started"
OUTCOME = "outcome.json"
OUTCOME_DRAFT = "outcome.tmp"
LOG = "runner.log"

OUTCOME_BYTES = 4096  # reserved before the start, so that a full disk cannot swallow the outcome
ENV_MARK = "TRINITY_SPOOL"


def boot_id() -> str:
    """A pid means something only within one boot of one machine; this names it."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def stat_fields(pid: int) -> list[bytes]:
    """/proc/<pid>/stat from the state on: 0 state, 1 parent, 17 threads, 19 start ticks. OSError if gone."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        stat = file.read()
    return stat[stat.rindex(b")") + 2 :].split()  # the name in brackets may hold anything


def start_ticks(pid: int) -> int:
    """When `pid` started, in clock ticks since boot: a reused pid has another. OSError when it is gone."""
    return int(stat_fields(pid)[19])


def set_start_mark(folder_fd: int) -> bool:
    """Mark the folder as started by this process; False when it already was. The lock must be held.

    File and folder are on the disk when this returns. When they cannot be (OSError), the mark is taken away
    again: nothing was started, and nobody else could have seen it as theirs, for the lock is ours.
    """
    try:
        mark = os.open(START_MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder_fd)
    except FileExistsError:
        return False
    try:
        try:
            pid = os.getpid()
            _write_whole(mark, f"{pid} {boot_id()} {start_ticks(pid)}\n".encode())
            os.fsync(mark)
        finally:
            os.close(mark)
        os.fsync(folder_fd)
    except OSError:
        os.unlink(START_MARK, dir_fd=folder_fd)
        raise
    return True


def _write_whole(fd: int, content: bytes) -> None:
    """A disk that fills up may take the first bytes and refuse only the rest."""
    while content:
        content = content[os.write(fd, content) :]


def read_start_mark(folder: str) -> tuple[int, str, int] | None:
    """pid, boot id and start ticks of the runner; None without a mark, or while it is being written."""
    try:
        with open(os.path.join(folder, START_MARK), encoding="utf-8") as file:
            pid, boot, ticks = file.read().split()
        return int(pid), boot, int(ticks)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
