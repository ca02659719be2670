"""Headers alone of what was no page, from hosts that answer that truthfully."""

import asyncio

import pytest

from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.errors import FetchError

ZIP = "application/zip"


def asked(replies: list[tuple[int, str]], *, pages_only: bool = True) -> tuple[list[str], str]:
    """Fetch one address again and again from a server that answers these, each to one request.

    Return the methods that it saw, and what went wrong at last.
    """
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        status, content_type = replies[len(seen)]
        seen.append(head.split()[0].decode())
        body = b"" if seen[-1] == "HEAD" else b"content"
        writer.write(
            f"HTTP/1.1 {status} Said\r\nContent-Type: {content_type}\r\nContent-Length: 7\r\n"
            "Connection: close\r\n\r\n".encode()
            + body
        )
        writer.close()

    async def main() -> str:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/file"
        wrong = ""
        async with server, HttpFetcher(user_agent="test", allow_private=["127.0.0.1"]) as fetcher:
            for status, content_type in replies:
                try:
                    found = await fetcher.fetch(url, pages_only=pages_only)
                except FetchError as error:
                    wrong = str(error)
                else:
                    assert (found.status, found.content_type) == (status, content_type)
        return wrong

    wrong = asyncio.run(main())
    return seen, wrong


def test_what_was_no_page_is_asked_for_its_headers() -> None:
    """Each fourth time for all of it, so that it is seen when it has become a page."""
    methods, wrong = asked([(200, ZIP)] * 9)

    assert methods == ["GET", "HEAD", "HEAD", "HEAD", "GET", "HEAD", "HEAD", "HEAD", "GET"]
    assert not wrong


@pytest.mark.parametrize("reply", [(405, "text/html"), (200, "text/html"), (404, ZIP), (500, ZIP)])
def test_a_host_that_says_something_else_then_is_asked_whole_requests(
    reply: tuple[int, str],
) -> None:
    """One that does not know the method, and one that has a page instead now."""
    methods, wrong = asked([(200, ZIP), reply, (200, ZIP), (200, ZIP)])

    assert methods == ["GET", "HEAD", "GET", "GET"]
    assert wrong.startswith("head: ")


def test_one_that_says_the_same_whatever_is_there_is_found_out() -> None:
    """By the whole request."""
    methods, wrong = asked([(200, ZIP)] * 4 + [(200, "text/html"), (200, ZIP), (200, ZIP)])

    assert methods == ["GET", "HEAD", "HEAD", "HEAD", "GET", "GET", "GET"]
    assert not wrong


@pytest.mark.parametrize("status", [304, 429, 503])
def test_some_answers_are_the_same_to_either(status: int) -> None:
    """Unchanged, and in trouble."""
    assert asked([(200, ZIP), (status, ZIP), (200, ZIP)]) == (["GET", "HEAD", "HEAD"], "")


def test_pages_and_robots_txt_are_asked_for_whole() -> None:
    """Whatever type they are called."""
    assert asked([(200, "text/html")] * 3) == (["GET"] * 3, "")
    assert asked([(200, ZIP)] * 3, pages_only=False) == (["GET"] * 3, "")
