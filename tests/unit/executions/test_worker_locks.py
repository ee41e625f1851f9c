"""A worker that starts is never taken for a dead one."""

import fcntl
from pathlib import Path
from typing import Any

import pytest

from executions.worker import home as module
from executions.worker.home import Home


def test_another_worker_that_starts_at_the_same_moment_leaves_its_lock_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home.at(tmp_path)
    really_lock = fcntl.flock

    def lock_late(descriptor: int, how: int) -> Any:
        monkeypatch.setattr(module.fcntl, "flock", really_lock)
        home.sweep_dead_locks()  # the other worker's first act, when this one's file is there and not locked
        return really_lock(descriptor, how)

    monkeypatch.setattr(module.fcntl, "flock", lock_late)
    lock = home.hold_worker_lock()

    assert home.worker_lives(lock.worker)
    lock.release()
    assert not home.worker_lives(lock.worker)
