"""A server that answers for every name, and sees whether it is asked as one."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from math import inf

__all__ = ["NamedServer"]


@dataclass
class NamedServer:
    """Answers every host on one port of 127.0.0.1, where names below localhost lead.

    It sees the most requests at once, the shortest rest between two, and who asked for what.
    """

    port: int = 0
    n_asked: int = 0
    most: int = 0
    least_s: float = inf
    connections: int = 0
    hosts: Counter[str] = field(default_factory=Counter)
    agents: Counter[str] = field(default_factory=Counter)
    _n_now: int = 0
    _ended_s: float = -inf

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["NamedServer"]:
        """Serve while the block runs."""
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while head := await reader.readuntil(b"\r\n\r\n"):
                    await self._answer(head.decode(), writer)
        finally:
            writer.close()

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop()
        self.n_asked += 1
        self._n_now += 1
        self.most = max(self.most, self._n_now)
        self.least_s = min(self.least_s, clock.time() - self._ended_s)
        told = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        self.hosts[told["Host"].partition(":")[0]] += 1
        self.agents[told["User-Agent"]] += 1
        await asyncio.sleep(0)
        is_page = "/robots.txt" not in head and "/sitemap.xml" not in head
        body = f"<title>A</title><main>{told['Host']} {head[:20]}</main>" if is_page else ""
        writer.write(
            f"HTTP/1.1 {200 if is_page else 404} X\r\nContent-Type: text/html\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        await writer.drain()
        self._n_now -= 1
        self._ended_s = clock.time()
