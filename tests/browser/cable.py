"""A TCP line to the server that can be cut and mended; it carries bytes and knows no protocol."""

import asyncio
import contextlib
import threading


class Cable:
    """Listens on a port of its own and passes everything on, in a thread of its own."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._whole = True
        self._lines: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.address = f"http://{self.host}"

    def cut(self) -> None:
        """End all connections and refuse new ones."""
        self._whole = False
        self._do(self._end_all())

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    def _do(self, work):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=5)

    async def _end_all(self) -> None:
        for line in list(self._lines):
            line.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.close()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._lines |= {writer, back}
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._lines -= {writer, back}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()
