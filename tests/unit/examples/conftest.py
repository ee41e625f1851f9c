"""The example programs as the tests call them: as processes, each in its folder, their lines parsed."""

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))  # the programs find their modules beside them, and so do the tests


@dataclass
class Call:
    """One ended call of a program."""

    exit_code: int
    events: list[dict[str, Any]]
    stderr: str

    @property
    def final(self) -> dict[str, Any]:
        finals = [event for event in self.events if event["type"] == "result"]
        assert len(finals) == 1, f"{len(finals)} final objects; stderr: {self.stderr}"
        assert self.events[-1] is finals[0]
        return finals[0]

    @property
    def reply(self) -> str:
        assert self.final["is_error"] is False, self.final
        assert self.exit_code == 0
        return self.final["result"]

    @property
    def steps(self) -> list[list[tuple[str, dict[str, Any]]]]:
        """The tool calls, by the message that issued them."""
        by_message: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for event in self.events:
            if event["type"] == "assistant":
                calls = by_message.setdefault(event["message"]["id"], [])
                calls += [(b["name"], b["input"]) for b in event["message"]["content"] if b["type"] == "tool_use"]
        return [calls for calls in by_message.values() if calls]

    @property
    def tools(self) -> list[str]:
        return [name for step in self.steps for name, _ in step]


def parsed(stdout: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.decode("ascii").splitlines()]


@dataclass
class Program:
    """One of the programs, started in one folder, with the standard library alone (`-S`)."""

    path: Path
    folder: Path

    def start(self, *options: str, environment: dict[str, str] | None = None, **more: Any) -> subprocess.Popen[bytes]:
        bare = {name: value for name, value in os.environ.items() if not name.startswith("TRINITY_")}
        return subprocess.Popen(
            [sys.executable, "-S", str(self.path), *options],
            cwd=self.folder,
            env=bare | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )

    def call(self, prompt: str = "", *options: str, fresh: bool = False, **more: Any) -> Call:
        """One call from start to end: a fork of the tests, which starts soonest, or a fresh interpreter."""
        if not fresh:
            return self._forked(prompt, options, **more)
        with self.start(*options, **more) as program:
            stdout, stderr = program.communicate(prompt.encode(), timeout=30)
        return Call(program.returncode, parsed(stdout), stderr.decode("utf-8", "replace"))

    def _forked(self, prompt: str, options: Sequence[str], environment: dict[str, str] | None = None) -> Call:
        with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
            stdin.write(prompt.encode())
            stdin.seek(0)
            child = os.fork()
            if child == 0:
                os.chdir(self.folder)
                for name in [name for name in os.environ if name.startswith("TRINITY_")]:
                    del os.environ[name]
                os.environ.update(environment or {})
                self._become((stdin, stdout, stderr), options)
            status = os.waitpid(child, 0)[1]
            for written in (stdout, stderr):
                written.seek(0)
            return Call(os.waitstatus_to_exitcode(status), parsed(stdout.read()), stderr.read().decode())

    def _become(self, streams: Sequence[IO[bytes]], options: Sequence[str]) -> NoReturn:
        """Be the program, in a child of the tests, which must never go on as the tests."""
        code = 255
        try:
            for number, stream in enumerate(streams):
                os.dup2(stream.fileno(), number)
            sys.argv = [self.path.name, *options]
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            importlib.import_module(self.path.stem).main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)


class Practice(Program):
    """The practice agent."""

    def in_loop(self, prompt: str, run: int = 1, *, loop: str = "loop_a", **more: Any) -> Call:
        """One run of a loop."""
        return self.call(prompt, environment=self.of_run(run, loop), **more)

    @staticmethod
    def of_run(run: int = 1, loop: str = "loop_a") -> dict[str, str]:
        return {
            "TRINITY_LOOP_ID": loop,
            "TRINITY_RUN_NUMBER": str(run),
            "TRINITY_EXECUTION_ID": f"exec_{run}",
        }


@dataclass
class Desk:
    """A workspace of the inbox agent."""

    folder: Path
    agent: Program

    def put(self, name: str, content: str | bytes, *, age: float = 0) -> Path:
        """A text in the inbox; `age` in seconds makes it older."""
        path = self.folder / "inbox" / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))
        return path

    def run(self, prompt: str = "", *options: str, **more: Any) -> Call:
        return self.agent.call(prompt, *options, **more)

    def drain(self, most: int = 20) -> list[str]:
        """Run until the inbox is said to be empty; the replies."""
        replies: list[str] = []
        for _ in range(most):
            replies.append(self.run().reply)
            if "[[DONE]]" in replies[-1]:
                return replies
        raise AssertionError(f"not drained after {most} runs: {replies}")

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def text(self, path: str) -> str:
        return (self.folder / path).read_text()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "inbox").mkdir()
    return Desk(tmp_path, Program(EXAMPLES / "inbox_agent.py", tmp_path))


@pytest.fixture
def practice(tmp_path: Path) -> Practice:
    return Practice(EXAMPLES / "practice_agent.py", tmp_path)


@pytest.fixture
def story() -> str:
    """A text that is summarised, not kept whole."""
    return (ROOT / "tests/data/examples/moving-the-archive.txt").read_text()


@pytest.fixture(scope="session")
def texts() -> dict[str, str]:
    """The texts that come with the product, by name."""
    return {path.name: path.read_text() for path in sorted((EXAMPLES / "texts").iterdir())}


@pytest.fixture(scope="session")
def practice_page() -> str:
    return (ROOT / "docs" / "practice.md").read_text()
