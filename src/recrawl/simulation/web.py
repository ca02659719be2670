"""A small web that changes by itself, and that knows its own history.

Pages change at rates with the heavy-tailed spread of real sites (gamma, shape 0.3), in bursts,
by a weekly clock that differs from host to host. Some are born late, some move, some are gone.
Everything follows from the seed, so that two processes can hold the same web.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Floats

DAY_S = 86_400.0
_HOSTS = ("news", "docs", "shop", "wiki", "blog", "forum", "data", "lab")
_SECTIONS = (
    "river",
    "harbour",
    "orchard",
    "library",
    "market",
    "observatory",
    "workshop",
    "garden",
)


@dataclass(frozen=True, slots=True)
class WebShape:
    """Shape of a synthetic web.

    Parameters
    ----------
    n_pages, n_hosts : pages over all hosts, >= 1 of each per host
    days : how long it is known
    mean_changes_per_day : of a page; the median is far lower
    rate_shape : of the gamma that rates are drawn from; real sites: 0.1 to 0.5
    burst : mean number of further changes that follow one within hours
    born, moved, gone : shares of the pages to which that happens within the time
    """

    n_pages: int = 400
    n_hosts: int = 4
    days: float = 30.0
    mean_changes_per_day: float = 1.0
    rate_shape: float = 0.3
    burst: float = 0.5
    born: float = 0.08
    moved: float = 0.03
    gone: float = 0.05

    def __post_init__(self) -> None:
        if not 1 <= self.n_hosts <= len(_HOSTS):
            raise InvalidModel(f"hosts must be 1 to {len(_HOSTS)}, got {self.n_hosts}")
        if self.n_pages < self.n_hosts:
            raise InvalidModel(f"pages must be at least one per host, got {self.n_pages}")
        if not (self.days > 0 and self.mean_changes_per_day > 0 and self.rate_shape > 0):
            raise InvalidModel("days, mean_changes_per_day and rate_shape must be > 0")


@dataclass(frozen=True, slots=True, eq=False)
class LivePage:
    """A page whose whole history is known; instants in days since the start of its web.

    Parameters
    ----------
    number : its place among all pages
    host : number of its host
    path : address within the host
    weight : worth of a fresh copy
    born, until : instants of its birth and its end; infinite: it stays
    changes : instants of its changes, ascending
    """

    number: int
    host: int
    path: str
    weight: float
    born: float
    until: float
    changes: Floats

    def version(self, day: float) -> int:
        """Number of changes up to an instant."""
        return bisect_right(self.changes, day)

    def exists(self, day: float) -> bool:
        """Tell whether the page answers with content."""
        return self.born <= day < self.until


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticPage(LivePage):
    """One page of a synthetic web.

    ``moved_to`` is the number of the page that took its content over, ``gone_status`` what it
    answers after ``until``.
    """

    rate: float
    moved_to: int | None = None
    gone_status: int | None = None


@dataclass(frozen=True)
class SyntheticWeb:
    """All pages, in the order of their numbers, and how they hang together."""

    shape: WebShape
    seed: int
    pages: tuple[SyntheticPage, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pages", tuple(_make_pages(self.shape, self.seed)))

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Short names of the hosts."""
        return _HOSTS[: self.shape.n_hosts]

    @cached_property
    def by_address(self) -> dict[tuple[int, str], SyntheticPage]:
        """Pages by host and path."""
        return {(page.host, page.path): page for page in self.pages}

    @cached_property
    def by_section(self) -> dict[tuple[int, str], list[SyntheticPage]]:
        """Pages by host and section."""
        sections: dict[tuple[int, str], list[SyntheticPage]] = defaultdict(list)
        for page in self.pages:
            sections[page.host, page.path.split("/")[1]].append(page)
        return sections


def true_freshness(
    pages: Iterable[LivePage], day: float, copies: Mapping[int, float]
) -> tuple[float, float]:
    """Return the share of the pages there are whose copy is current, plain and weighted.

    Parameters
    ----------
    pages : whose history is known
    day : the instant
    copies : by page number, the instant of its last successful visit
    """
    fresh = weighted = n = total = 0.0
    for page in pages:
        if not page.exists(day):
            continue
        n += 1
        total += page.weight
        seen = copies.get(page.number)
        if seen is not None and page.version(seen) == page.version(day):
            fresh += 1
            weighted += page.weight
    return (fresh / n, weighted / total) if n else (1.0, 1.0)


def _make_pages(shape: WebShape, seed: int) -> list[SyntheticPage]:
    random = np.random.default_rng([seed, 17])
    pages: list[SyntheticPage] = []
    rates = random.gamma(
        shape.rate_shape, shape.mean_changes_per_day / shape.rate_shape, shape.n_pages
    )
    # Below one change in 30 years the rest of the tail is indistinguishable from "never".
    rates = np.clip(rates, 1e-4, 200.0)
    weights = (1.0 - random.random(shape.n_pages)) ** (-1 / 1.2)
    fates = random.random(shape.n_pages)
    for number in range(shape.n_pages):
        host = number % shape.n_hosts
        section = _SECTIONS[random.integers(len(_SECTIONS))]
        born, until = 0.0, inf
        status: int | None = None
        if fates[number] < shape.born:
            born = float(random.uniform(0.05, 0.8)) * shape.days
        elif fates[number] > 1.0 - shape.gone:
            until = float(random.uniform(0.2, 0.9)) * shape.days
            status = 410 if random.random() < 0.5 else 404
        changes = _changes(shape, host, float(rates[number]), random)
        pages.append(
            SyntheticPage(
                number=number,
                host=host,
                path=f"/{section}/{_slug(number, seed)}",
                rate=float(rates[number]),
                weight=float(min(weights[number], 100.0)),
                born=born,
                until=until,
                changes=changes,
                gone_status=status,
            )
        )
    return pages + _moved(pages, shape, random)


def _changes(shape: WebShape, host: int, rate: float, random: np.random.Generator) -> Floats:
    """Bursts by a weekly clock: the rate over the whole week is ``rate``."""
    mean = rate * shape.days / (1.0 + shape.burst)
    starts = random.uniform(0.0, shape.days, random.poisson(mean * 3.0))
    kept = starts[random.random(len(starts)) < _clock(starts, host) / 3.0]
    followers = random.geometric(1.0 / (1.0 + shape.burst), len(kept)) - 1
    after = np.repeat(kept, followers) + random.exponential(0.08, int(followers.sum()))
    return np.sort(np.concatenate([kept, after]))


def _clock(day: Floats, host: int) -> Floats:
    """Relative activity, mean 1 over the week: office hours on some hosts, evenings on others."""
    hour = (day % 1.0) * 24.0
    weekend = (day % 7.0) >= 5.0
    peak = 11.0 if host % 2 == 0 else 20.0
    daily = 1.0 + 0.9 * np.cos((hour - peak) * np.pi / 12.0)
    weekly = np.where(weekend, 0.3, 1.28) if host % 2 == 0 else np.ones(len(day))
    return np.minimum(daily * weekly, 3.0)


def _moved(
    pages: list[SyntheticPage], shape: WebShape, random: np.random.Generator
) -> list[SyntheticPage]:
    """Let some pages move: the old address redirects, a new page goes on where it was."""
    steady = [page for page in pages if page.until == inf and page.born == 0.0]
    count = min(round(shape.moved * len(pages)), len(steady))
    heirs: list[SyntheticPage] = []
    for place in sorted(random.choice(len(steady), count, replace=False)) if count else []:
        old = steady[place]
        when = float(random.uniform(0.15, 0.85)) * shape.days
        heir = replace(
            old,
            number=len(pages) + len(heirs),
            path=f"{old.path}-revised",
            born=when,
            changes=old.changes[old.changes > when],
        )
        heirs.append(heir)
        pages[old.number] = replace(old, until=when, moved_to=heir.number)
    return heirs


_ADJECTIVES = (
    "quiet bright hidden northern early golden broken winding distant gentle hollow iron misty "
    "narrow open paper quick red silver tall"
).split()
_NOUNS = (
    "bridge lantern meadow compass archive kettle valley signal harvest mirror engine thread "
    "island orchestra canal telescope recipe tower almanac ferry"
).split()


def _slug(number: int, seed: int) -> str:
    mixed = (number * 7919 + seed * 104729) % 1_000_003
    adjective = _ADJECTIVES[mixed % len(_ADJECTIVES)]
    noun = _NOUNS[mixed // len(_ADJECTIVES) % len(_NOUNS)]
    return f"{adjective}-{noun}-{number}"
