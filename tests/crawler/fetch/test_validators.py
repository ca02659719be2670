"""ETags that a server marks as it compresses, and does not know again."""

import asyncio
from collections.abc import Callable

import pytest

from recrawl.crawler.fetch.http import HttpFetcher


def statuses(etag: str, knows: Callable[[list[str]], bool], n: int = 4) -> list[int]:
    """Return what a server answers that sends an ETag and is asked again and again with it.

    Parameters
    ----------
    knows : whether it takes these ETags for that of the page as it is
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = [line for line in head.split("\r\n") if line.startswith("If-None-Match: ")]
        told = lines[0].removeprefix("If-None-Match: ").split(", ") if lines else []
        status = "304 Not Modified" if knows(told) else "200 OK"
        writer.write(
            f"HTTP/1.1 {status}\r\nETag: {etag}\r\nContent-Type: text/html\r\n"
            "Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        writer.close()

    async def main() -> list[int]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        seen, held = list[int](), dict[str, str | None]()
        async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            for number in range(n):  # two pages in turn
                page = f"{url}/{number % 2}"
                found = await fetcher.fetch(page, etag=held.get(page))
                held[page] = found.etag or held.get(page)
                seen.append(found.status)
        return seen

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("etag", "plain"),
    [
        ('"b95-6611d0-gzip"', '"b95-6611d0"'),
        ('W/"b95--gzip"', 'W/"b95"'),
        ('"b95;br"', '"b95"'),
    ],
)
def test_a_server_is_told_the_etag_of_its_file_too(etag: str, plain: str) -> None:
    """It compares with that of its file; one whole answer of the host is enough to learn it."""
    assert statuses(etag, lambda told: plain in told) == [200, 200, 200, 304]


def test_a_server_that_knows_its_etags_is_told_them_as_they_are() -> None:
    """Also one that takes what it is told for a single ETag."""
    assert statuses('"b95-gzip"', lambda told: told == ['"b95-gzip"']) == [200, 200, 304, 304]
    assert statuses('"b95"', lambda told: len(told) > 1) == [200, 200, 200, 200]
