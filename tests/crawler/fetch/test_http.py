"""What HttpFetcher itself promises, beyond what every fetcher does."""

import asyncio
import contextlib
import socket

import pytest

from recrawl.crawler.fetch.host_headers import HostHeaders
from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse


async def asked_for(path: str) -> str:
    """Return the request line that a server sees."""
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head.split(b"\r\n")[0].decode())
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
        await fetcher.fetch(f"http://127.0.0.1:{port}{path}")
    return seen[0]


@pytest.mark.parametrize("path", ["/", "/a%2Fb?c=%20d+e&f=%C3%A4", "/a//b/;x=1", "/%7B%22x%22%7D"])
def test_an_address_is_asked_for_as_it_is_written(path: str) -> None:
    """Escapes are the server's: nothing is decoded or quoted anew on the way."""
    assert asyncio.run(asked_for(path)) == f"GET {path} HTTP/1.1"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nX: y",
        "http://127.0.0.1/\u00e4",
        "ftp://a/",
        "",
    ],
)
def test_what_is_no_normal_form_is_not_asked_for(url: str) -> None:
    """A line break in an address would be the end of the request."""

    async def main() -> None:
        async with HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            await fetcher.fetch(url)

    with pytest.raises(FetchError, match="normal form") as told:
        asyncio.run(main())
    assert told.value.kind == "url"


def test_what_is_said_to_caches_and_readers_is_kept() -> None:
    """Of several headers for caches all, in order; and where a reader is sent."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        said = b"Cache-Control: public\r\ncache-control: max-age=31536000, immutable\r\n"
        said += b"Refresh: 0; url=/there\r\n"
        writer.write(b"HTTP/1.1 200 OK\r\n" + said + b"Content-Length: 0\r\n\r\n")
        writer.close()

    async def main() -> FetchResponse:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            return await fetcher.fetch(f"http://127.0.0.1:{port}/")

    response = asyncio.run(main())
    assert response.cache_control == "public, max-age=31536000, immutable"
    assert response.refresh == "0; url=/there"


def test_a_name_that_moves_inside_is_not_followed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: a public address first, a private one beside it, and then only that.

    Nobody listens at the public one; at the private one a server does, and hears nothing.
    """
    answers = [["8.8.8.8", "127.0.0.1"], ["127.0.0.1"]]
    tried, heard = [], []

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(lambda _, writer: heard.append(writer), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        def names(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
            found = answers.pop(0) if host == "moving.test" else [host]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

        async def connect(_: socket.socket, address: tuple[str, int]) -> None:
            tried.append(address[0])
            raise ConnectionRefusedError(111, "nobody listens")

        monkeypatch.setattr(socket, "getaddrinfo", names)
        monkeypatch.setattr(loop, "sock_connect", connect)
        kinds = []
        async with server:
            for _ in range(2):
                async with HttpFetcher(user_agent="test") as fetcher:
                    with pytest.raises(FetchError) as told:
                        await fetcher.fetch(f"http://moving.test:{port}/")
                kinds.append(told.value.kind)
        return kinds

    assert asyncio.run(main()) == ["refused-address", "refused-address"]
    assert tried == ["8.8.8.8"]
    assert not heard
    assert not answers


def test_a_status_that_is_none_is_no_answer() -> None:
    """Found by fuzzing: a status below 100 was taken for one."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 001 \n\n")
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    with pytest.raises(FetchError, match="protocol: status 1 is none"):
        asyncio.run(main())


async def fetched(body: bytes, content_type: str) -> FetchResponse:
    """Fetch from a server that sends a body in small pieces, as long as it is read."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        told = f"Content-Type: {content_type}\r\n" if content_type else ""
        writer.write(f"HTTP/1.1 200 OK\r\n{told}Connection: close\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(body), 4_096):
                writer.write(body[start : start + 4_096])
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
        return await fetcher.fetch(f"http://127.0.0.1:{port}/", pages_only=True)


def test_an_archive_that_is_called_text_is_not_read() -> None:
    """As servers send files whose endings they do not know."""
    found = asyncio.run(fetched(b"PK\x03\x04" + bytes(range(256)) * 8, "text/plain"))

    assert (found.content_type, found.body) == ("application/octet-stream", b"")


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        ("text/html", b"\n<!doctype html><p>words"),
        ("text/plain", b"plain words"),
        ("application/octet-stream", b"PK\x03\x04" + bytes(range(256))),
    ],
)
def test_what_no_type_is_told_of_is_what_it_begins_as(expected: str, body: bytes) -> None:
    """Some servers tell none of files without an ending."""
    found = asyncio.run(fetched(body, ""))

    assert found.content_type == expected
    assert found.body == (b"" if "octet" in expected else body)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"plain text\n\t\x1b[1mbold\x1b[0m", "text/plain"),
        ("\ufeffwide".encode("utf-16-le"), "text/plain"),
        ("na\u00efve".encode("latin-1"), "text/plain"),
        (b"<p>an odd \x01 sign", "text/html"),
        (b"", "text/plain"),
    ],
)
def test_text_is_read_whatever_its_signs(body: bytes, content_type: str) -> None:
    """Escapes of terminals, other encodings, and pages that browsers show all the same."""
    found = asyncio.run(fetched(body, content_type))

    assert (found.content_type, found.body) == (content_type, body)


@pytest.mark.parametrize("length", ["Content-Length: 900", "Transfer-Encoding: chunked"])
def test_a_page_whose_mark_up_ends_is_whole_whatever_length_was_announced(length: str) -> None:
    """Half of one is not."""
    whole = b"<HTML><p>text</p></HTML>\n"

    async def main(body: bytes) -> bytes:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{length}\r\n\r\n"
            sent = b"%x\r\n%b\r\n" % (len(body), body) if "chunked" in length else body
            writer.write(head.encode() + sent)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            return (await fetcher.fetch(url)).body

    assert asyncio.run(main(whole)) == whole
    with pytest.raises(FetchError) as told:
        asyncio.run(main(whole[:12]))
    assert told.value.kind == "disconnected"


def test_a_cookie_is_sent_back_to_who_leads_to_itself_with_it() -> None:
    """Beside those that the configuration names."""
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.extend(line for line in head.split("\r\n") if line.startswith("Cookie: "))
        said = "302 Found\r\nSet-Cookie: seen=yes; Path=/\r\nLocation: /x"
        status = "204 No Content" if "seen=yes" in head else said
        writer.write(f"HTTP/1.1 {status}\r\nConnection: close\r\n\r\n".encode())
        writer.close()

    async def main() -> list[FetchResponse]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        besides = HostHeaders(everywhere={"Cookie": "mine=1"})
        async with (
            server,
            HttpFetcher(user_agent="test", allow_private=["127.0.0.1"], besides=besides) as fetcher,
        ):
            return [await fetcher.fetch(f"http://127.0.0.1:{port}/x") for _ in range(2)]

    first, second = asyncio.run(main())
    assert (first.status, first.wants_cookie) == (302, True)
    assert (second.status, second.wants_cookie) == (204, False)
    assert seen == ["Cookie: mine=1", "Cookie: mine=1; seen=yes"]
