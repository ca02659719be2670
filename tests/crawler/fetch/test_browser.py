"""Pages that scripts fill: a real browser, kept from the network."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from tests.acceptance.servers import Exchange, serving

from recrawl.crawler.fetch.browser import BrowserFetcher, RenderRule, browser_program
from recrawl.crawler.fetch.host_headers import HostHeaders, HostRule
from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse

DELAY_S = 0.15
SHELL = """<!doctype html><title>App</title><div id="root"></div>
<img src="/picture.png"><link rel="stylesheet" href="/style.css"><iframe src="/frame"></iframe>
<script src="/main.js"></script>"""
MAIN = """
const root = document.getElementById('root');
const said = text =>
    root.append(Object.assign(document.createElement('p'), {textContent: text}));
const look = (what, url) => fetch(url).then(r => r.text()).then(
    t => said(what + ' has ' + t), () => said(what + ' refused'));
(async () => {
    const items = await (await fetch('/api/items')).json();
    for (const item of items) said(item);
    await look('moved', '/api/moved');
    await look('inside', 'http://127.0.0.1:INSIDE/secret');
    await look('forbidden', '/private/x');
    await fetch('/api/items', {method: 'POST', body: 'x'}).catch(() => said('no post'));
    try { new WebSocket('ws://127.0.0.1:INSIDE/socket') } catch (e) { }
    navigator.sendBeacon('/beacon', 'x');
    said('cookie ' + document.cookie);
    document.cookie = 'a=b';
    document.body.append(Object.assign(document.createElement('main'), {id: 'done'}));
    LAST
})();
"""


@dataclass
class Site:
    """A single-page application, and what it was asked for."""

    inside: int = 0
    last: str = ""
    asked: list[tuple[float, str, str]] = field(default_factory=list)

    async def answer(self, exchange: Exchange) -> None:
        """Answer one request."""
        self.asked.append(
            (time.monotonic(), exchange.path, exchange.headers.get("authorization", ""))
        )
        match exchange.path:
            case "/app/" | "/app/2" | "/plain":
                await exchange.reply(SHELL, ETag='"1"')
            case "/main.js":
                script = MAIN.replace("INSIDE", str(self.inside)).replace("LAST", self.last)
                await exchange.reply(script, Content_Type="text/javascript")
            case "/api/items":
                await exchange.reply('["first item", "second item"]', Content_Type="text/json")
            case "/api/moved":
                await exchange.reply(status=302, Location="/api/items")
            case "/robots.txt":
                await exchange.reply(
                    "User-agent: *\nDisallow: /private/", Content_Type="text/plain"
                )
            case _:
                await exchange.reply("what nobody should see")

    def paths(self) -> list[str]:
        """Return what was asked for, in order."""
        return [path for _, path, _ in self.asked]


Work = Callable[[BrowserFetcher, str], Awaitable[None]]


def with_browser(site: Site, inside: Site, work: Work, rule: RenderRule, timeout_s: float) -> None:
    """Do something with a browser before a site."""
    program = browser_program()
    if program is None:
        pytest.skip("there is no chromium here; apt-get install chromium")

    async def main(url: str) -> None:
        secret = HostRule(("127.0.0.1",), {}, {"Authorization": "Bearer s"}, None, True)
        async with (
            HttpFetcher(
                user_agent="suite", allow_private=["127.0.0.1"], besides=HostHeaders([secret])
            ) as own,
            HttpFetcher(user_agent="suite") as strangers,
            BrowserFetcher(
                own, strangers, rules=[rule], program=program or "", agent="suite",
                delay_s=DELAY_S, timeout_s=timeout_s, max_bytes=200_000,
            ) as fetcher,
        ):  # fmt: skip
            await work(fetcher, url)

    with serving(inside.answer) as hidden, serving(site.answer) as server:
        site.inside = hidden.port
        asyncio.run(main(f"http://127.0.0.1:{server.port}"))


@pytest.mark.slow
def test_a_page_is_filled_and_nothing_else_is_reached() -> None:
    """What scripts bring is in it; pictures, frames, other networks and posts are not asked for."""
    site, inside = Site(), Site()
    pages: list[FetchResponse] = []

    async def work(fetcher: BrowserFetcher, url: str) -> None:
        paths = ("/app/", "/app/2", "/plain")
        asked = (f"{url}{path}" for path in paths)
        pages.extend([await fetcher.fetch(one, etag='"1"', pages_only=True) for one in asked])

    with_browser(site, inside, work, RenderRule("/app/*", "#done"), 30.0)
    first, second, plain = (page.body.decode() for page in pages)
    for said in ("first item", "second item", "moved has [", "inside refused", "no post"):
        assert f"<p>{said}" in first
        assert f"<p>{said}" in second
    assert "forbidden refused" in first
    assert "<p>cookie </p>" in second  # nothing is left of the first page
    assert "first item" not in plain
    assert "nobody should see" not in first
    assert inside.asked == []
    assert set(site.paths()) == {
        "/app/", "/app/2", "/plain", "/main.js", "/api/items", "/api/moved", "/robots.txt",
    }  # fmt: skip
    assert site.paths().count("/main.js") == 1  # the pages of an application have the same ones
    assert site.paths().count("/robots.txt") == 1
    assert all(secret == "Bearer s" for _, _, secret in site.asked)
    instants = [at for at, path, _ in site.asked if path not in ("/app/2", "/plain")]
    gaps = [after - before for before, after in itertools.pairwise(instants)]
    assert min(gaps) >= 0.9 * DELAY_S
    assert pages[0].etag is None
    assert plain
    assert pages[2].etag == '"1"'
    both = pages[0].n_requests + pages[1].n_requests
    # Every request counts, that for robots.txt too, and one try that had led to a private address.
    assert both == len(site.paths()) - 1 + 1
    assert pages[2].n_requests == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "wait_for", "kind"),
    [
        ("for (;;) {}", "", "render"),  # hangs
        ("location.href = '/frame'", "#never", "render"),
        ("root.textContent = 'x'.repeat(300000)", "", "too-large"),
    ],
)
def test_a_page_that_does_not_become_whole_fails(last: str, wait_for: str, kind: str) -> None:
    """Within its time; and the next one is filled by a browser that works."""
    site, inside = Site(last=last), Site()

    async def work(fetcher: BrowserFetcher, url: str) -> None:
        with pytest.raises(FetchError) as told:
            await fetcher.fetch(f"{url}/app/", pages_only=True)
        assert told.value.kind == kind
        assert told.value.n_requests == len(site.paths()) + 1  # the try above among them
        site.last = ""
        fetcher._scripts.clear()
        rule = RenderRule("/app/*", "#done")
        fetcher._rules = (rule,)
        page = await fetcher.fetch(f"{url}/app/2", pages_only=True)
        assert b"second item" in page.body

    with_browser(site, inside, work, RenderRule("/app/*", wait_for), 8.0)
    assert "/frame" not in site.paths()
