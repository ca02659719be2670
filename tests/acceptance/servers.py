"""Local servers in a thread of the test process: raw bytes out, so that they can misbehave."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping

Handler = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request, and the connection to answer on."""

    def __init__(self, path: str, headers: Mapping[str, str], writer: asyncio.StreamWriter) -> None:
        self.path = path
        self.headers = headers
        self.writer = writer
        self.method = "GET"
        self.body = b""

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self, body: bytes | str = b"", *, status: int = 200, close: bool = False, **headers: str
    ) -> None:
        """Answer in full; header names are written with underscores."""
        data = body.encode() if isinstance(body, str) else body
        headers = {"Content_Type": "text/html; charset=utf-8"} | headers
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value]
        lines += ["Connection: close"] if close else []
        await self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data)

    def reset(self) -> None:
        """Drop the connection with a reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class LocalServer:
    """Serves on 127.0.0.1 until closed; counts the requests for each host and path."""

    def __init__(self, handler: Handler) -> None:
        self.requests: Counter[str] = Counter()
        self.port = 0
        self._asked = threading.Condition()
        self._handler = handler
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(60)

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._answer, "127.0.0.1", 0, limit=2**20)
        )
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0))  # what was closed says goodbye
        self._loop.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(
                OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError
            ):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                    path = head[0].split(" ")[1]
                    pairs = (line.partition(":") for line in head[1:] if line)
                    headers = {name.lower(): value.strip() for name, _, value in pairs}
                    with self._asked:
                        self.requests[headers.get("host", "") + path] += 1
                        self._asked.notify_all()
                    exchange = Exchange(path, headers, writer)
                    exchange.method = head[0].split(" ")[0]
                    exchange.body = await reader.readexactly(int(headers.get("content-length", 0)))
                    await self._handler(exchange)
                    if writer.is_closing():
                        break
        finally:
            writer.close()

    def wait_for(self, requests: int) -> None:
        """Return once so many requests have come in all."""
        with self._asked:
            assert self._asked.wait_for(lambda: self.requests.total() >= requests, timeout=60)

    def wait_for_path(self, name: str, requests: int) -> None:
        """Return once so many requests for a host and path have come in."""
        with self._asked:
            assert self._asked.wait_for(lambda: self.requests[name] >= requests, timeout=60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


@contextlib.contextmanager
def serving(handler: Handler) -> Iterator[LocalServer]:
    server = LocalServer(handler)
    try:
        yield server
    finally:
        server.close()
