"""Endpoints for visit requests and notices of changed pages. All else but the hubs only looks."""

import hmac
from collections.abc import Sequence
from contextlib import closing
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.urls import host_of, normalise
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.crawler.wiring.stores import open_door
from recrawl.errors import InputError
from recrawl.web.asked import as_json, asked_body
from recrawl.web.source import CrawlSource
from recrawl.web.threads import Reader

INDEXNOW: Final = "/indexnow"  # whoever asks here shows a key of its own
_MOST_URLS: Final = 10_000  # as many as IndexNow allows


class _Visits(msgspec.Struct, forbid_unknown_fields=True):
    """Body of a POST to /visit."""

    urls: list[str]


class _Ping(msgspec.Struct):
    """Body of a POST to /indexnow, as its protocol has it."""

    host: str
    key: str
    url_list: list[str] = msgspec.field(name="urlList")


class Doors:
    """Takes wishes and signals, and hands them to the crawl through its state.

    Parameters
    ----------
    reader : thread on which the state is asked
    settings : of the crawl, where a configuration is at hand: its scope and its key
    """

    def __init__(self, reader: Reader, settings: Settings | None) -> None:
        self._reader = reader
        self._settings = settings
        self._scope = None if settings is None else crawl_rules(settings).admission.scope

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/visit", self.visit, methods=["POST"]),
            Route("/visit", self.visits, methods=["GET"]),
            Route(INDEXNOW, self.ping, methods=["POST"]),
            Route(INDEXNOW, self.ping_one, methods=["GET"]),
        ]

    async def visit(self, request: Request) -> Response:
        """Have pages visited now; answers with the number of each."""
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            raise HTTPException(403, "This was sent by a page of another site.")
        try:
            asked = msgspec.json.decode(await asked_body(request), type=_Visits)
        except msgspec.DecodeError as error:
            raise InputError(
                'the body must be JSON, as {"urls": ["https://example.org/"]}'
            ) from error
        urls = self._checked(asked.urls)
        numbers = await self._reader(_ask, urls, is_signal=False)
        told = {
            "asked": [
                {"number": number, "url": url} for number, url in zip(numbers, urls, strict=True)
            ]
        }
        return as_json(told, 202)

    async def visits(self, request: Request) -> Response:
        """Say what came of visits that were asked for, by their numbers."""
        text = request.query_params.get("numbers", "")
        parts = text.split(",")
        if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            raise InputError(f"numbers: {text[:200]!r} must be numbers with commas between, as 3,4")
        if len(parts) > _MOST_URLS:
            raise InputError(f"numbers: {len(parts)} are too many; at most {_MOST_URLS}")
        numbers = [int(part) for part in parts]
        found = await self._reader(lambda source: source.frontier().answers(numbers))
        return as_json({"visits": found})

    async def ping(self, request: Request) -> Response:
        """Take an IndexNow ping of many addresses."""
        try:
            ping = msgspec.json.decode(await asked_body(request), type=_Ping)
        except msgspec.DecodeError as error:
            raise HTTPException(400, "This is no IndexNow ping.") from error
        return await self._noted(ping.key, ping.url_list, ping.host)

    async def ping_one(self, request: Request) -> Response:
        """Take an IndexNow ping of one address."""
        asked = request.query_params
        if "url" not in asked or "key" not in asked:
            raise HTTPException(400, "An IndexNow ping has a url and a key.")
        return await self._noted(asked["key"], [asked["url"]], None)

    async def _noted(self, key: str, urls: Sequence[str], host: str | None) -> Response:
        known = self._settings.indexnow_key if self._settings is not None else ""
        if not known:
            raise HTTPException(404, "No IndexNow pings are taken: no key is configured.")
        if not hmac.compare_digest(key.encode(), known.encode()):
            raise HTTPException(403, "That is not the key.")
        checked = self._checked(urls)
        if host is not None and any(
            host_of(url).partition("://")[2] != host.lower() for url in checked
        ):
            raise HTTPException(422, "Some addresses are not on that host.")
        await self._reader(_ask, checked, is_signal=True)
        return Response(status_code=202)

    def _checked(self, given: Sequence[str]) -> list[str]:
        if not given:
            raise InputError("urls: name at least one address")
        if len(given) > _MOST_URLS:
            raise InputError(f"urls: {len(given):,} are too many at once; at most {_MOST_URLS:,}")
        urls = []
        for text in given:
            url = normalise(text)
            if url is None:
                raise InputError(
                    f"urls: {text[:200]!r} is no http or https address, such as "
                    "https://example.org/"
                )
            outside = None if self._scope is None else why_outside(self._scope, url)
            if outside is not None:
                raise InputError(f"urls: {url[:200]} does not belong to this crawl: {outside}")
            urls.append(url)
        return list(dict.fromkeys(urls))


def _ask(source: CrawlSource, urls: Sequence[str], *, is_signal: bool) -> list[int]:
    with closing(open_door(source.directory)) as door:
        return door.ask(urls, is_signal=is_signal)
