"""A wire between a process and its PostgreSQL server that can be cut, jammed and slowed."""

import asyncio
import contextlib
import threading
from typing import Literal

from recrawl.terms import Database

__all__ = ["Mode", "Wire"]

Mode = Literal["open", "cut", "jammed", "slow"]


class Wire:
    """Passes bytes on, as long as it is let.

    Parameters
    ----------
    database : on a server with a socket of its own

    Notes
    -----
    ``cut``: connections are closed, and new ones too. ``jammed``: nothing comes through any more,
    and nobody is told; what was sent meanwhile arrives when it opens again. ``slow``: everything
    takes some tenths of a second.
    """

    def __init__(self, database: Database, slow_s: float = 0.3) -> None:
        folder = database.address.partition("host=")[2]
        self._server, self._slow_s = f"{folder}/.s.PGSQL.5432", slow_s
        self._mode: Mode = "open"
        self._loop = asyncio.new_event_loop()
        self._opened = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        name = database.address.partition("?")[0].rpartition("/")[2]
        self.database = Database(f"postgresql://tester@127.0.0.1:{self.port}/{name}")

    def set(self, mode: Mode) -> None:
        """Treat bytes so from now on."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(self._set, mode, done)
        assert done.wait(60)

    def close(self) -> None:
        """Close all connections, and take no more."""
        self.set("cut")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _set(self, mode: Mode, done: threading.Event) -> None:
        self._mode = mode
        if mode == "jammed":
            self._opened.clear()
        else:
            self._opened.set()
        if mode == "cut":
            for writer in self._writers:
                writer.transport.abort()
            self._writers.clear()
        done.set()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._opened.set()
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mode == "cut":
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._server)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        try:
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        finally:
            self._writers -= {writer, far_writer}
            writer.transport.abort()
            far_writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                await self._opened.wait()
                if self._mode == "slow":
                    await asyncio.sleep(self._slow_s)
                writer.write(data)
                await writer.drain()
        await self._opened.wait()
        writer.transport.abort() if self._mode == "cut" else writer.close()
