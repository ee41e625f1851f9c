"""Starts a detached runner in a spool folder, from any thread; never waits for the agent.

The environment goes by inheritance and is written nowhere: it holds the run's secrets.
"""

import json
import math
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from executions.runner import folder as files
from executions.runner.vocabulary import StartResult
from trinity.kernel.errors import Broken

PROGRAM = Path(__file__).with_name("program.py")
START_SECONDS = 30  # for the answer of a runner that is being started
LOG_BYTES = 2000  # of a failed runner's log, in the reason
MEBIBYTE = 1024 * 1024
SMALLEST_TAIL_BYTES = 1024
LIMITS = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 16_384}  # where a spec says nothing else


class RunnerNotStarted(Broken):
    """No agent was started and the folder is still new, so it may be tried again; `reason` says why."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"The runner did not start in {folder}: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Account:
    """Who the agent becomes; the runner must be root, or hold CAP_SETUID, CAP_SETGID and CAP_KILL."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerSpec:
    """What to run and within which bounds. Raises Broken when a bound makes no sense."""

    argv: tuple[str, ...]
    cwd: Path
    timeout_seconds: float
    grace_seconds: float = 5  # between INT, TERM and KILL
    linger_seconds: float = 10  # how long it may live on after its final object
    final_types: tuple[str, ...] = ()  # JSON lines on stdout whose "type" says that the answer is complete
    interrupt_first: bool = True
    head_bytes: int = 16 * MEBIBYTE  # of each output
    tail_bytes: int = 1 * MEBIBYTE
    limits: Mapping[str, int] = field(default_factory=dict)  # beside LIMITS; names as in the module resource
    git: bool = False  # note commits made in cwd
    account: Account | None = None  # None: that of the runner
    memory_bytes: int = 0  # of the whole tree; 0: no limit
    processes: int = 0  # of the whole tree at once; 0: no limit
    wrapped: bool = False  # argv starts a wrapper that must outlive INT and TERM for what it wraps to answer them

    def __post_init__(self) -> None:
        wrong = {
            "argv": not self.argv,
            "cwd": not Path(self.cwd).is_absolute(),
            "timeout_seconds": not 0 < self.timeout_seconds < math.inf,
            "grace_seconds": not 0 <= self.grace_seconds < math.inf,
            "linger_seconds": not 0 <= self.linger_seconds < math.inf,
            "head_bytes": self.head_bytes < 0,
            "tail_bytes": self.tail_bytes < SMALLEST_TAIL_BYTES,
            "memory_bytes": self.memory_bytes < 0,
            "processes": self.processes < 0,
            "limits": any(not name.startswith("RLIMIT_") for name in self.limits),
        }
        named = ", ".join(name for name, is_wrong in wrong.items() if is_wrong)
        if named:
            raise Broken(f"A runner cannot be given this: {named}.")


def start(folder: Path, spec: RunnerSpec, *, stdin: bytes, env: Mapping[str, str]) -> StartResult:
    """Start `spec` in `folder`, at most once ever; returns when the start mark is on the disk (section 3).

    `env` is the agent's whole environment. `stdin` is what it may read; it may be long. Safe to call from
    many threads and processes at once: one of them gets STARTED. Raises RunnerNotStarted.
    """
    folder = folder.absolute()
    try:
        if (folder / files.START_MARK).exists():
            return StartResult.ALREADY_STARTED
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        _place(folder / files.STDIN, stdin)
        _place(folder / files.SPEC, _orders(spec))
        answer = _answer_of_runner(folder, env)
    except (OSError, ValueError) as error:
        raise RunnerNotStarted(folder, str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise RunnerNotStarted(folder, f"it did not answer within {START_SECONDS} seconds") from error
    if answer in list(StartResult):
        return StartResult(answer)
    raise RunnerNotStarted(folder, answer or _end_of_log(folder))


def _place(path: Path, content: bytes) -> None:
    """Whole or not at all, also when several launchers write the same at once."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _orders(spec: RunnerSpec) -> bytes:
    orders = asdict(spec) | {"cwd": str(spec.cwd), "limits": LIMITS | dict(spec.limits)}
    return json.dumps(orders, indent=1).encode()


def _answer_of_runner(folder: Path, env: Mapping[str, str]) -> str:
    """What the new runner says of its start. It is exec'd with no descriptor of ours but its three."""
    log = os.open(folder / files.LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROGRAM), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=env,
            cwd="/",
            start_new_session=True,  # a Ctrl-C for the server must not reach it before it has left by itself
        ) as starter:
            try:
                answer, _ = starter.communicate(timeout=START_SECONDS)
            except subprocess.TimeoutExpired:
                starter.kill()  # should a runner come up after all, a retry will find its mark
                raise
    finally:
        os.close(log)
    return answer.decode("utf-8", "replace").strip()


def _end_of_log(folder: Path) -> str:
    lines = (folder / files.LOG).read_bytes()[-LOG_BYTES:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"
