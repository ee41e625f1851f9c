"""Starts one command below the runner, or says in a plain sentence why not; never waits for its end."""

import errno
import os
import resource
import signal
import warnings  # noqa: F401 - execvpe loads it, and another account may not be able to
from enum import StrEnum

from executions.runner import tree

NAME_CHARACTERS = 200  # of a path in a sentence; the outcome is bounded


class Step(StrEnum):
    """Where a start can fail."""

    FORK = "fork"
    LIMITS = "limits"
    ACCOUNT = "account"
    FOLDER = "folder"
    PROGRAM = "program"


class NotStarted(Exception):
    """The program never ran; `str()` is a sentence for a person."""


class Command:
    """What to run: `argv` in `cwd` with exactly `env`. A limit above the one in force means that one."""

    def __init__(
        self,
        argv: list[bytes],
        *,
        cwd: bytes,
        env: dict[bytes, bytes],
        limits: dict[str, int],
        umask: int,
        account: dict[str, object] | None = None,
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.limits = limits
        self.umask = umask
        self.account = account


def start(command: Command, stdio: tuple[int, int, int]) -> int:
    """Run it in a session of its own, to die with the runner; its pid. Raises NotStarted.

    `stdio` are descriptors above 2; it gets no others.
    """
    told, tell = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(told)
        os.close(tell)
        raise NotStarted(_sentence(Step.FORK, error.errno or 0, command)) from error
    if pid == 0:
        _become(command, stdio, parent, tell)
    os.close(tell)
    with open(told, "rb") as report:
        failure = report.read()  # ends with the exec, which closes the other end
    if failure:
        os.waitpid(pid, 0)
        step, number = failure.decode().split()
        raise NotStarted(_sentence(Step(step), int(number), command))
    return pid


def _become(command: Command, stdio: tuple[int, int, int], parent: int, tell: int) -> None:
    """In the forked child: turn into the command, or tell why not. Does not return."""
    step = Step.LIMITS
    try:
        os.setsid()
        tree.die_with(parent)
        _forget_the_runners_signals()
        os.umask(command.umask)
        for target, fd in enumerate(stdio):
            os.dup2(fd, target)
        _limit(command.limits)
        if command.account is not None:
            step = Step.ACCOUNT
            _change_account(command.account)
            tree.die_with(parent)  # a change of account takes this back
        step = Step.FOLDER
        os.chdir(command.cwd)
        step = Step.PROGRAM
        os.execvpe(command.argv[0], command.argv, command.env)  # noqa: S606 - no shell is what is wanted
    except BaseException as error:
        number = error.errno if isinstance(error, OSError) else None
        os.write(tell, f"{step} {number or errno.EINVAL}".encode())
    os._exit(127)


def _forget_the_runners_signals() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)  # what is ignored stays ignored through an exec


def _change_account(account: dict[str, object]) -> None:
    """The groups first: afterwards it may change none."""
    uid, gid, groups = int(str(account["uid"])), int(str(account["gid"])), account["groups"]
    os.setgroups(list(groups) if isinstance(groups, list) else [])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    tree.gain_nothing_more()


def _limit(limits: dict[str, int]) -> None:
    for name, limit in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (bound, bound))


def _sentence(step: Step, number: int, command: Command) -> str:
    reason = os.strerror(number)
    match step:
        case Step.FORK:
            return f"This machine could not make another process: {reason}."
        case Step.LIMITS:
            return f"The agent's limits could not be set: {reason}."
        case Step.ACCOUNT:
            return (
                f"The agent's account could not be taken on: {reason}. Trinity must run as root for it, or with the"
                " capabilities CAP_SETUID, CAP_SETGID and CAP_KILL."
            )
        case Step.FOLDER:
            return _folder_sentence(number, _shown(command.cwd))
        case Step.PROGRAM:
            return _program_sentence(number, command.argv[0], command.cwd)


def _folder_sentence(number: int, folder: str) -> str:
    match number:
        case errno.ENOENT:
            return f"The folder {folder} is not there."
        case errno.ENOTDIR:
            return f"{folder} is not a folder."
        case errno.EACCES:
            return f"The folder {folder} may not be entered by the account that runs Trinity."
        case _:
            return f"The folder {folder} could not be entered: {os.strerror(number)}."


def _program_sentence(number: int, program: bytes, cwd: bytes) -> str:
    shown = _shown(program)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return _absence_sentence(shown, program, cwd)
    reasons = {
        errno.EACCES: "it may not be executed",
        errno.ENOEXEC: "it is no program for this machine; a script needs a first line such as #!/bin/sh",
        errno.E2BIG: "its argument list is too long for this machine; give the prompt on stdin",
        errno.EINVAL: "its arguments hold a character that no argument may hold, such as NUL",
    }
    return f"The program {shown} could not be started: {reasons.get(number) or os.strerror(number)}."


def _absence_sentence(shown: str, program: bytes, cwd: bytes) -> str:
    if b"/" not in program:
        return f"The program {shown} was not found in the folders of PATH."
    if os.path.exists(os.path.join(cwd, program)):
        return f"The interpreter that the first line of {shown} names is not there."
    return f"The program {shown} is not there."


def _shown(path: bytes) -> str:
    text = path.decode("utf-8", "backslashreplace")
    return text if len(text) <= NAME_CHARACTERS else f"{text[:NAME_CHARACTERS]}…"
