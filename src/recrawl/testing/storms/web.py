"""A small web in bad weather, which knows what a crawler must never do."""

import asyncio
import hashlib
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from typing_extensions import override

from recrawl.crawler.ports import Clock, Fetcher
from recrawl.errors import FetchError
from recrawl.simulation.fetcher import bounded
from recrawl.terms import FetchResponse

__all__ = ["Broken", "StormyFetcher", "StormyWeb"]

_WORDS = "amber birch cedar delta ember fjord grove heron iris juniper kelp lotus maple".split()


class Broken(AssertionError):
    """A promise of the crawler was broken."""


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
    _bad: dict[str, list[tuple[float, float, str]]] = field(default_factory=dict)
    _ended_s: dict[str, float] = field(default_factory=dict)

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
        for host in self.hosts:
            self._bad[host] = []
            at_s = draw.exponential(self.length_s / 3)
            while at_s < self.length_s:
                kind = str(draw.choice(["connect", "dns", "timeout", "429", "503", "500", "slow"]))
                until_s = at_s + draw.exponential(self.length_s / 20)
                self._bad[host].append((at_s, until_s, kind))
                at_s = until_s + draw.exponential(self.length_s / 3)

    def edition(self, url: str, true_s: float) -> int:
        """Number of the content that a page has at a time."""
        return bisect_right(self.pages[url].changes_s, true_s)

    def text(self, url: str, edition: int) -> str:
        """The words of an edition; no other edition has them all."""
        words = [_WORDS[(edition // 13**place) % 13] for place in range(3)]
        return f"{' '.join(words)} at {url.rpartition('/')[2] or 'home'}"

    def weather(self, host: str, true_s: float) -> str | None:
        """What is wrong with a host at a time, if anything."""
        if true_s >= self.length_s:
            return None
        for start_s, end_s, kind in self._bad[host]:
            if start_s <= true_s < end_s:
                return kind
        if self.random.random() < 0.03:
            return str(self.random.choice(["disconnected", "protocol", "too-large", "500"]))
        return None

    def begin(self, host: str, true_s: float) -> None:
        """Hold a request's start against the host's rest."""
        since_s = true_s - self._ended_s.get(host, -np.inf)
        if since_s < self.delay_s - 1e-6:
            raise Broken(f"{host} was asked {since_s:.3f} s after the last answer")

    def end(self, host: str, true_s: float) -> None:
        """Note that an exchange is over, however it ended."""
        self._ended_s[host] = true_s


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
        self._rate, self._burst = budget
        self._starts: list[float] = []
        self._busy: set[str] = set()

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
        self._check(host, started_s)
        web.requests += 1
        web.trace.update(f"{started_s:.6f} {url}\n".encode())
        self._busy.add(host)
        try:
            kind = web.weather(host, started_s)
            slow = 20.0 if kind == "slow" else 0.1
            wait_s = 30.0 if kind == "timeout" else float(web.random.exponential(slow))
            await asyncio.sleep(min(wait_s, 30.0))
            response = self._answer(url, host, kind, clock_s, etag)
        finally:
            self._busy.discard(host)
            web.end(host, self._true_s())
        return bounded(response, max_bytes, truncate=truncate, pages_only=pages_only)

    def _check(self, host: str, now_s: float) -> None:
        if host in self._busy:
            raise Broken(f"{host} was asked twice at a time")
        self._web.begin(host, now_s)
        self._starts.append(now_s)
        for number, start_s in enumerate(reversed(self._starts[-200:]), start=1):
            if number > self._rate * (now_s - start_s) + self._burst + 1e-6:
                raise Broken(f"{number} requests in {now_s - start_s:.3f} s are over the budget")

    def _answer(
        self, url: str, host: str, kind: str | None, clock_s: float, etag: str | None
    ) -> FetchResponse:
        web, now_s = self._web, self._true_s()
        if kind in ("connect", "dns", "timeout", "disconnected", "protocol", "too-large"):
            raise FetchError(kind, "the weather")
        if kind in ("429", "503"):
            after = str(web.random.choice(["", "5", "60", "soon", "-1"])) or None
            return FetchResponse(url, int(kind), retry_after=after)
        if kind == "500":
            return FetchResponse(url, 500)
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
