"""Real runners in folders of their own, ended when a test is over; waits for facts, never for time."""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from executions.runner import folder as files
from executions.runner import launch, state
from executions.runner.outcome import RunnerOutcome
from executions.runner.vocabulary import RunnerState, StartResult

PATH = "/usr/local/bin:/usr/bin:/bin"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The runner knows no database: once is enough."""
    for one in items:
        if one.path.parent == Path(__file__).parent:
            one.add_marker(pytest.mark.once)


def runs(pid: int) -> bool:
    """A zombie that nobody has collected yet does not run."""
    try:
        return files.stat_fields(pid)[0] not in (b"Z", b"X")
    except OSError:
        return False


class Runner:
    """One spool folder and what may be asked of it."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.folder = folder
        self.workspace = workspace

    def start(self, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None, **bounds: object) -> StartResult:
        bounds = {"cwd": self.workspace, "timeout_seconds": 30} | bounds
        spec = launch.RunnerSpec(argv=argv, **bounds)
        return launch.start(self.folder, spec, stdin=stdin, env={"PATH": PATH} if env is None else env)

    def start_python(self, program: str, **bounds: object) -> StartResult:
        return self.start(sys.executable, "-I", "-S", "-u", "-c", program, **bounds)

    def start_shell(self, program: str, **bounds: object) -> StartResult:
        return self.start("sh", "-c", program, **bounds)

    @property
    def state(self) -> RunnerState:
        return state.state(self.folder)

    @property
    def pid(self) -> int:
        return files.read_start_mark(str(self.folder))[0]

    def stdout(self) -> bytes:
        return (self.folder / files.STDOUT).read_bytes()

    def stderr(self) -> bytes:
        return (self.folder / files.STDERR).read_bytes()

    def outcome(self, within: float = 15) -> RunnerOutcome:
        """The outcome, once the runner has ended."""
        pidfd = state.open_pidfd(self.folder)
        if pidfd is not None:
            end = select.poll()
            end.register(pidfd, select.POLLIN)
            ended = end.poll(within * 1000)
            os.close(pidfd)
            assert ended, f"the runner still lives after {within} s"
        assert self.state is RunnerState.FINISHED
        return state.outcome(self.folder)

    def kill(self) -> None:
        """As the kernel does when memory runs out: only the runner, without a word."""
        pidfd = state.open_pidfd(self.folder)
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        end = select.poll()
        end.register(pidfd, select.POLLIN)
        assert end.poll(5000)
        os.close(pidfd)

    def clean_up(self) -> None:
        if self.state is RunnerState.RUNNING:
            with contextlib.suppress(TypeError):  # it ended between the two
                self.kill()
        state.reap_lost(self.folder)


@pytest.fixture
def new_runner(tmp_path: Path) -> Iterator[Callable[[], Runner]]:
    """Makes runners that are not started yet."""
    made: list[Runner] = []

    def make(folder: Path | None = None) -> Runner:
        workspace = tmp_path / "workspace"
        workspace.mkdir(exist_ok=True)
        made.append(Runner(folder or tmp_path / "spool" / f"exec_{len(made)}.1", workspace))
        return made[-1]

    yield make
    for runner in made:
        runner.clean_up()


@pytest.fixture
def runner(new_runner: Callable[[], Runner]) -> Runner:
    return new_runner()


@pytest.fixture
def eventually() -> Callable[..., object]:
    """The first true answer of a question that is asked until a deadline."""

    def ask(question: Callable[[], object], within: float = 8) -> object:
        deadline = time.monotonic() + within
        while not (answer := question()):
            assert time.monotonic() < deadline, f"not so within {within} s"
            time.sleep(0.01)
        return answer

    return ask


@pytest.fixture
def is_running() -> Callable[[int], bool]:
    return runs


@pytest.fixture
def pids_in(eventually: Callable[..., object]) -> Callable[[Path, int], list[int]]:
    """The pids that the agent's own programs wrote into a file, one a line."""

    def read(path: Path, count: int) -> list[int]:
        eventually(lambda: path.exists() and path.read_text().count("\n") >= count)
        return [int(line) for line in path.read_text().split()]

    return read


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = tmp_path / "small_disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=256k tmpfs {disk} 2>/dev/null"):
        pytest.skip("may not mount a file system here")
    yield disk
    os.system(f"umount -l {disk}")
