"""Notes what an agent committed in the folder it worked in; never fails a run for it.

Every call of git is bounded in time, and nothing that the repository's own settings name is run: no hook, no
monitor, no external diff, no fetch.
"""

import os
import re
import select
import signal

from executions.runner import command, tree

GIT_SECONDS = 2.0  # each call
ANSWER_BYTES = 4096
SETTINGS = (b"-c", b"core.fsmonitor=false", b"-c", b"core.hooksPath=/dev/null")
BUILT_IN = (b"--no-ext-diff", b"--no-textconv", b"--submodule=short")  # no program of the repository's
ENVIRONMENT = {
    b"GIT_OPTIONAL_LOCKS": b"0",
    b"GIT_NO_LAZY_FETCH": b"1",
    b"GIT_PAGER": b"cat",
    b"GIT_TERMINAL_PROMPT": b"0",
    b"LC_ALL": b"C",
}
INHERITED = (
    b"PATH",
    b"HOME",
    b"XDG_CONFIG_HOME",
)  # of the agent's environment; its GIT_* would lead elsewhere


class GitNotes:
    """Looks at HEAD when the agent is about to start; `compare()` after its end says what came since."""

    def __init__(self, cwd: bytes, env: dict[bytes, bytes], account: dict[str, object] | None = None) -> None:
        self._cwd = cwd
        self._account = account  # the agent's: git refuses a folder of somebody else's, and rightly so
        self._env = ENVIRONMENT | {name: env[name] for name in INHERITED if name in env}
        self._since: bytes | None = None  # a commit, or the empty tree of a repository that had none
        self._known: list[bytes] = []  # what leads to commits that were there before
        if _has_git_above(cwd) and self._ask(b"rev-parse", b"--is-inside-work-tree") == b"true":
            head = self._head()
            self._known = [b"^" + head] if head else []
            self._since = head or self._ask(b"hash-object", b"-t", b"tree", b"/dev/null")

    def compare(self) -> dict[str, int | None] | None:
        """Commits since, and lines added and removed; None when it was no work tree or git does not say."""
        head = self._head() if self._since else None
        if self._since is None or head is None:
            return None
        if head == self._since:
            return {"commits": 0, "added": 0, "removed": 0}
        commits = self._ask(b"rev-list", b"--count", head, *self._known)
        lines = self._ask(b"diff", b"--shortstat", *BUILT_IN, self._since, head)
        return {
            "commits": _count(commits, rb"^(\d+)$"),
            "added": _count(lines, rb"(\d+) insertion"),
            "removed": _count(lines, rb"(\d+) deletion"),
        }

    def _head(self) -> bytes | None:
        return self._ask(b"rev-parse", b"--quiet", b"--verify", b"HEAD^{commit}")

    def _ask(self, *question: bytes) -> bytes | None:
        """What git answers, or None when it fails, hangs or is not there."""
        argv = [b"git", *SETTINGS, *question]
        orders = command.Command(argv, cwd=self._cwd, env=self._env, limits={}, umask=0o077, account=self._account)
        try:
            return _answer_to(orders)
        except (command.NotStarted, OSError):
            return None


def _answer_to(orders: command.Command) -> bytes | None:
    answer, answers = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        pid = command.start(orders, (nothing, answers, nothing))
        return _waiting_in(answer).strip() if _ended_well(pid) else None
    finally:
        for fd in (answer, answers, nothing):
            os.close(fd)


def _ended_well(pid: int) -> bool:
    """Wait for our child `pid`, not for long; its answers are short enough to lie in the pipe meanwhile."""
    end = select.poll()
    pidfd = os.pidfd_open(pid)
    end.register(pidfd, select.POLLIN)
    in_time = end.poll(GIT_SECONDS * 1000)
    os.close(pidfd)
    if not in_time:
        tree.signal_descendants(signal.SIGKILL)  # no agent lives before its start and after its end: all are git's
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _waiting_in(pipe: int) -> bytes:
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, ANSWER_BYTES)
    except BlockingIOError:  # it had nothing to say, and our own end keeps the pipe open
        return b""


def _has_git_above(cwd: bytes) -> bool:
    """Spares the calls where they could only say no."""
    path = os.path.abspath(cwd)
    while not os.path.exists(os.path.join(path, b".git")):
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


def _count(lines: bytes | None, pattern: bytes) -> int | None:
    if lines is None:
        return None
    found = re.search(pattern, lines)
    return int(found[1]) if found else 0
