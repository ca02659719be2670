"""The feed over HTTP: any language can follow it, and people too."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.types import ASGIApp, Message
from tests.fed import HOST, Fed
from tests.web.asgi import Answer, ask, scope_of

from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import Access

TOKEN = "correct-horse-battery"


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Fed]:
    """Three pages, of which one changed and one went."""
    made = Fed(tmp_path / "state")
    made.put("/docs/a", "/docs/b", "/c", text="first")
    made.put("/c", text="second", edit="@@ -1,1 +1,1 @@\n-first\n+second")
    made.drop("/docs/b")
    yield made
    made.close()


@asynccontextmanager
async def serving(
    directory: Path, token: str | None = None
) -> AsyncIterator[tuple[ASGIApp, CrawlPages]]:
    access = Access(token=token)
    pages = CrawlPages(directory, access=access, settings=None, config="recrawl.toml")
    try:
        yield make_app(pages, access), pages
    finally:
        for reader in pages.readers:
            reader.close()


async def get(fed: Fed, url: str, **headers: Any) -> Answer:
    async with serving(fed.directory) as (app, _):
        return await ask(app, url, **headers)


def rows(answer: Answer) -> list[dict[str, Any]]:
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_pages_of_the_feed_follow_each_other(fed: Fed) -> None:
    """Each says where the next begins."""
    first = await get(fed, "/changes?limit=2")
    second = await get(fed, f"/changes?limit=9&since={first.headers['recrawl-next']}")
    last = await get(fed, f"/changes?since={second.headers['recrawl-next']}")

    assert [row["seq"] for row in rows(first) + rows(second)] == [1, 2, 3, 4, 5]
    assert rows(last) == []
    assert 'since=2&limit=2>; rel="next"' in first.headers["link"]


async def test_a_reader_gets_what_it_asks_for(fed: Fed) -> None:
    """Content, diffs, paths and kinds."""
    told = rows(await get(fed, "/changes?content=text&diff=1&path=/c&since=1"))
    gone = rows(await get(fed, "/changes?path=/docs/*&kind=removed&kind=moved"))

    assert [(row["seq"], row.get("text")) for row in told] == [(3, None), (4, "second of /c")]
    assert told[1]["diff"].endswith("+second")
    assert [row["url"] for row in gone] == [f"{HOST}/docs/b"]


async def test_pages_come_in_pieces_and_as_html(fed: Fed) -> None:
    """As on the command line."""
    (told,) = rows(await get(fed, "/changes?content=html&chunks=50&path=/c&since=3"))

    assert told["html"].endswith("<p>second of /c</p>\n")
    assert "second of /c" in told["chunks"][-1]["text"]


async def test_what_one_has_is_not_sent_again(fed: Fed) -> None:
    """By its tag; a page that says more has another."""
    one = await get(fed, "/changes?since=3")
    same = await get(fed, "/changes?since=3", if_none_match=one.headers["etag"])
    fed.put("/d")
    more = await get(fed, "/changes?since=3", if_none_match=one.headers["etag"])

    assert (same.status, same.body) == (304, b"")
    assert [row["seq"] for row in rows(more)] == [4, 5, 6]


async def test_one_may_wait_for_what_comes(fed: Fed) -> None:
    """And is answered when it comes, or when the time is over."""
    async with serving(fed.directory) as (app, _):
        waits = asyncio.create_task(ask(app, "/changes?since=5&wait=60s"))
        await asyncio.sleep(0)
        fed.put("/e")
        assert [row["seq"] for row in rows(await waits)] == [6]
        assert rows(await ask(app, "/changes?since=6&wait=1ms")) == []


async def test_whoever_waits_is_let_go_when_the_server_ends(fed: Fed) -> None:
    """Or it could not end."""
    async with serving(fed.directory) as (app, pages):
        waits = asyncio.create_task(ask(app, "/changes?since=5&wait=60s"))
        await asyncio.sleep(0)
        pages.close()

        assert rows(await waits) == []


async def test_a_stream_goes_on_where_it_broke_off(fed: Fed) -> None:
    """A browser says which event was the last that it saw."""
    came: asyncio.Queue[bytes] = asyncio.Queue()
    begun = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if begun:
            return begun.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        came.put_nowait(message.get("body", b""))

    headers = {"accept": "text/event-stream", "last-event-id": "4"}
    async with serving(fed.directory) as (app, _):
        stream = asyncio.ensure_future(
            app(scope_of("/changes?since=1", "GET", headers), receive, send)
        )
        told = b""
        while b"data:" not in told:
            told += await came.get()
        stream.cancel()
        await asyncio.wait([stream])

    assert b"id: 5\nevent: removed\ndata: {" in told
    assert b"id: 4" not in told


async def test_people_follow_it_in_their_readers(fed: Fed) -> None:
    """As Atom and as JSON Feed, the latest first; what pages say is text."""
    fed.put("/<e>", title='<b>&"', text="x")
    atom = await get(fed, "/changes.atom?path=/docs/*&path=/<e>")
    feed = await get(fed, "/changes.json?path=/docs/*")
    ns = {"a": "http://www.w3.org/2005/Atom"}
    entries = ElementTree.fromstring(atom.body).findall("a:entry", ns)

    assert [entry.findtext("a:title", None, ns) for entry in entries] == [
        "New: Title", "Removed: Title", "New: Title", "New: Title",
    ]  # fmt: skip
    link = entries[0].find("a:link", ns)
    assert link is not None
    assert link.get("href") == f"{HOST}/<e>"
    assert feed.json["version"] == "https://jsonfeed.org/version/1.1"
    assert [item["url"][-1] for item in feed.json["items"]] == ["b", "b", "a"]
    assert len({item["id"] for item in feed.json["items"]}) == 3


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("since=x", 400, "since: 'x' must be a whole number"),
        ("since=-1", 400, "since: '-1'"),
        ("since=99", 410, "ahead of this crawl, whose last change is number 5"),
        ("limit=0", 400, "limit: '0' must be a whole number, 1 to 1000"),
        ("limit=1001", 400, "limit: '1001'"),
        ("content=pdf", 400, "content: 'pdf' is none of none, text, markdown, html"),
        ("chunks=800", 400, "chunks: pieces come with content"),
        ("chunks=7&content=text", 400, "chunks: '7' must be 50 to 100000"),
        ("chunks=x&content=text", 400, "chunks: 'x' must be"),
        ("diff=yes", 400, "diff: 'yes' must be 0 or 1"),
        ("wait=soon", 400, "wait: 'soon' is not a duration"),
        ("wait=2h", 400, "wait: '2h' must be between 0s and 60s"),
        ("kind=gone", 400, "kind: 'gone' is none of new, changed, moved, removed"),
        ("path=", 400, "path: write up to 20 patterns"),
    ],
)
async def test_what_cannot_be_asked_is_said(fed: Fed, query: str, status: int, words: str) -> None:
    """As JSON, with what would be right."""
    answer = await get(fed, f"/changes?{query}")

    assert answer.status == status
    assert words in answer.json["error"]


async def test_the_feed_needs_the_token_too(fed: Fed) -> None:
    """Where the server has one."""
    async with serving(fed.directory, TOKEN) as (app, _):
        assert (await ask(app, "/changes")).status == 401
        assert (await ask(app, "/changes", authorization=f"Bearer {TOKEN}")).status == 200


async def test_feeds_for_people_leave_mere_numbers_out(fed: Fed) -> None:
    """Unless somebody asks for just those; programs get them as all else."""
    fed.weigh("/c", 3.0)
    fed.weigh("/docs/a", 0.5)
    lines = rows(await get(fed, "/changes?kind=importance"))
    assert [(row["url"][len(HOST) :], row["importance"]) for row in lines] == [
        ("/c", 3.0), ("/docs/a", 0.5),
    ]  # fmt: skip

    titles = [item["title"] for item in json.loads((await get(fed, "/changes.json")).text)["items"]]
    assert len(titles) == 5
    assert not any(title.startswith("Importance") for title in titles)
    asked = json.loads((await get(fed, "/changes.json?kind=importance")).text)["items"]
    assert [item["title"] for item in asked] == ["Importance changed: Title"] * 2
