"""What the runner's facts alone say of a call's end, the same for every runtime; reads no agent's format."""

import datetime as dt

from agents.runtimes.base import Ending, ErrorKind, Outcome, Printed
from agents.runtimes.keeping import last_lines
from trinity.kernel import clock
from trinity.kernel.text import clean


def forced_end(printed: Printed) -> Outcome | None:
    """The outcome when no word of the agent counts: never started, ended on request, or too late."""
    if printed.terminated:
        return failed(ErrorKind.ABANDONED, "It was ended on request before it had finished.")
    if printed.start_error is not None:
        return failed(
            ErrorKind.NOT_STARTED,
            "The agent's program did not start. Check that it is installed and that its folder is there."
            f" {clean(printed.start_error, 2_000)}",
        )
    if printed.timed_out:
        return Outcome(
            ending=Ending.TIMED_OUT,
            error_kind=ErrorKind.TIMEOUT,
            error=f"It did not finish within {_seconds(printed)} and was ended. Give it more time, or a smaller task.",
        )
    return None


def end_without_answer(printed: Printed, *, expected: str) -> Outcome:
    """The outcome of a process that ended by itself without what counts as an answer, named by `expected`."""
    if printed.spool_error is not None:
        return failed(
            ErrorKind.DISK_FULL,
            f"What it printed could not be stored ({printed.spool_error}). Make room on the disk of $TRINITY_HOME.",
        )
    if printed.exit_code == 0:
        return failed(
            ErrorKind.NO_ANSWER,
            f"It ended well, but printed no {expected}. Check the agent's `output` setting." + last_words(printed),
        )
    return failed(ErrorKind.CRASHED, f"{how_it_ended(printed)} without an answer.{last_words(printed)}")


def how_it_ended(printed: Printed) -> str:
    """The beginning of a sentence: with which exit code, or by which signal."""
    if printed.exit_code is not None:
        return f"It ended with exit code {printed.exit_code}"
    if printed.signal is not None:
        return f"It was killed by signal {printed.signal}"
    return "It ended"


def failed(kind: ErrorKind, sentence: str) -> Outcome:
    return Outcome(ending=Ending.FAILED, error_kind=kind, error=sentence)


def ended_at(printed: Printed) -> dt.datetime:
    """When the words were said, for times of day in them."""
    return printed.ended_at or clock.now()


def cut_notes(printed: Printed) -> list[str]:
    """What the runner left out of stdout, for a person."""
    if not printed.truncated_bytes:
        return []
    return [f"{printed.truncated_bytes:,} bytes in the middle of what it printed were left out."]


def _seconds(printed: Printed) -> str:
    return f"{printed.timeout_seconds:,} seconds" if printed.timeout_seconds else "its time"


def last_words(printed: Printed) -> str:
    """The end of a sentence: the last lines on stderr, if it said anything there."""
    said = last_lines(printed.stderr)
    return f" Its last words on stderr: {said}" if said else ""
