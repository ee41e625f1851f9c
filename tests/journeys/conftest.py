"""Fixtures of the journeys: a server in a folder of its own, and agents that leave a trace of each run."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.server import EmbeddedServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """An embedded server that runs; ended afterwards."""
    server = EmbeddedServer(tmp_path / "home")
    server.start()
    yield server
    server.stop()


class Witness:
    """An agent's command that appends `loop run` to a file when it begins: carried out twice, it shows."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "witness.txt"
        program = folder / "witness.py"
        program.write_text(
            "import os, sys, time\n"
            "line = os.environ['TRINITY_LOOP_ID'] + ' ' + os.environ['TRINITY_RUN_NUMBER'] + '\\n'\n"
            f"fd = os.open({str(self.file)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
            "os.write(fd, line.encode())\n"
            "time.sleep(float(sys.argv[1]))\n"
            "print('run', os.environ['TRINITY_RUN_NUMBER'], 'is done')\n"
        )
        self.program = program

    def argv(self, seconds: float) -> list[str]:
        return [sys.executable, str(self.program), str(seconds)]

    def runs_of(self, loop_id: str) -> list[int]:
        """The run numbers that were begun, in order."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [int(line.split()[1]) for line in lines if line.split()[0] == loop_id]


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return Witness(tmp_path)
