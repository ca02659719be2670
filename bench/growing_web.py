"""Webs that grow: pages are born and changed, and stand on hubs for a while; and who covers them.

Everything follows from the seed. What is measured is coverage-freshness: of all pages that live,
known to the crawl or not, the share by weight of which the version that was fetched last is the
current one.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.crawler.ports import Clock, Fetcher
from recrawl.simulation.fetcher import bounded
from recrawl.terms import FetchResponse

__all__ = ["KINDS", "GrowingFetcher", "GrowingPage", "GrowingWeb", "growing_web"]

DAY_S = 86_400.0
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GrowingPage:
    """One page; instants in days.

    Parameters
    ----------
    path : its address on the host
    born : from when it answers
    weight : what a fresh copy is worth
    changes : when its text changes
    links : pages that it always links to, by path
    lists : paths of the pages that it lists, the latest born first
    shown : how many of those at a time
    """

    path: str
    born: float
    weight: float
    changes: Vector
    links: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    shown: int = 0


@dataclass(slots=True)
class GrowingWeb:
    """All pages of one host.

    Parameters
    ----------
    pages : by path
    days : how long it is known
    rules : patterns and weights, as a configuration would have them
    """

    pages: dict[str, GrowingPage]
    days: float
    rules: tuple[tuple[str, float], ...]
    _listed: dict[str, tuple[list[float], list[str]]] = field(default_factory=dict)

    def listed(self, page: GrowingPage, day: float) -> list[str]:
        """Return what a hub lists at an instant."""
        if not page.lists:
            return []
        if page.path not in self._listed:
            born = sorted((self.pages[path].born, path) for path in page.lists)
            self._listed[page.path] = [at for at, _ in born], [path for _, path in born]
        times, paths = self._listed[page.path]
        last = bisect_right(times, day)
        return paths[max(last - page.shown, 0) : last][::-1]

    def version(self, page: GrowingPage, day: float) -> tuple[int, int]:
        """Return what a copy of that instant is a copy of."""
        listed = 0
        if page.lists:
            self.listed(page, day)
            listed = bisect_right(self._listed[page.path][0], day)
        return bisect_right(page.changes, day), listed

    def coverage(self, visits: dict[str, list[float]], days: Sequence[float]) -> float:
        """Return the coverage-freshness, averaged over instants.

        Parameters
        ----------
        visits : by path, the days on which each page was fetched, ascending
        days : the instants
        """
        shares = []
        for day in days:
            total = fresh = 0.0
            for path, page in self.pages.items():
                if page.born > day:
                    continue
                total += page.weight
                seen = visits.get(path, [])
                place = bisect_right(seen, day)
                if place and self.version(page, seen[place - 1]) == self.version(page, day):
                    fresh += page.weight
            shares.append(fresh / total)
        return float(np.mean(shares))


class GrowingFetcher(Fetcher):
    """Asks a growing web, and remembers when each page was fetched.

    Parameters
    ----------
    web, clock : the web, and the time it is asked at
    epoch_s : instant of its day 0
    """

    def __init__(self, web: GrowingWeb, clock: Clock, epoch_s: float) -> None:
        self.visits: dict[str, list[float]] = defaultdict(list)
        self.n_requests = 0
        self._web = web
        self._clock = clock
        self._epoch_s = epoch_s

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
        await self._clock.sleep_until(self._clock.now_s() + 0.1)
        self.n_requests += 1
        path = "/" + url.partition("://")[2].partition("/")[2]
        day = (self._clock.now_s() - self._epoch_s) / DAY_S
        page = self._web.pages.get(path)
        if page is None or day < page.born:
            return FetchResponse(url, 404)
        self.visits[path].append(day)
        version = self._web.version(page, day)
        tag = f'"{version[0]}-{version[1]}"'
        if etag == tag:
            return FetchResponse(url, 304, etag=tag)
        paths = [*page.links, *self._web.listed(page, day)]
        links = "".join(f'<li><a href="{one}">{one}</a></li>' for one in paths)
        text = f"This is {path}, edition {version[0]}, with {version[1]} entries so far."
        body = f"<title>{path}</title><main><p>{text}</p><ul>{links}</ul></main>".encode()
        response = FetchResponse(url, 200, body, "text/html", "utf-8", etag=tag)
        return bounded(response, max_bytes, truncate=truncate, pages_only=pages_only)


def growing_web(kind: str, seed: int, *, scale: float = 1.0, days: float = 20.0) -> GrowingWeb:
    """Return a web of a kind in ``KINDS``; ``scale`` multiplies the number of its pages."""
    return KINDS[kind](np.random.default_rng([seed, 29]), scale, days)


def _changes(random: np.random.Generator, rate: float, born: float, days: float) -> Vector:
    return np.sort(random.uniform(born, days, random.poisson(rate * max(days - born, 0.0))))


def _news(random: np.random.Generator, scale: float, days: float) -> GrowingWeb:
    """Sections whose hubs show the last thirty articles; articles are corrected on their day."""
    pages: dict[str, GrowingPage] = {}
    sections = [("top", 25.0, 4.0), ("world", 12.0, 2.0), ("local", 6.0, 1.0), ("sport", 10.0, 1.0),
                ("culture", 2.0, 1.0), ("archive", 0.3, 0.5)]  # fmt: skip
    for name, per_day, weight in sections:
        old = random.uniform(-15, 0, int(20 * scale * per_day**0.5))
        new = np.sort(random.uniform(0, days, random.poisson(per_day * scale * days)))
        paths = []
        for number, born in enumerate([*np.sort(old), *new]):
            path = f"/{name}/{number}"
            within = born + random.exponential(0.3, random.poisson(0.8))
            pages[path] = GrowingPage(path, float(born), weight, np.sort(within[within > 0]))
            paths.append(path)
        pages[f"/{name}/"] = GrowingPage(
            f"/{name}/", -inf, weight, np.zeros(0), ("/",), tuple(paths), int(30 * scale) + 10
        )
    hubs = tuple(f"/{name}/" for name, _, _ in sections)
    pages["/"] = GrowingPage("/", -inf, 4.0, np.zeros(0), hubs)
    return GrowingWeb(pages, days, tuple((f"/{name}/*", weight) for name, _, weight in sections))


def _wiki(random: np.random.Generator, scale: float, days: float) -> GrowingWeb:
    """Pages that link to each other; new ones stand on some of them and on a list of the latest."""
    n_old, n_new = int(500 * scale), int(150 * scale)
    births = [-inf] * n_old + np.sort(random.uniform(0, days, n_new)).tolist()
    paths = [f"/{'talk' if n % 4 == 3 else 'wiki'}/{n}" for n in range(n_old + n_new)]
    lists: dict[int, list[str]] = defaultdict(list)
    for number in range(1, n_old + n_new):
        for parent in random.integers(0, min(number, n_old), 2 if number < n_old else 1):
            lists[int(parent)].append(paths[number])
    rates = np.clip(random.gamma(0.3, 0.5, n_old + n_new), 1e-4, 20.0)
    pages = {
        path: GrowingPage(
            path, born, 0.4 if path.startswith("/talk") else 1.5,
            _changes(random, float(rates[number]), max(born, 0.0), days), ("/",),
            tuple(lists[number]), 10_000,
        )
        for number, (path, born) in enumerate(zip(paths, births, strict=True))
    }  # fmt: skip
    latest = tuple(path for path, born in zip(paths, births, strict=True) if born > 0)
    pages["/latest"] = GrowingPage("/latest", -inf, 1.0, np.zeros(0), ("/",), latest, 25)
    pages["/"] = GrowingPage("/", -inf, 2.0, np.zeros(0), (paths[0], "/latest"))
    return GrowingWeb(pages, days, (("/talk/*", 0.4), ("/wiki/*", 1.5)))


def _catalogue(random: np.random.Generator, scale: float, days: float) -> GrowingWeb:
    """Categories that list all their products; prices change, and some categories grow."""
    pages: dict[str, GrowingPage] = {}
    categories = [f"/c{number}/" for number in range(int(30 * scale) + 5)]
    for place, category in enumerate(categories):
        growth = 3.0 if place % 10 == 0 else (0.3 if place % 3 == 0 else 0.0)
        weight = 3.0 if place % 5 == 0 else 0.7
        births = [-inf] * int(random.integers(5, 35)) + np.sort(
            random.uniform(0, days, random.poisson(growth * days))
        ).tolist()
        paths = [f"{category}{number}" for number in range(len(births))]
        rate = float(random.gamma(0.5, 0.6))
        for path, born in zip(paths, births, strict=True):
            changes = _changes(random, rate, max(born, 0.0), days)
            pages[path] = GrowingPage(path, born, weight, changes)
        pages[category] = GrowingPage(
            category, -inf, weight, np.zeros(0), ("/",), tuple(paths), 10_000
        )
    pages["/"] = GrowingPage("/", -inf, 2.0, np.zeros(0), tuple(categories))
    rules = tuple((f"/c{n}/*", 3.0 if n % 5 == 0 else 0.7) for n in range(len(categories)))
    return GrowingWeb(pages, days, rules)


def _blog(random: np.random.Generator, scale: float, days: float) -> GrowingWeb:
    """Many authors, who write seldom; each has a page with the last five posts."""
    pages: dict[str, GrowingPage] = {}
    authors = [f"/~{number}/" for number in range(int(60 * scale))]
    rates = random.gamma(0.6, 0.4, len(authors))
    for author, rate in zip(authors, rates.tolist(), strict=True):
        births = [
            *np.sort(random.uniform(-60, 0, int(random.integers(1, 8)))).tolist(),
            *np.sort(random.uniform(0, days, random.poisson(rate * days))).tolist(),
        ]
        paths = [f"{author}{number}" for number in range(len(births))]
        for path, born in zip(paths, births, strict=True):
            changes = _changes(random, 0.01, max(born, 0.0), days)
            pages[path] = GrowingPage(path, born, 1.0, changes)
        pages[author] = GrowingPage(author, -inf, 1.0, np.zeros(0), ("/",), tuple(paths), 5)
    pages["/"] = GrowingPage("/", -inf, 1.0, np.zeros(0), tuple(authors))
    return GrowingWeb(pages, days, ())


KINDS: dict[str, Callable[[np.random.Generator, float, float], GrowingWeb]] = {
    "news": _news,
    "wiki": _wiki,
    "catalogue": _catalogue,
    "blog": _blog,
}
