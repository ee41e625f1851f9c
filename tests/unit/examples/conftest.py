"""The example programs as the tests call them: in a folder of their own, as a process, their lines parsed."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    def call(self, prompt: str = "", *options: str, **more: Any) -> Call:
        with self.start(*options, **more) as program:
            stdout, stderr = program.communicate(prompt.encode(), timeout=30)
        return Call(program.returncode, parsed(stdout), stderr.decode("utf-8", "replace"))


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
def practice(tmp_path: Path) -> Program:
    return Program(EXAMPLES / "practice_agent.py", tmp_path)


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
