"""Pages that scripts fill, filled by a browser: Chromium by playwright, which `browser` brings.

The browser never reaches the network. Whatever it asks for is fetched by the crawl's own fetchers,
under their bounds and address rules: what the page's own host has as the crawl would ask for it,
what others have without any secret and from public addresses only; one request after the other at
each host's pace, and none that robots.txt forbids. It is given no picture, font or style, no other
page, no socket and no cookie, and a context of its own for each page.

It is longer than most: what a page may ask for, its pace and bounds are decided at each request.
"""

import asyncio
import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final, Self

from typing_extensions import Unpack, override

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.control.dispatching.robots_txt import RobotsRules
from recrawl.crawler.control.urls import host_of, join
from recrawl.crawler.fetch.robots import REDIRECTS, robots_of
from recrawl.crawler.ports import Fetcher, FetchOptions
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse

_WANTED: Final = frozenset({"document", "script", "xhr", "fetch", "other"})
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_MOST_REQUESTS: Final = 100  # of a page
_MOST_BYTES: Final = 32 * 2**20  # of all that a page asks for
_MOST_PAGES: Final = 200  # then the browser is started anew
_MOST_HOSTS: Final = 1_000
_KEPT_BYTES: Final = 32 * 2**20  # of scripts
_KEPT_S: Final = 3_600.0
_END_S: Final = 5.0
_LOOK_S: Final = 0.05
_SHARE: Final = 0.8  # of the time for a page
_MOST_REDIRECTS: Final = 3
_SPACE: Final = re.compile(r"\s")
_FLAGS: Final = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-extensions", "--disable-sync", "--mute-audio", "--renderer-process-limit=4",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)  # fmt: skip
_NOWHERE: Final = {"server": "http://127.0.0.1:9", "bypass": "<-loopback>"}


def browser_program() -> str | None:
    """Return the path of Chromium; None where it or playwright is missing."""
    if find_spec("playwright") is None:
        return None
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


@dataclass(frozen=True, slots=True)
class RenderRule:
    """Rule for pages that a browser fills.

    Parameters
    ----------
    path : pattern of the pages
    wait_for : CSS selector of what is there when the page is; a page without it is a failure
    settle_s : seconds without a request, after which the page counts as filled
    """

    path: str
    wait_for: str = ""
    settle_s: float = 0.5


class BrowserFetcher(Fetcher):
    """Fetches as another fetcher does, and has some pages filled. An async context manager.

    Parameters
    ----------
    inner : of the crawl
    strangers : for what pages ask of other hosts: knows no secret, reaches no private address
    rules : the first whose path matches counts
    program : path of Chromium
    agent : product token of the robot; what robots.txt forbids it is not fetched
    delay_s : between two requests to a host
    timeout_s : for a whole page
    max_bytes : of a page as it is when it is filled
    """

    def __init__(
        self,
        inner: Fetcher,
        strangers: Fetcher,
        *,
        rules: Sequence[RenderRule],
        program: str,
        agent: str,
        delay_s: float,
        timeout_s: float,
        max_bytes: int,
    ) -> None:
        self._inner = inner
        self._strangers = strangers
        self._rules = tuple(rules)
        self._places = Weights([(rule.path, float(n)) for n, rule in enumerate(rules)], -1.0)
        self._program = program
        self._agent = agent
        self._delay_s = delay_s
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._playwright: Any = None
        self._browser: Any = None
        self._filled = 0
        self._one_at_a_time = asyncio.Lock()
        self._paces: dict[str, _Pace] = {}
        self._scripts: dict[tuple[str, bool], tuple[float, FetchResponse]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    @override
    async def fetch(self, url: str, **asked: Unpack[FetchOptions]) -> FetchResponse:
        place = int(self._places.of(url)) if asked.get("pages_only") else -1
        if place < 0:
            return await self._inner.fetch(url, **asked)
        # What scripts bring is as new as it is, whatever the validators of the shell say.
        shell = await self._inner.fetch(url, max_bytes=asked.get("max_bytes"), pages_only=True)
        if shell.status != 200 or shell.content_type not in _HTML:
            return replace(shell, etag=None, last_modified=None)
        async with self._one_at_a_time:
            return await self._fill(shell, self._rules[place])

    async def _fill(self, shell: FetchResponse, rule: RenderRule) -> FetchResponse:
        """Have one page filled."""
        started_s = time.perf_counter()
        visit = _Visit(self, shell)
        self._pace(host_of(shell.url)).ended_s = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                html = await self._html(visit, rule)
        except TimeoutError:
            await self._end()  # it may hang for good
            why = f"not filled within {self._timeout_s:g} s"
            raise FetchError("render", why, n_requests=1 + visit.n_requests) from None
        except FetchError as error:
            error.n_requests = 1 + visit.n_requests
            raise
        except Exception as error:  # playwright's own are no public names before it is loaded
            await self._end()
            said = _SPACE.sub(" ", str(error))[:200]
            why = f"the browser failed: {said}"
            raise FetchError("render", why, n_requests=1 + visit.n_requests) from error
        body = html.encode("utf-8", "replace")
        if len(body) > self._max_bytes:
            why = f"more than {self._max_bytes} bytes when it is filled"
            raise FetchError("too-large", why, n_requests=1 + visit.n_requests)
        self._filled += 1
        if self._filled % _MOST_PAGES == 0:
            await self._end()
        return replace(
            shell,
            body=body,
            content_type="text/html",
            charset="utf-8",
            etag=None,
            last_modified=None,
            received_bytes=shell.received_bytes + visit.n_bytes,
            elapsed_s=shell.elapsed_s + time.perf_counter() - started_s,
            n_requests=1 + visit.n_requests,
        )

    async def _html(self, visit: "_Visit", rule: RenderRule) -> str:
        browser = await self._started()
        context = await browser.new_context(
            accept_downloads=False, service_workers="block", java_script_enabled=True
        )
        try:
            await context.route("**/*", visit.answer)
            await context.route_web_socket("**/*", _closed)
            page = await context.new_page()
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.dismiss()))
            page.on("popup", lambda other: asyncio.ensure_future(other.close()))
            await page.goto(visit.shell.url, wait_until="domcontentloaded", timeout=0)
            if rule.wait_for:
                await self._there(page, visit, rule)
            until_s = visit.started_s + _SHARE * self._timeout_s
            # A page that asks for ever is taken as it is then. Nothing tells of silence.
            while not visit.is_settled(rule.settle_s) and time.monotonic() < until_s:  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_S)
            return str(await page.content())
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_END_S):
                    await context.close()

    async def _there(self, page: Any, visit: "_Visit", rule: RenderRule) -> None:
        """Wait for what must be there; where nothing is under way any more, it does not come."""
        while await page.query_selector(rule.wait_for) is None:
            if visit.is_settled(max(2.0, 4.0 * rule.settle_s)):
                raise FetchError("render", f"there is no {rule.wait_for} when it is filled")
            await asyncio.sleep(_LOOK_S)

    async def _started(self) -> Any:
        if self._browser is None or not self._browser.is_connected():
            await self._end()
            from playwright.async_api import async_playwright

            self._playwright = await async_playwright().start()
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._program,
                chromium_sandbox=os.geteuid() != 0,  # it refuses to run as root with one
                args=list(_FLAGS),
                proxy=_NOWHERE,  # what is not answered here leads nowhere
                env={"PATH": os.defpath, "HOME": "/nonexistent"},
                timeout=1e3 * self._timeout_s,
            )
        return self._browser

    async def _end(self) -> None:
        browser, self._browser = self._browser, None
        driver, self._playwright = self._playwright, None
        for end in (browser and browser.close, driver and driver.stop):
            if end is not None:
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(_END_S):
                        await end()

    async def asked(
        self, url: str, kind: str, count: Callable[[], None], *, is_own: bool
    ) -> FetchResponse:
        """Return what a page asks for.

        Parameters
        ----------
        count : called for each request that it takes, whatever comes of it
        """
        kept = self._scripts.get((url, is_own))
        if kept is not None and time.monotonic() < kept[0]:
            return kept[1]
        fetcher = self._inner if is_own else self._strangers
        pace = self._pace(host_of(url))

        async def before(_: str) -> None:
            await pace.wait(self._delay_s)
            pace.ended_s = time.monotonic()
            count()

        async with pace.lock:
            try:
                if pace.robots is None or time.monotonic() > pace.robots_until_s:
                    pace.robots = await robots_of(fetcher, host_of(url), self._agent, before)
                    pace.robots_until_s = time.monotonic() + _KEPT_S
                    pace.ended_s = time.monotonic()
                if not pace.robots.allows(url):
                    raise FetchError("robots", "its robots.txt forbids it")
                await before(url)
                response = await fetcher.fetch(url, max_bytes=self._max_bytes)
            finally:
                pace.ended_s = time.monotonic()
        if kind == "script" and response.status == 200:
            self._keep((url, is_own), response)
        return response

    def _pace(self, host: str) -> "_Pace":
        if host not in self._paces:
            if len(self._paces) >= _MOST_HOSTS:
                self._paces.pop(next(iter(self._paces)))
            self._paces[host] = _Pace()
        return self._paces[host]

    def _keep(self, key: tuple[str, bool], response: FetchResponse) -> None:
        """Keep a script for an hour: the pages of an application have the same ones."""
        self._scripts.pop(key, None)
        self._scripts[key] = (time.monotonic() + _KEPT_S, response)
        held = sum(len(one.body) for _, one in self._scripts.values())
        while held > _KEPT_BYTES:
            held -= len(self._scripts.pop(next(iter(self._scripts)))[1].body)


class _Pace:
    """Pace of a host: one request at a time; when the last ended."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.ended_s = time.monotonic()  # the page itself was asked for just now
        self.robots: RobotsRules | None = None
        self.robots_until_s = 0.0

    async def wait(self, delay_s: float) -> None:
        """Wait until the host may be asked again."""
        asked_s = 0.0 if self.robots is None else self.robots.crawl_delay_s or 0.0
        await asyncio.sleep(self.ended_s + max(delay_s, asked_s) - time.monotonic())


class _Visit:
    """Requests of one page while it is filled."""

    def __init__(self, fetcher: BrowserFetcher, shell: FetchResponse) -> None:
        self.shell = shell
        self.n_requests = 0
        self.n_bytes = 0
        self.started_s = time.monotonic()
        self._fetcher = fetcher
        self._is_shown = False
        self._under_way = 0
        self._at_s = time.monotonic()

    def is_settled(self, quiet_s: float) -> bool:
        """Tell whether nothing is under way, and nothing was for some seconds."""
        return not self._under_way and time.monotonic() - self._at_s >= quiet_s

    async def answer(self, route: Any) -> None:
        """Answer a request of the browser; most are refused."""
        self._under_way += 1
        try:
            await self._answer(route, route.request)
        except FetchError:
            await route.abort()
        finally:
            self._under_way -= 1
            self._at_s = time.monotonic()

    async def _answer(self, route: Any, request: Any) -> None:
        kind, url = request.resource_type, request.url.partition("#")[0]
        if kind == "document":
            if self._is_shown or url != self.shell.url:
                await route.abort()  # a frame, or another page
                return
            self._is_shown = True
            await route.fulfill(
                status=200,
                headers={"content-type": _typed("text/html", self.shell.charset)},
                body=self.shell.body,
            )
            return
        is_full = self.n_requests >= _MOST_REQUESTS or self.n_bytes >= _MOST_BYTES
        if kind not in _WANTED or request.method != "GET" or is_full:
            await route.abort()
            return
        response = await self._fetched(url, kind)
        await route.fulfill(
            status=response.status,
            headers={
                "content-type": _typed(response.content_type or "text/plain", response.charset),
                # Others' answers were fetched without anybody's rights.
                "access-control-allow-origin": "*",
            },
            body=response.body,
        )

    def _count(self) -> None:
        self.n_requests += 1

    async def _fetched(self, url: str, kind: str) -> FetchResponse:
        for _ in range(_MOST_REDIRECTS + 1):
            host = host_of(url)
            if "@" in host:
                break
            is_own = host == host_of(self.shell.url)
            response = await self._fetcher.asked(url, kind, self._count, is_own=is_own)
            self.n_bytes += response.received_bytes
            if response.status not in REDIRECTS:
                return response
            url = join(url, response.location or "") or "http://@/"
        raise FetchError("url", "leads nowhere")


def _typed(kind: str, charset: str | None) -> str:
    """Return a header; without a charset, what the page itself says counts."""
    return f"{kind}; charset={charset}" if charset else kind


async def _closed(socket: Any) -> None:
    await socket.close()
