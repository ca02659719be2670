"""The feed of changes over HTTP: pages of it, waiting for more, a stream, and feeds for people."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import urlencode

import msgspec
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.ports import PageIndex
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.runtime.feed_reader import (
    CONTENT,
    LEAST_CHUNK,
    MOST_CHUNK,
    FeedReader,
    Wanted,
    shown_instant,
)
from recrawl.errors import InputError, StateError
from recrawl.quantities import parse_duration_s
from recrawl.terms import Change, ChangeKind, Item
from recrawl.web.source import CrawlSource
from recrawl.web.streams import EventStream
from recrawl.web.threads import Reader

_MOST: Final = 1_000  # of one answer
_LONGEST_WAIT_S: Final = 60.0
_LOOK_S: Final = 0.5
_KEEP_ALIVE_S: Final = 15.0
_WAITING: Final = 100  # who may wait at a time
_MOST_CHARACTERS: Final = 4_000_000
_MOST_HTML: Final = 500_000  # which takes longer to make than to send
_FOR_PEOPLE: Final = 50
_LOOKED_THROUGH: Final = 2_000
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_VERBS: Final = {
    ChangeKind.NEW: "New", ChangeKind.CHANGED: "Changed", ChangeKind.MOVED: "Moved",
    ChangeKind.REMOVED: "Removed", ChangeKind.IMPORTANCE: "Importance changed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    """Part of the feed that is asked for."""

    since: int
    limit: int
    wait_s: float
    wanted: Wanted
    rest: tuple[tuple[str, str], ...]  # of the address, to be asked again with what follows


class Changes:
    """Answers what became of pages.

    Parameters
    ----------
    reader : thread on which state and index are read
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._waiting = 0
        self._closing = False

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/changes", self.changes),
            Route("/changes.atom", self.atom),
            Route("/changes.json", self.json_feed),
        ]

    def close(self) -> None:
        """Let go who waits."""
        self._closing = True

    async def changes(self, request: Request) -> Response:
        """A page of the feed, at once or when there is something; or all that comes."""
        asked = _asked(request.query_params, request.headers.get("last-event-id"))
        last = await self._reader(lambda source: source.frontier().feed.last())
        if asked.since > last:
            raise HTTPException(
                410,
                f"since: {asked.since} is ahead of this crawl, whose last change is number {last}: "
                "it was restored or begun anew; begin with since=0.",
            )
        if "text/event-stream" in request.headers.get("accept", ""):
            if request.method == "HEAD":  # whose answer has no end otherwise
                return Response(media_type="text/event-stream")
            self._enter()
            return EventStream(self._stream(asked), self._leave)
        items, upto = await self._reader(_read, asked, asked.since)
        if not items and asked.wait_s > 0 and request.method != "HEAD":
            items, upto = await self._waited(request, asked, upto)
        return _page(request, asked, items, upto)

    def _enter(self) -> None:
        if self._waiting >= _WAITING:
            raise HTTPException(503, "Too many wait for changes already.")
        self._waiting += 1

    def _leave(self) -> None:
        self._waiting -= 1

    async def _waited(self, request: Request, asked: _Asked, upto: int) -> tuple[list[Item], int]:
        """Return what comes within the time that was asked for."""
        self._enter()
        loop = asyncio.get_running_loop()
        until_s, items = loop.time() + asked.wait_s, list[Item]()
        try:
            while not items and loop.time() < until_s and not self._closing:
                if await request.is_disconnected():
                    break
                await asyncio.sleep(min(_LOOK_S, max(until_s - loop.time(), 0.0)))
                items, upto = await self._reader(_read, asked, upto)
        finally:
            self._leave()
        return items, upto

    async def _stream(self, asked: _Asked) -> AsyncIterator[bytes]:
        """Yield server-sent events; the browser that comes back says where it was."""
        loop = asyncio.get_running_loop()
        upto, told_s = asked.since, loop.time()
        yield b"retry: 2000\n\n"
        while not self._closing:
            items, upto = await self._reader(_read, asked, upto)
            for item in items:
                head = f"id: {item.change.seq}\nevent: {item.change.kind.value}\ndata: "
                yield head.encode() + msgspec.json.encode(item.record) + b"\n\n"
            if items:
                told_s = loop.time()
                continue
            if loop.time() - told_s > _KEEP_ALIVE_S:
                told_s = loop.time()
                yield b": still here\n\n"
            await asyncio.sleep(_LOOK_S)

    async def atom(self, request: Request) -> Response:
        """The latest changes for a reader of feeds."""
        found = await self._reader(_latest, _asked(request.query_params, None).wanted)
        text = _atom(found, str(request.url))
        return Response(text, media_type="application/atom+xml")

    async def json_feed(self, request: Request) -> Response:
        """The same as JSON Feed."""
        found = await self._reader(_latest, _asked(request.query_params, None).wanted)
        feed = {
            "version": "https://jsonfeed.org/version/1.1",
            "title": "Changes",
            "feed_url": str(request.url),
            "items": [
                {
                    "id": _id(change),
                    "url": change.moved_to or change.url,
                    "title": _title(change),
                    "content_text": f"{_title(change)}: {change.url}",
                    "date_published": shown_instant(change.at_s),
                }
                for change in found
            ],
        }
        return Response(msgspec.json.encode(feed), media_type="application/feed+json")


def _asked(given: QueryParams, last_event: str | None) -> _Asked:
    """Return what an address asks for, checked; every refusal names the part and its value."""
    since = given.get("since", "0") if last_event is None else last_event
    limit = given.get("limit", "500")
    for name, text, least, most in (("since", since, 0, 2**62), ("limit", limit, 1, _MOST)):
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
            shown = f"{least} to {most}" if name == "limit" else "0 or more"
            raise InputError(f"{name}: {text[:200]!r} must be a whole number, {shown}")
    content, diff = given.get("content", "none"), given.get("diff", "0")
    if content not in CONTENT:
        raise InputError(f"content: {content[:200]!r} is none of {', '.join(CONTENT)}")
    if diff not in ("0", "1"):
        raise InputError(f"diff: {diff[:200]!r} must be 0 or 1")
    chunk = _chunk(given.get("chunks"), content)
    wait_s = parse_duration_s(given.get("wait", "0s"), name="wait")
    if not 0.0 <= wait_s <= _LONGEST_WAIT_S:
        raise InputError(f"wait: {given['wait'][:200]!r} must be between 0s and 60s")
    kinds = given.getlist("kind")
    known = [kind.value for kind in ChangeKind]
    for kind in kinds:
        if kind not in known:
            raise InputError(f"kind: {kind[:200]!r} is none of {', '.join(known)}")
    paths = given.getlist("path")
    if len(paths) > 20 or any(not 0 < len(path) <= 500 for path in paths):
        raise InputError("path: write up to 20 patterns such as /docs/*")
    patterns = Weights([(path, 1.0) for path in paths], otherwise=0.0)
    wanted = Wanted(
        content=content,
        matches=(lambda url: patterns.of(url) > 0) if paths else None,
        kinds=frozenset(map(ChangeKind, kinds)) or frozenset(ChangeKind),
        edits=diff == "1",
        chunk=chunk,
    )
    rest = tuple(pair for pair in given.multi_items() if pair[0] != "since")
    return _Asked(int(since), int(limit), wait_s, wanted, rest)


def _chunk(given: str | None, content: str) -> int:
    if given is None:
        return 0
    if not (given.isascii() and given.isdigit() and LEAST_CHUNK <= int(given[:20]) <= MOST_CHUNK):
        raise InputError(
            f"chunks: {given[:200]!r} must be {LEAST_CHUNK} to {MOST_CHUNK} characters"
        )
    if content == "none":
        raise InputError("chunks: pieces come with content; add content=markdown")
    return int(given)


def _read(source: CrawlSource, asked: _Asked, after: int) -> tuple[list[Item], int]:
    def index() -> PageIndex | None:
        try:
            return source.index()
        except StateError:
            return None

    reader = FeedReader(source.frontier().feed, index, asked.wanted, content_as)
    most = _MOST_HTML if asked.wanted.content == "html" else _MOST_CHARACTERS
    return reader.read(after, asked.limit, most=most)


def _latest(source: CrawlSource, wanted: Wanted) -> list[Change]:
    # Nobody reads that a number has moved, unless that is just what was asked for.
    asked = wanted.kinds == {ChangeKind.IMPORTANCE}
    changes = source.frontier().feed.recent(_LOOKED_THROUGH, importance=asked)
    return [change for change in changes if wanted.takes(change)][:_FOR_PEOPLE]


def _page(request: Request, asked: _Asked, items: list[Item], upto: int) -> Response:
    body = b"".join(msgspec.json.encode(item.record) + b"\n" for item in items)
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}-{upto}"'
    following = urlencode([("since", str(upto)), *asked.rest])
    headers: Mapping[str, str] = {
        "etag": tag,
        "recrawl-next": str(upto),
        "link": f'</changes?{following}>; rel="next"',
        "cache-control": "no-cache, private",
    }
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if tag in known:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/x-ndjson")


def _id(change: Change) -> str:
    return f"{change.url}#{change.version}"


def _title(change: Change) -> str:
    return f"{_VERBS[change.kind]}: {change.title or change.url}"


def _atom(changes: list[Change], address: str) -> str:
    def text(said: str) -> str:
        return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", said), quote=True)

    updated = shown_instant(changes[0].at_s if changes else 0.0)
    entries = "".join(
        "  <entry>\n"
        f"    <id>{text(_id(change))}</id>\n"
        f"    <title>{text(_title(change))}</title>\n"
        f"    <updated>{shown_instant(change.at_s)}</updated>\n"
        f'    <link href="{text(change.moved_to or change.url)}"/>\n'
        f"    <summary>{text(f'{_title(change)}: {change.url}')}</summary>\n"
        "  </entry>\n"
        for change in changes
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"  <id>{text(address)}</id>\n"
        "  <title>Changes</title>\n"
        "  <author><name>recrawl</name></author>\n"
        f'  <link rel="self" href="{text(address)}"/>\n'
        f"  <updated>{updated}</updated>\n"
        f"{entries}</feed>\n"
    )
