"""Where a worker's files lie in $TRINITY_HOME: spool folders and the lock that says it lives; reads no database."""

import fcntl
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from executions.models import Execution
from trinity.kernel.secret_file import secret_from_file


@dataclass(frozen=True, slots=True)
class Home:
    """A place's shared folder. The same `spool_id` means: the same files, with locks that work."""

    root: Path
    spool_id: str

    @classmethod
    def at(cls, root: Path) -> "Home":
        """Make the folders on first use."""
        for name in ("spool", "workers"):
            (root / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(root, secret_from_file(root / "spool" / ".spool-id")[:32])

    def spool(self, execution: Execution) -> Path:
        """The folder of this execution's attempt."""
        return self.root / "spool" / f"{execution.pk}.{execution.attempt}"

    def worker_lives(self, worker: str) -> bool:
        """Whether the worker of this name still holds its lock; its end, however sudden, frees it."""
        try:
            descriptor = os.open(self._lock_path(worker), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(descriptor)

    def hold_worker_lock(self) -> "WorkerLock":
        """A fresh worker name, and the lock that says it lives.

        The file gets its name when it is locked: between its creation and its lock, a worker that starts at the same
        time would remove it as a dead one's, and everybody would take this worker's runs over.
        """
        name = f"{socket.gethostname()[:30]}.{os.getpid()}.{secrets.token_hex(4)}"
        draft = self._lock_path(name).with_suffix(".new")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        draft.rename(self._lock_path(name))
        return WorkerLock(name, self._lock_path(name), descriptor)

    def sweep_dead_locks(self) -> None:
        """Remove the lock files of workers that are gone."""
        for path in (self.root / "workers").glob("*.lock"):
            if not self.worker_lives(path.stem):
                path.unlink(missing_ok=True)

    def _lock_path(self, worker: str) -> Path:
        return self.root / "workers" / f"{worker}.lock"


@dataclass(slots=True)
class WorkerLock:
    """Held from start to stop of one worker."""

    worker: str
    path: Path
    descriptor: int

    def release(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


class OneServer:
    """Lets one server or worker only onto a SQLite database; the kernel frees it when the process ends."""

    def __init__(self, root: Path) -> None:
        self.path = root / "server.lock"
        self.descriptor: int | None = None

    def take(self) -> bool:
        """True when this process is now the one."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self.descriptor = descriptor
        return True

    def release(self) -> None:
        """Let another one work; does nothing when this process does not."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def holder(self) -> str:
        """The process id of the one that holds it, as it wrote it."""
        return self.path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
