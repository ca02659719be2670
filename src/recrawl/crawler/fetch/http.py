"""HTTP/1.1 over aiohttp, bounded in every direction.

It follows no redirect, keeps no cookie but those that pages want back at once, answers no
authentication prompt, and connects to public addresses only, but for hosts that the configuration
names.
"""

import asyncio
import re
import resource
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final, Self

import aiohttp
from typing_extensions import override
from yarl import URL

from recrawl.crawler.fetch.addresses import is_named, is_private_name, open_socket, public_socket
from recrawl.crawler.fetch.bodies import Body, read_body
from recrawl.crawler.fetch.caches import Caches, age_of
from recrawl.crawler.fetch.cookies import Cookies
from recrawl.crawler.fetch.decoding import ACCEPT_ENCODING
from recrawl.crawler.fetch.failures import translated
from recrawl.crawler.fetch.heads import Heads
from recrawl.crawler.fetch.host_headers import HostHeaders
from recrawl.crawler.fetch.names import LoopbackResolver, OneAddress
from recrawl.crawler.fetch.validators import Validators
from recrawl.crawler.ports import Fetcher, HubClient, Resolver
from recrawl.errors import FetchError
from recrawl.terms import INDEXABLE, FetchResponse

_FEW_FILES: Final = 1024
_NORMAL: Final = re.compile(r"https?://[!-~]+")
_MOST_LINK: Final = 4_000  # characters of Link headers
_USAGE: Final = ("Content-Usage", "TDM-Reservation", "TDM-Policy")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]+")
_ACCEPT: Final = (
    "text/html, application/xhtml+xml, text/plain;q=0.9, application/xml;q=0.8, */*;q=0.1"
)


@dataclass(frozen=True, slots=True)
class FetchBounds:
    """Bounds on one exchange.

    Parameters
    ----------
    timeout_s : the whole exchange, body included
    connect_s : until the connection stands
    max_bytes : the body, as received and as decoded
    max_header_bytes : one header line; the number of headers is bounded by aiohttp
    """

    timeout_s: float = 30.0
    connect_s: float = 10.0
    max_bytes: int = 4 * 1024 * 1024
    max_header_bytes: int = 32 * 1024


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy, and user and password for it."""

    address: str
    login: tuple[str, str] | None = field(default=None, repr=False)


class HttpFetcher(Fetcher, HubClient, Resolver):
    """Fetches over HTTP. Use it as an async context manager inside the event loop.

    Parameters
    ----------
    user_agent : what the crawler calls itself, with a contact
    contact : for the From header, where it is a mail address
    bounds : bounds on each exchange
    allow_private : host names that may have private addresses; ``*.name`` for all below one
    keep_headers : whether answers carry all their headers, for an archive
    besides : what all or some hosts are sent besides
    proxy : that is asked instead; hosts that may have private addresses are asked directly. It
        resolves names, so which addresses they have is for it to check
    ready : awaited when a connection stands, right before a request is sent
    per_address : each name leads to the one IP address that :meth:`resolve` has told last
    """

    def __init__(  # noqa: PLR0913 - each is said once, when a crawl is put together
        self,
        *,
        user_agent: str,
        contact: str = "",
        bounds: FetchBounds | None = None,
        allow_private: Iterable[str] = (),
        keep_headers: bool = False,
        besides: HostHeaders | None = None,
        proxy: Proxy | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
        per_address: bool = False,
    ) -> None:
        self._names = OneAddress(LoopbackResolver()) if per_address else None
        self._bounds = bounds or FetchBounds()
        self._keep_headers = keep_headers
        self._allowed = frozenset(name.lower().rstrip(".") for name in allow_private)
        self._headers = {
            "User-Agent": user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        self._ready = ready
        self._heads = Heads()
        self._validators = Validators()
        self._caches = Caches()
        self._cookies = Cookies()
        self._besides = besides or HostHeaders()
        self._proxy: dict[str, Any] = {}
        if proxy is not None:
            self._proxy = {"proxy": proxy.address}
            if proxy.login is not None:
                login = aiohttp.encode_basic_auth(*proxy.login)
                self._proxy["proxy_headers"] = {"Proxy-Authorization": login}
        if contact.startswith("mailto:"):
            self._headers["From"] = contact.removeprefix("mailto:")
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> Self:
        for trusted in (False, True):
            self._sessions[trusted] = self._session(trusted=trusted)
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in self._sessions.values():
            await session.close()

    def _session(self, *, trusted: bool) -> aiohttp.ClientSession:
        # A connection that is kept would lead to where a name led before; and the many hosts of one
        # server come back to each so seldom that all their connections would only wait there. Where
        # few files may be open, those that wait would leave none for others.
        kept: dict[str, Any] = (
            {"keepalive_timeout": 30.0, "ttl_dns_cache": 60}
            if self._names is None and _may_open_many()
            else {"force_close": True, "use_dns_cache": self._names is None}
        )
        connector = aiohttp.TCPConnector(
            limit=0,  # the frontier decides how many requests are in flight
            resolver=self._names or LoopbackResolver(),
            socket_factory=open_socket if trusted else public_socket,
            **kept,
        )
        timeout = aiohttp.ClientTimeout(
            total=self._bounds.timeout_s, sock_connect=self._bounds.connect_s
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=self._bounds.max_header_bytes,
            max_field_size=self._bounds.max_header_bytes,
            trust_env=False,
            trace_configs=[] if self._ready is None else [_asking(self._ready)],
        )

    def _way_to(self, url: str) -> tuple[aiohttp.ClientSession, dict[str, Any]]:
        """Return the session that may connect there, and the proxy that is asked.

        Raises
        ------
        FetchError
            ``refused-address``: a private address that a proxy would be asked for.
        """
        name = _name_of(url)
        is_trusted = is_named(name, self._allowed)
        if not self._proxy or is_trusted:
            return self._sessions[is_trusted], {}
        if is_private_name(name):
            raise FetchError(
                "refused-address",
                f"{name} is not a public address; list the host under allow_private to permit it",
            )
        return self._sessions[True], self._proxy

    @override
    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        max_bytes: int | None = None,
        truncate: bool = False,
        pages_only: bool = False,
    ) -> FetchResponse:
        if not _NORMAL.fullmatch(url):  # a line break in it would be the end of the request
            raise FetchError("url", f"no address in normal form: {url[:300]!r}")
        cookies = self._cookies.of(url)
        headers = self._headers_of(url, etag, last_modified, cookies)
        session, proxy = self._way_to(url)
        if proxy and url.startswith("http://"):  # else it is said when the tunnel is asked for
            headers |= proxy.get("proxy_headers", {})
        limit = self._bounds.max_bytes if max_bytes is None else max_bytes
        headers_only = pages_only and self._heads.may_ask(url)
        started = time.perf_counter()
        try:
            # Taking one apart to quote it anew would change nothing.
            address = URL(url, encoded=True)
            async with session.request(
                "HEAD" if headers_only else "GET",
                address,
                headers=headers,
                allow_redirects=False,
                **proxy,
            ) as answer:
                _check_status(answer.status)
                self._caches.note(url, age_of(answer.headers.get("Age")))
                self._validators.note(url, etag, answer.headers.get("ETag"), answer.status)
                body = Body()
                if headers_only:
                    self._heads.check(url, answer.status, answer.content_type)
                else:
                    body = await self._read(
                        url, answer, limit, truncate=truncate, pages_only=pages_only
                    )
                response = _response(url, answer, body, started)
                if response.location is not None:
                    told = (answer.status, response.location, answer.cookies)
                    wants_cookie = self._cookies.note(url, cookies, *told)
                    response = replace(response, wants_cookie=wants_cookie)
                return replace(response, headers=_all(answer)) if self._keep_headers else response
        except FetchError:
            raise
        except (TimeoutError, aiohttp.ClientError, OSError, ssl.SSLError, ValueError) as error:
            if headers_only:
                self._heads.fail(url)
            failure = translated(error)
            if failure.kind == "connect" and self._names is not None:
                self._names.fail(_name_of(url))
            raise failure from error

    def _headers_of(
        self, url: str, etag: str | None, last_modified: str | None, cookies: str
    ) -> dict[str, str]:
        """Return what a request is to carry beside what all carry."""
        headers = self._besides.of(url)
        if etag:
            headers["If-None-Match"] = self._validators.of(url, etag)
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        if cookies:
            headers["Cookie"] = "; ".join(filter(None, (headers.get("Cookie"), cookies)))
        return headers | self._caches.of(url)

    @override
    async def resolve(self, host: str) -> str:
        assert self._names is not None, "told per_address"
        try:
            async with asyncio.timeout(self._bounds.connect_s):
                return await self._names.learn(_name_of(f"{host}/"))
        except TimeoutError as error:
            raise FetchError("dns", f"{host}: its name was not resolved in time") from error

    async def _read(
        self,
        url: str,
        answer: aiohttp.ClientResponse,
        limit: int,
        *,
        truncate: bool,
        pages_only: bool,
    ) -> Body:
        """Read the body where it may be wanted, and note where it is none of a page."""
        is_useful = _has_useful_body(answer.status)
        is_no_page = pages_only and is_useful and _is_no_page(answer)
        if pages_only and answer.status != HTTPStatus.NOT_MODIFIED:
            self._heads.note_whole(url, answer.content_type if is_no_page else None)
        if is_useful and not is_no_page:
            return await read_body(answer, limit, truncate=truncate, text_only=pages_only)
        answer.close()  # not worth reading, nor keeping the connection clean for
        return Body()

    @override
    async def post(self, url: str, form: Mapping[str, str]) -> FetchResponse:
        if not _NORMAL.fullmatch(url):
            raise FetchError("url", f"no address in normal form: {url[:300]!r}")
        started = time.perf_counter()
        session, proxy = self._way_to(url)
        try:
            address = URL(url, encoded=True)
            async with session.post(
                address, data=dict(form), allow_redirects=False, **proxy
            ) as answer:
                answer.close()  # its status is all that counts
                return _response(url, answer, Body(), started)
        except (TimeoutError, aiohttp.ClientError, OSError, ssl.SSLError, ValueError) as error:
            raise translated(error) from error


def _asking(ready: Callable[[], Awaitable[None]]) -> aiohttp.TraceConfig:
    """Have something awaited between a connection that stands and the request over it."""

    async def ask(*_: object) -> None:
        await ready()

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(ask)
    trace.on_connection_reuseconn.append(ask)
    return trace


def _may_open_many() -> bool:
    """Tell whether connections may wait to be used again, each of which is an open file."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return allowed == resource.RLIM_INFINITY or allowed >= _FEW_FILES


def _name_of(url: str) -> str:
    name = url.partition("://")[2].partition("/")[0]
    return name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]


def _is_no_page(answer: aiohttp.ClientResponse) -> bool:
    """Tell whether the headers say that there is nothing to index."""
    if "Content-Type" not in answer.headers:
        return False
    return answer.content_type not in INDEXABLE


def _check_status(status: int) -> None:
    """Refuse an answer whose status no version of HTTP has."""
    if status < HTTPStatus.CONTINUE:
        raise FetchError("protocol", f"status {status} is none of HTTP")


def _has_useful_body(status: int) -> bool:
    return 200 <= status < 300


def _response(
    url: str,
    answer: aiohttp.ClientResponse,
    body: Body,
    started: float,
) -> FetchResponse:
    headers = answer.headers
    return FetchResponse(
        url=url,
        status=answer.status,
        body=body.content,
        content_type=_type_of(answer, body),
        charset=answer.charset,
        location=_header(headers.get("Location")),
        etag=_header(headers.get("ETag")),
        last_modified=_header(headers.get("Last-Modified")),
        retry_after=_header(headers.get("Retry-After")),
        refresh=_header(headers.get("Refresh")),
        link=", ".join(headers.getall("Link", []))[:_MOST_LINK],
        robots_tag=", ".join(headers.getall("X-Robots-Tag", []))[:1000],
        cache_control=", ".join(headers.getall("Cache-Control", []))[:1000],
        usage=_usage(headers),
        received_bytes=body.received,
        elapsed_s=time.perf_counter() - started,
        age_s=age_of(headers.get("Age")),
        truncated=body.is_cut,
    )


def _type_of(answer: aiohttp.ClientResponse, body: Body) -> str:
    """Return the type of content; where the server tells none, by how the body begins."""
    if body.is_binary:
        return "application/octet-stream"
    if "Content-Type" in answer.headers or not body.content:
        return answer.content_type
    return "text/html" if body.content.lstrip().startswith(b"<") else "text/plain"


def _usage(headers: Mapping[str, str]) -> str:
    """Return what headers say that models may be made of a page, as it is written."""
    said = (f"{name}: {headers[name]}" for name in _USAGE if name in headers)
    return _CONTROLS.sub(" ", ", ".join(said))[:500]


def _all(answer: aiohttp.ClientResponse) -> tuple[tuple[str, str], ...]:
    """Every header as it came, without what no header may hold."""
    return tuple((name, _CONTROLS.sub(" ", value)) for name, value in answer.headers.items())


def _header(value: str | None) -> str | None:
    """Return a header that is short and printable enough to be kept and sent back."""
    if value is None or len(value) > 2_000:
        return None
    return value if value.isprintable() else None
