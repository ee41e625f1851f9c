"""The runner's words, for those who start it and those who ask after it; decides nothing."""

from enum import StrEnum


class RunnerState(StrEnum):
    """What a spool folder says about its one run."""

    NEW = "new"  # no start mark: nothing was ever started here
    RUNNING = "running"  # a living runner holds the lock
    FINISHED = "finished"  # the outcome is written
    LOST = "lost"  # it was started, nobody holds the lock, and there is no outcome


class StartResult(StrEnum):
    """What came of asking for a start."""

    STARTED = "started"
    ALREADY_STARTED = "already_started"  # by this caller or another, now or long ago


class EndedBy(StrEnum):
    """Why the runner ended an agent that would have gone on."""

    DEADLINE = "deadline"
    REQUEST = "request"  # somebody sent the runner TERM
    ANSWERED = "answered"  # its final object stood there, and it hung
    MEMORY = "memory"  # its tree took more than it may
    PROCESSES = "processes"  # its tree became more than it may
    FOLDER_GONE = "folder_gone"  # nobody could ever read the outcome
