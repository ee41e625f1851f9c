"""Carries out one agent command in a spool folder, detached, at most once ever; knows no database.

It imports only small parts of the standard library and its own package: hundreds of runners may live at once.
The order matters: lock, everything that can fail, start mark, the answer to the launcher, the agent.
"""

import contextlib
import fcntl
import json
import os
import resource
import signal
import sys
import time

from executions.runner import command, tree
from executions.runner import folder as files
from executions.runner.alarm import Alarm
from executions.runner.answer import AnswerWatch
from executions.runner.git_notes import GitNotes
from executions.runner.output import Output
from executions.runner.spec import Spec, agent_environment
from executions.runner.spool import CappedSpool, json_cut_line, plain_cut_line
from executions.runner.vigil import Vigil
from executions.runner.vocabulary import EndedBy, StartResult

LAUNCHER_FD = 1
LOCK_SECONDS = 2.0
LOCK_RETRY_SECONDS = 0.005


def run(folder: str) -> None:
    """Leave the launcher, tell it what came of the start, and carry out the run. Does not return."""
    if os.fork():
        os._exit(0)  # the launcher collects this one; the runner becomes init's child
    os.setsid()
    umask = os.umask(0o077)
    os.chdir("/")
    exit_code = 0
    try:
        _start_once(folder, umask)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # into the folder's log
        tree.signal_descendants(signal.SIGKILL)
        exit_code = 1
    sys.stderr.flush()
    os._exit(exit_code)


def _start_once(folder: str, umask: int) -> None:
    try:
        folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        lock = _take_lock(folder_fd)
        run_here = None if lock is None else Run(os.fsencode(folder), folder_fd, lock, umask)
        result = StartResult.STARTED if run_here and files.set_start_mark(folder_fd) else StartResult.ALREADY_STARTED
    except (OSError, ValueError, KeyError, TypeError) as error:
        _tell_launcher(f"{type(error).__name__}: {error}")
        raise
    _tell_launcher(result)
    if run_here and result is StartResult.STARTED:
        run_here.carry_out()


def _tell_launcher(line: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # it was killed meanwhile; whoever takes over finds the mark
        os.write(LAUNCHER_FD, line.encode("utf-8", "backslashreplace"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, LAUNCHER_FD)
    os.close(nowhere)


def _take_lock(folder_fd: int) -> int | None:
    """The folder's lock for as long as we live; None when the folder was started already.

    Readers hold it shared for a moment to see whether a runner lives, so one refusal says nothing.
    """
    if _is_marked(folder_fd):
        return None
    lock = os.open(files.LOCK, os.O_RDWR | os.O_CREAT, 0o600, dir_fd=folder_fd)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _is_marked(folder_fd):
                return None
            if time.monotonic() > deadline:
                raise
            time.sleep(LOCK_RETRY_SECONDS)
        else:
            return None if _is_marked(folder_fd) else lock


def _is_marked(folder_fd: int) -> bool:
    try:
        os.stat(files.START_MARK, dir_fd=folder_fd)
    except FileNotFoundError:
        return False
    return True


class Run:
    """Everything one run needs, opened before the start mark: what fails here leaves the folder new."""

    def __init__(self, folder: bytes, folder_fd: int, lock: int, umask: int) -> None:
        self._folder_fd = folder_fd
        self._lock = lock
        self._spec = self._read_spec()
        self._env = agent_environment(folder)
        self._command = command.Command(
            self._spec.argv,
            cwd=self._spec.cwd,
            env=self._env,
            limits=self._spec.limits,
            umask=umask,
            account=self._spec.account,
        )
        self._draft = self._open(files.OUTCOME_DRAFT, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.posix_fallocate(self._draft, 0, files.OUTCOME_BYTES)
        self._stdin = self._open(files.STDIN, os.O_RDONLY)
        self._answer = AnswerWatch(self._spec.final_types)
        self._stdout, self._agent_stdout = self._output(files.STDOUT, self._answer)
        self._stderr, self._agent_stderr = self._output(files.STDERR, AnswerWatch([]))
        tree.become_reaper_of_orphans()
        self._alarm = Alarm()  # before the mark: from then on others know our pid

    def carry_out(self) -> None:
        """From the marked folder to the written outcome."""
        notes = GitNotes(self._spec.cwd, self._env, self._spec.account) if self._spec.git else None
        began_at, began = time.time(), time.monotonic()
        facts = _nothing_happened() | {"started_at": began_at}
        try:
            facts |= self._watched(self._start())
        except command.NotStarted as error:
            facts |= {"start_error": str(error), "terminated": self._alarm.end_requested}
        for output in (self._stdout, self._stderr):
            output.finish()
        facts |= self._printed() | _used()
        facts |= {"ended_at": time.time(), "duration_seconds": round(time.monotonic() - began, 3)}
        facts |= {"git": notes.compare() if notes else None}
        self._write_outcome(facts)

    def _start(self) -> int:
        stdio = (self._stdin, self._agent_stdout, self._agent_stderr)
        try:
            if self._alarm.end_requested:
                raise command.NotStarted("It was ended before its program started.")
            return command.start(self._command, stdio)
        finally:
            for fd in stdio:  # ours would keep the pipes open for ever
                os.close(fd)

    def _watched(self, agent: int) -> dict[str, object]:
        vigil = Vigil(
            agent,
            self._spec,
            [self._stdout, self._stderr],
            answer=self._answer,
            alarm=self._alarm,
            lock=self._lock,
        )
        vigil.keep()
        code = None if vigil.status is None else os.waitstatus_to_exitcode(vigil.status)
        return {
            "agent_pid": agent,
            "exit_code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "timed_out": vigil.ended_by is EndedBy.DEADLINE,
            "terminated": vigil.ended_by in (EndedBy.REQUEST, EndedBy.FOLDER_GONE),
            "hung": vigil.ended_by is EndedBy.ANSWERED,
            "limit": vigil.ended_by if vigil.ended_by in (EndedBy.MEMORY, EndedBy.PROCESSES) else None,
            "leftovers_killed": len(vigil.killed),
            "leftovers_alive": 0 if vigil.is_alone else tree.count_descendants(),
        }

    def _printed(self) -> dict[str, object]:
        out, err = self._stdout.spool, self._stderr.spool
        return {
            "stdout_bytes": out.printed_bytes,
            "truncated_bytes": out.cut_bytes,
            "stderr_bytes": err.printed_bytes,
            "stderr_truncated_bytes": err.cut_bytes,
            "spool_error": out.error or err.error,
        }

    def _write_outcome(self, facts: dict[str, object]) -> None:
        """Into the room reserved at the start; the file appears under its name only when it is whole."""
        text = json.dumps(facts).encode()
        os.pwrite(self._draft, text, 0)
        os.ftruncate(self._draft, len(text))
        os.fsync(self._draft)
        here = self._folder_fd
        with contextlib.suppress(FileNotFoundError):  # the folder was removed: nobody is left to tell
            os.rename(files.OUTCOME_DRAFT, files.OUTCOME, src_dir_fd=here, dst_dir_fd=here)
        os.fsync(here)

    def _read_spec(self) -> Spec:
        with open(self._open(files.SPEC, os.O_RDONLY), encoding="utf-8") as file:
            return Spec(file.read())

    def _output(self, name: str, answer: AnswerWatch) -> tuple[Output, int]:
        """The reading side of one output, and the end that the agent writes to."""
        cut_line = json_cut_line if name == files.STDOUT else plain_cut_line
        spool = CappedSpool(
            self._open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC),
            head_bytes=self._spec.head_bytes,
            tail_bytes=self._spec.tail_bytes,
            cut_line=cut_line,
        )
        pipe, agent_end = os.pipe()
        if self._spec.account is not None:  # else it could not open /dev/stdout anew
            os.fchown(agent_end, int(str(self._spec.account["uid"])), -1)
        return Output(pipe, spool, answer), agent_end

    def _open(self, name: str, flags: int) -> int:
        return os.open(name, flags, 0o600, dir_fd=self._folder_fd)


def _nothing_happened() -> dict[str, object]:
    """The outcome of a program that never ran."""
    return {
        "start_error": None,
        "agent_pid": None,
        "exit_code": None,
        "signal": None,
        "timed_out": False,
        "terminated": False,
        "hung": False,
        "limit": None,
        "leftovers_killed": 0,
        "leftovers_alive": 0,
    }


def _used() -> dict[str, object]:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "max_rss_bytes": usage.ru_maxrss * 1024,
    }
