"""The tool that runs shell commands in the folder; a command may do whatever the account may, unlike the file tools.

It reaches the model's key neither by its environment nor, where the kernel allows it, by this process's.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from subprocess import DEVNULL

KEPT_CHARACTERS = 30_000  # of a command's output: its beginning and its end
_HALF_BYTES = 2 * KEPT_CHARACTERS
READ_BYTES = 64 * 1024
LAST_WORDS_SECONDS = 0.2  # what it left in the background may hold the output open; that is not waited for


class Shell:
    """Runs one command after the other, each in a session of its own; what it leaves in the background goes on."""

    def __init__(self, folder: str, environment: Mapping[str, str], longest_seconds: int) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._longest_seconds = longest_seconds
        self._readers: set[asyncio.Task[None]] = set()

    async def run(self, command: str, timeout_seconds: int | None = None) -> tuple[str, bool]:
        """What it printed on both outputs, and whether it failed. A command that takes too long is killed."""
        seconds = min(timeout_seconds or self._longest_seconds, self._longest_seconds)
        kept = _BothEnds()
        # A pipe of our own: with asyncio's, the end of a command waits for all that it left in the background.
        output, ours = os.pipe()
        try:
            reader = await self._read(output, kept)
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                command,
                stdin=DEVNULL,
                stdout=ours,
                stderr=ours,
                cwd=self._folder,
                env=self._environment,
                start_new_session=True,
            )
        finally:
            os.close(ours)
        too_late = await _was_too_late(process, seconds)
        await asyncio.wait([reader], timeout=LAST_WORDS_SECONDS)
        return _told(kept, process.returncode or 0, too_late, seconds)

    async def _read(self, output: int, kept: "_BothEnds") -> "asyncio.Task[None]":
        stream = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(output, "rb", 0)
        )
        reader = asyncio.create_task(_drain(stream, kept))
        self._readers.add(reader)  # else nobody holds it, and a background command would block on a full pipe
        reader.add_done_callback(self._readers.discard)
        return reader


async def _was_too_late(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Wait for its end, and bring it about when that takes too long; whether it did."""
    too_late = False
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        too_late = True
    finally:  # also when the whole call is ended
        if process.returncode is None:
            _kill_group(process.pid)
            await process.wait()
    return too_late


async def _drain(output: asyncio.StreamReader, kept: "_BothEnds") -> None:
    while chunk := await output.read(READ_BYTES):
        kept.add(chunk)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _told(kept: "_BothEnds", code: int, too_late: bool, seconds: int) -> tuple[str, bool]:
    output = kept.text() or "(no output)"
    if too_late:
        return f"{output}\n(killed: it took longer than {seconds} seconds)", True
    if code < 0:
        return f"{output}\n(killed by signal {-code})", True
    return (f"{output}\n(exit code {code})", True) if code else (output, False)


class _BothEnds:
    """A text of which both ends are kept."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0

    def add(self, chunk: bytes) -> None:
        room = _HALF_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * _HALF_BYTES:
            self._cut += len(self._tail) - _HALF_BYTES
            del self._tail[:-_HALF_BYTES]

    def text(self) -> str:
        between = f"\n[cut: {self._cut:,} bytes left out here]\n".encode() if self._cut else b""
        text = (bytes(self._head) + between + bytes(self._tail)).decode("utf-8", "replace")
        if len(text) <= KEPT_CHARACTERS:
            return text
        half = KEPT_CHARACTERS // 2
        return f"{text[:half]}\n[cut: {len(text) - 2 * half:,} characters left out here]\n{text[-half:]}"
