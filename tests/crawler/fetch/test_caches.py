"""How old answers are by what caches say, and whom the crawler asks past them."""

import asyncio

import pytest

from recrawl.crawler.fetch.caches import Caches, age_of
from recrawl.crawler.fetch.http import HttpFetcher


@pytest.mark.parametrize(
    ("said", "age_s"),
    [
        ("0", 0.0),
        ("17", 17.0),
        (" 86400 ", 86_400.0),
        (None, 0.0),
        ("", 0.0),
        ("-3", 0.0),
        ("1.5", 0.0),
        ("1e3", 0.0),
        ("٣", 0.0),
        ("9" * 9, 999_999_999.0),
        ("9" * 10, 0.0),
    ],
)
def test_an_age_is_whole_seconds(said: str | None, age_s: float) -> None:
    """Whatever else stands there is none."""
    assert age_of(said) == age_s


def test_hosts_behind_a_cache_are_remembered_while_there_is_room() -> None:
    """Of any age but none; fifty thousand, then it begins anew."""
    caches = Caches()
    hosts = [f"http://{n}.test/" for n in range(50_001)]
    caches.note("http://none.test/", 0.0)
    for host in hosts[:-1]:
        caches.note(f"{host}page", 1.0)
    before = [bool(caches.of(host)) for host in ["http://none.test/", hosts[0], hosts[-2]]]
    caches.note(hosts[-1], 1.0)

    assert before == [False, True, True]
    assert [bool(caches.of(host)) for host in (hosts[0], hosts[-1])] == [False, True]


def test_a_cache_that_has_answered_is_asked_for_what_is_new() -> None:
    """Of its own host, from the next request on; others are asked as ever."""
    asked: list[tuple[str, bool]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1]
        asked.append((path, "cache-control: max-age=0" in head.lower()))
        age = "Age: 40\r\n" if path.startswith("/cached") else ""
        writer.write(
            f"HTTP/1.1 200 OK\r\n{age}Content-Type: text/html\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        writer.close()

    async def main() -> list[float]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        allowed = ["127.0.0.1", "localhost"]
        async with server, HttpFetcher(user_agent="test", allow_private=allowed) as fetcher:
            here, there = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
            pages = [f"{here}/1", f"{here}/cached", f"{here}/2", f"{there}/3"]
            return [(await fetcher.fetch(page)).age_s for page in pages]

    assert asyncio.run(main()) == [0.0, 40.0, 0.0, 0.0]
    assert asked == [("/1", False), ("/cached", False), ("/2", True), ("/3", False)]
