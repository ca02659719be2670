"""The server on a real socket: what no application sees."""

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recrawl.web.guard import Access
from recrawl.web.listening import bind
from recrawl.web.server import FewFiles, serve

HOST = b"Host: 127.0.0.1\r\n"


@contextlib.asynccontextmanager
async def running(directory: Path, *, request_s: float = 15.0) -> AsyncIterator[int]:
    """Serve a directory in this loop; give the port."""
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    started = asyncio.Event()
    served = serve(listener, directory, access=Access(), on_start=started.set, request_s=request_s)
    task = asyncio.create_task(served)
    await started.wait()
    try:
        yield port
    finally:
        signal.raise_signal(signal.SIGTERM)
        await task


async def answer(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    told = await reader.read()
    writer.close()
    return told


def test_small_answers_leave_at_once() -> None:
    """Or each answer on a kept connection waits 40 ms for the receipt of its head."""
    listener = bind("127.0.0.1", 0)
    try:
        assert listener.proto == socket.IPPROTO_TCP  # by which asyncio goes
    finally:
        listener.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /opensearch.xml HTTP/1.1\r\n" + HOST, b"200"),
        (b"HEAD /api/events HTTP/1.1\r\n" + HOST, b"200"),
        (b"OPTIONS / HTTP/1.1\r\n" + HOST, b"405"),
        (b"TRACE / HTTP/1.1\r\n" + HOST, b"405"),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n", b"421"),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n", b"400"),
        (b"GET /static/../app.py HTTP/1.1\r\n" + HOST, b"404"),
        (b"\x16\x03\x01\x02\x00\r\n", b"400"),
    ],
)
async def test_requests_of_any_kind_are_answered(
    tmp_path: Path, sent: bytes, status: bytes
) -> None:
    """And the connection ends, also after the head of what has no end."""
    async with running(tmp_path) as port:
        told = await answer(port, sent + b"Connection: close\r\n\r\n")

    assert told.split(b" ", 2)[1] == status


async def test_a_request_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    """Neither the first nor a further one; one that came is answered."""
    async with running(tmp_path, request_s=0.05) as port:
        assert await answer(port, b"GET / HT") == b""
        assert await answer(port, b"") == b""
    async with running(tmp_path, request_s=1.0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /opensearch.xml HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        await reader.readuntil(b"</OpenSearchDescription>\n")
        writer.write(b"GET / HT")
        assert await reader.read() == b""
        writer.close()


async def test_no_client_has_all_connections(crawl: Path) -> None:
    """Whoever opens hundreds and says nothing loses the oldest of them; a request is answered."""
    async with running(crawl) as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(450)]

        told = await answer(port, b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")

        assert told.startswith(b"HTTP/1.1 200")
        assert await silent[0][0].read() == b""
        for _, writer in silent:
            writer.close()


def test_connections_for_which_no_file_is_left_are_told_of_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The loop told of each that waited: ten megabytes of log in a second."""
    told: list[dict[str, Any]] = []
    now_s = 0.0
    loop: Any = SimpleNamespace(time=lambda: now_s, default_exception_handler=told.append)
    handler = FewFiles()
    none_left = {"exception": OSError(errno.EMFILE, "Too many open files")}
    other = {"exception": OSError(errno.EPIPE, "Broken pipe")}

    for _ in range(1_000):
        handler(loop, none_left)
    handler(loop, other)
    now_s = 61.0
    handler(loop, none_left)

    assert [record.getMessage()[:16] for record in caplog.records] == ["connections wait"] * 2
    assert told == [other]
