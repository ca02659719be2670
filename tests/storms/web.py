"""A small web in bad weather, which knows what a crawler must never do."""

import asyncio
import hashlib
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from tests.storms.weather import Manners, Weather
from typing_extensions import override

from recrawl.crawler.ports import Clock, Fetcher
from recrawl.simulation.fetcher import bounded
from recrawl.terms import FetchResponse

__all__ = ["StormyFetcher", "StormyWeb"]

_WORDS = "amber birch cedar delta ember fjord grove heron iris juniper kelp lotus maple".split()


@dataclass(frozen=True, slots=True)
class _Page:
    changes_s: tuple[float, ...]  # true times at which its content changes
    gone_s: float
    moved_to: str | None
    links: tuple[str, ...]


@dataclass(slots=True)
class StormyWeb:
    """Pages on a few hosts, and the weather of each host, all drawn from a seed.

    Parameters
    ----------
    random : drawn from as the web is made, and for every exchange
    length_s : how long the weather lasts; afterwards it is fair
    delay_s : the least rest of a host that the crawler promised
    """

    random: np.random.Generator
    length_s: float
    delay_s: float
    pages: dict[str, _Page] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    trace: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    requests: int = 0
    ended_s: dict[str, float] = field(default_factory=dict)  # of the last exchange of each host
    weather: Weather = field(init=False)

    def __post_init__(self) -> None:
        draw = self.random
        self.hosts = [f"http://h{number}.test" for number in range(int(draw.integers(1, 4)))]
        urls = [f"{host}/" for host in self.hosts]
        urls += [f"{self.hosts[int(draw.integers(len(self.hosts)))]}/{n}" for n in range(12)]
        for url in urls:
            home = url.endswith("/")  # from here all of the host can be found
            links = {other for other in urls if home and other.startswith(url)}
            links |= {urls[int(draw.integers(len(urls)))]}
            changes = np.cumsum(draw.exponential(10.0 ** draw.uniform(1.0, 4.0), 200))
            moves = not home and draw.random() < 0.1
            self.pages[url] = _Page(
                tuple(changes.tolist()),
                np.inf if home or moves or draw.random() < 0.9 else draw.uniform(0, self.length_s),
                f"{url}-new" if moves else None,
                tuple(sorted(links)),
            )
            if moves:
                self.pages[f"{url}-new"] = _Page((), np.inf, None, ())
        self.weather = Weather(draw, self.hosts, self.length_s)

    def edition(self, url: str, true_s: float) -> int:
        """Number of the content that a page has at a time."""
        return bisect_right(self.pages[url].changes_s, true_s)

    def text(self, url: str, edition: int) -> str:
        """The words of an edition; no other edition has them all."""
        words = [_WORDS[(edition // 13**place) % 13] for place in range(3)]
        return f"{' '.join(words)} at {url.rpartition('/')[2] or 'home'}"


class StormyFetcher(Fetcher):
    """Asks a :class:`StormyWeb`, for one life of a crawler.

    Parameters
    ----------
    web : what is asked
    clock : the crawler's, which may be wrong
    true_s : the time in the web
    budget : (requests per second, burst) that the crawler promised
    """

    def __init__(
        self,
        web: StormyWeb,
        clock: Clock,
        true_s: Callable[[], float],
        budget: tuple[float, float],
    ) -> None:
        self.served: dict[tuple[str, float], int] = {}  # (URL, start by the clock) -> edition
        self._web = web
        self._clock = clock
        self._true_s = true_s
        self._manners = Manners(web.delay_s, *budget, ended_s=web.ended_s)

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
        web, started_s, clock_s = self._web, self._true_s(), self._clock.now_s()
        host = url[: url.index("/", 8)]
        self._manners.begin(host, started_s)
        web.requests += 1
        web.trace.update(f"{started_s:.6f} {url}\n".encode())
        try:
            kind = web.weather.at(host, started_s)
            slow = 20.0 if kind == "slow" else 0.1
            wait_s = 30.0 if kind == "timeout" else float(web.random.exponential(slow))
            await asyncio.sleep(min(wait_s, 30.0))
            instead = web.weather.instead(url, kind)
            response = self._answer(url, clock_s, etag) if instead is None else instead
        finally:
            self._manners.end(host, self._true_s())
        return bounded(response, max_bytes, truncate=truncate, pages_only=pages_only)

    def _answer(self, url: str, clock_s: float, etag: str | None) -> FetchResponse:
        web, now_s = self._web, self._true_s()
        page = web.pages.get(url)
        if page is None or now_s >= page.gone_s:
            return FetchResponse(url, 404 if page is None else 410)
        if page.moved_to is not None:
            return FetchResponse(url, 301, location=page.moved_to)
        edition = web.edition(url, now_s)
        self.served[url, clock_s] = edition
        if etag == f'"{edition}"':
            return FetchResponse(url, 304, etag=etag)
        anchors = "".join(f'<a href="{link}">next</a> ' for link in page.links)
        title = url.rpartition("/")[2]
        html = f"<title>{title}</title><main>{web.text(url, edition)} {anchors}</main>"
        known = f'"{edition}"' if web.random.random() < 0.7 else None
        return FetchResponse(url, 200, html.encode(), "text/html", etag=known)
