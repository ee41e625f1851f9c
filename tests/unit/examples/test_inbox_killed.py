"""A run that is killed at any change it makes to the disk: the next runs lose nothing and double nothing."""

import os
import signal
import sys
from pathlib import Path

import inbox_agent
import pytest

FOLDERS, LEFTOVERS, WRITING, MOVING = (
    4,
    2,
    4,
    3,
)  # making folders; clearing; open, sync, rename, sync; rename, syncs
CHANGES = FOLDERS + LEFTOVERS + WRITING + MOVING
CHANGING = ("open", "rename", "replace", "fsync", "unlink", "mkdir", "rmdir", "link", "symlink", "truncate")


def run(desk, *, fatal_change=0):
    """One run in a process of its own (a fork starts sooner), killed right before that change of the disk.

    Returns the number of changes that it made, or minus the signal that ended it.
    """
    child = os.fork()
    if child == 0:
        made = -1
        try:
            os.chdir(desk.folder)
            sys.argv = ["inbox_agent"]
            with Path(os.devnull).open() as sys.stdin, Path(os.devnull).open("w") as sys.stdout:
                made = _count_changes(fatal_change)
        finally:
            os._exit(made)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _count_changes(fatal):
    made = 0

    def watched(name, real):
        def call(*args, **more):
            nonlocal made
            if name == "open" and not args[1] & os.O_CREAT:
                return real(*args, **more)
            made += 1
            if made == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **more)

        return call

    for name in CHANGING:
        setattr(os, name, watched(name, getattr(os, name)))
    with pytest.raises(SystemExit) as ended:
        inbox_agent.main()
    assert ended.value.code == 0
    return made


def killed_before(desk, change):
    return run(desk, fatal_change=change) == -signal.SIGKILL


def drain(desk):
    for _ in range(10):
        if not desk.names("inbox"):
            return
        assert run(desk) > 0
    raise AssertionError("it does not drain")


def whole_summaries(desk):
    return [name for name in desk.names("outbox") if desk.text(f"outbox/{name}").rstrip().endswith("} -->")]


def test_every_change_of_the_disk_is_one_at_which_it_can_be_killed(desk, story):
    desk.put("a.txt", story)

    assert run(desk) == CHANGES


@pytest.mark.parametrize("change", range(1, CHANGES + 1))
def test_a_text_whose_run_was_killed_is_neither_lost_nor_doubled(desk, story, change):
    desk.put("a.txt", story)

    assert killed_before(desk, change)
    drain(desk)

    assert desk.names("done") == ["a.txt"]
    assert desk.text("done/a.txt") == story
    assert desk.names("outbox") == whole_summaries(desk) == ["a.txt.summary.md"]
    assert desk.names("inbox") == desk.names("failed") == []


@pytest.mark.parametrize("change", range(FOLDERS + LEFTOVERS + 1, CHANGES + 1))
def test_nor_is_a_second_text_of_the_same_name(desk, story, change):
    desk.put("a.txt", "The first text. It is short.")
    run(desk)
    desk.put("a.txt", story)

    assert killed_before(desk, change)
    drain(desk)

    assert desk.names("done") == ["a-2.txt", "a.txt"]
    assert desk.text("done/a-2.txt") == story
    assert desk.names("outbox") == whole_summaries(desk) == ["a-2.txt.summary.md", "a.txt.summary.md"]
    assert "The first text." in desk.text("outbox/a.txt.summary.md")


@pytest.mark.parametrize("change", range(FOLDERS + LEFTOVERS + 1, CHANGES + 1))
def test_nor_is_one_that_cannot_be_summarised(desk, change):
    desk.put("a.bin", b"\x00\x01\x02\xff")

    assert killed_before(desk, change)
    drain(desk)

    assert desk.names("failed") == ["a.bin", "a.bin.reason.txt"]
    assert desk.names("inbox") == desk.names("done") == desk.names("outbox") == []


def test_killed_again_and_again_it_still_drains(desk, story):
    for name in ("a.txt", "b.txt", "c.txt"):
        desk.put(name, story + name)

    for change in (11, 9, 13, 8, 12):
        assert killed_before(desk, change)
    drain(desk)

    assert desk.names("done") == ["a.txt", "b.txt", "c.txt"]
    assert desk.names("outbox") == whole_summaries(desk)
    assert len(desk.names("outbox")) == 3
