"""The start mark: set once, whole, or not at all."""

import errno
import os

import pytest

from executions.runner import folder as files


@pytest.fixture
def folder_fd(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    yield fd
    os.close(fd)


def test_the_mark_names_who_set_it(tmp_path, folder_fd):
    assert files.set_start_mark(folder_fd)

    assert files.read_start_mark(str(tmp_path)) == (
        os.getpid(),
        files.boot_id(),
        files.start_ticks(os.getpid()),
    )


def test_a_mark_is_never_set_again(tmp_path, folder_fd):
    (tmp_path / files.START_MARK).write_text("1 a 2")

    assert not files.set_start_mark(folder_fd)

    assert files.read_start_mark(str(tmp_path)) == (1, "a", 2)


@pytest.mark.parametrize("fails", ["write", "fsync"])
def test_a_mark_that_does_not_reach_the_disk_is_taken_away(tmp_path, folder_fd, monkeypatch, fails):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, fails, refuse)

    with pytest.raises(OSError, match="No space"):
        files.set_start_mark(folder_fd)

    assert not (tmp_path / files.START_MARK).exists()


@pytest.mark.parametrize("content", ["", "12", "12 boot", "x boot 3", "1 boot 2 3"])
def test_half_a_mark_names_nobody(tmp_path, content):
    (tmp_path / files.START_MARK).write_text(content)

    assert files.read_start_mark(str(tmp_path)) is None
