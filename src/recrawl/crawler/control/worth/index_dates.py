"""Dates that an index gives its sitemaps: which of them have changed since they were read.

A reading of the index is one request, and tells of all its sitemaps. Dates are compared with each
other alone, never with a clock: another one than when a sitemap was read last says that it has
changed. So dates of a day, of a server whose clock is wrong, or of files that are built late prove
themselves as any others do, or they do not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from typing import Final

from recrawl.crawler.control.worth.births import (
    NewPages,
    birth_interval,
    birth_loss,
)
from recrawl.crawler.control.worth.tiers import visit_gain
from recrawl.terms import Birth, Kind

_MOST: Final = 100_000  # sitemaps of which dates are remembered
_MOST_OF_ONE: Final = 1_000  # of an index
_MOST_COUNTED: Final = 200  # of a count, before all of them are halved: indexes change
_STALE: Final = 2.0  # intervals after which an index that was not read tells nothing any more
ROUNDS: Final = 6  # in which an interval and what a reading costs settle
_HEARD: Final = 0.9  # share of changes that are told, from which silence stands for a reading


@dataclass(frozen=True, slots=True)
class Dated:
    """All that the dates of an index tell of one of its sitemaps.

    Parameters
    ----------
    recall : share of the sitemap's changes after which its date is another one, in (0, 1)
    false : chance of another date though it has not changed, in (0, 1)
    rate_per_s : changes of the sitemap, 1/s, > 0
    waits : whether its date is another one than when it was read last
    """

    recall: float
    false: float
    rate_per_s: float
    waits: bool = False

    def price_share(self, interval_s: float) -> float:
        r"""Return the share of the price that a visit has to be worth, as it has been told of.

        What a visit is worth on average, over the chance that it finds a change, is what it is
        worth where there is one. With P the chance of a change within the interval, the chance
        after another date is :math:`r P / (r P + f (1 - P))`.

        Parameters
        ----------
        interval_s : from visit to visit where nothing is told, >= 0
        """
        chance = 1.0 - exp(-self.rate_per_s * interval_s)
        return min(chance + self.false * (1.0 - chance) / self.recall, 1.0)


@dataclass(slots=True)
class _Sitemap:
    """A sitemap of an index; ``read_with`` is the date in force when it was read, None: never."""

    index: int
    date: float
    read_with: float | None = None
    to_judge: float | None = None  # date at the visit before the one that found a change
    changes: int = 0
    exposure_s: float = 0.0


@dataclass(slots=True)
class _Counts:
    """Changes that were told and not told; visits without one, though told, and in all."""

    told: int = 0
    missed: int = 0
    false: int = 0
    calm: int = 0

    def add(self, **more: bool) -> None:
        for name, one in more.items():
            setattr(self, name, getattr(self, name) + one)
        if max(self.told, self.missed, self.calm) > _MOST_COUNTED:
            for name in ("told", "missed", "false", "calm"):
                setattr(self, name, getattr(self, name) // 2)

    def as_bytes(self) -> bytes:
        return bytes([self.told, self.missed, self.false, self.calm])


class IndexDates:
    """The indexes of a crawl, and their sitemaps, by address.

    In memory but for the counts of each index, which its page keeps: after a start an index tells
    of its sitemaps again when it has been read. Plans may ask on a thread of their own.
    """

    def __init__(self) -> None:
        self._sitemaps: dict[str, _Sitemap] = {}
        self._pages: dict[str, int] = {}  # of sitemaps that were visited
        self._urls: dict[int, str] = {}  # of these
        self._lists: dict[int, list[str]] = {}  # dated sitemaps of each index
        self._counts: dict[int, _Counts] = {}
        self._read_s: dict[int, float] = {}
        self._intervals_s: dict[int, float] = {}  # of indexes, as planned last
        self._left: set[int] = set()  # sitemaps that are read by a clock of their own

    def read(
        self,
        index: int,
        at_s: float,
        dates: Iterable[tuple[str, float | None]],
        memory: bytes = b"",
    ) -> None:
        """Learn what an index says, and from it of the visits made since it was read before.

        Parameters
        ----------
        index : page
        at_s : instant
        dates : of its sitemaps by address; None: it gives none
        memory : what :meth:`memory` returned at an earlier reading
        """
        listed = [(url, date) for url, date in dates if date is not None]
        dated = listed[:_MOST_OF_ONE]
        if not dated:
            self._lists.pop(index, None)
            return
        if index not in self._counts:
            self._counts[index] = _Counts(*memory) if len(memory) == 4 else _Counts()
        counts = self._counts[index]
        self._lists.pop(index, None)
        for url, date in dated:
            one = self._sitemaps.setdefault(url, _Sitemap(index, date))
            if one.to_judge is not None:
                counts.add(told=date != one.to_judge, missed=date == one.to_judge)
                one.to_judge = None
            one.index, one.date = index, date
        self._lists[index], self._read_s[index] = [url for url, _ in dated], at_s
        while len(self._sitemaps) > _MOST:
            self._forget(next(iter(self._lists)))

    def _forget(self, index: int) -> None:
        """Forget an index, and the sitemaps that are its own."""
        for url in self._lists.pop(index):
            if (one := self._sitemaps.get(url)) is not None and one.index == index:
                del self._sitemaps[url]
                page = self._pages.pop(url, -1)
                self._urls.pop(page, None)
                self._left.discard(page)

    def read_unchanged(self, index: int, at_s: float) -> None:
        """Learn that an index says what it said before."""
        dates = [(url, one.date) for url, one in self._of(index)]
        if dates:
            self.read(index, at_s, dates)

    def visit(self, url: str, page: int, changed: bool | None, elapsed_s: float) -> None:
        """Learn from a visit of a sitemap.

        Parameters
        ----------
        url, page : of the sitemap
        changed : whether it lists something else; None: it was not read before
        elapsed_s : since the visit before, >= 0

        Notes
        -----
        Whether a change was told is known once the index is read again.
        """
        one = self._sitemaps.get(url)
        if one is None:
            return
        self._urls[page], self._pages[url] = url, page
        if one.read_with is not None and changed is not None:
            if changed:
                one.to_judge = one.read_with
            elif (counts := self._counts.get(one.index)) is not None:
                counts.add(calm=True, false=one.date != one.read_with)
            one.changes += changed
            one.exposure_s += elapsed_s
        one.read_with = one.date

    def memory(self, index: int) -> bytes:
        """Return what the page of an index is to keep; nothing of what is no index."""
        counts = self._counts.get(index)
        return b"" if counts is None else counts.as_bytes()

    def of(self, page: int, now_s: float) -> Dated | None:
        """Return what is told of a sitemap; None: nothing that it is worth going by.

        Parameters
        ----------
        page : of the sitemap
        now_s : instant
        """
        return None if page in self._left else self._told(page, now_s)

    def _told(self, page: int, now_s: float) -> Dated | None:
        one = self._sitemaps.get(self._urls.get(page, ""))
        if one is None or one.read_with is None or not self._is_followed(one.index, now_s):
            return None
        counts = self._counts[one.index]
        return Dated(
            (counts.told + 0.5) / (counts.told + counts.missed + 1.5),
            (counts.false + 0.5) / (counts.calm + 1.0),
            (one.changes + 0.5) / (one.exposure_s + self._intervals_s.get(one.index, 0.0) + 1.0),
            one.date != one.read_with,
        )

    def parts(self, index: int, now_s: float) -> dict[int, Dated]:
        """Return what an index tells of each of its sitemaps that was read."""
        pages = [self._pages.get(url, -1) for url, _ in self._of(index)]
        told = {page: self._told(page, now_s) for page in pages}
        return {page: one for page, one in told.items() if one is not None}

    def plan(self, index: int, interval_s: float) -> None:
        """Note after which time an index is read again."""
        if index in self._lists:
            self._intervals_s[index] = interval_s

    def choose(
        self,
        index: int,
        brings: Callable[[int], Sequence[NewPages]],
        price: float,
        longest_s: float,
        now_s: float,
    ) -> list[NewPages]:
        """Choose which of its sitemaps are read as an index tells; return what that brings it.

        Of the others :meth:`of` tells nothing.

        Parameters
        ----------
        index : page
        brings : says what readings of a page bring
        price : of a reading, in weight times seconds, >= 0
        longest_s : interval between readings at most
        now_s : instant of the plan
        """
        parts = {page: (one, brings(page)) for page, one in self.parts(index, now_s).items()}
        chosen = worth_following(parts, price, longest_s) if parts and price > 0.0 else set()
        self._left = (self._left | {*parts}) - chosen
        return index_flows(parts[page] for page in chosen)

    def followed(self, index: int, now_s: float) -> dict[int, Dated]:
        """Return what an index tells of its sitemaps that are read as it tells."""
        told = self.parts(index, now_s)
        return {page: one for page, one in told.items() if page not in self._left}

    def heard(self, births: Sequence[Birth], now_s: float) -> list[Birth]:
        """Return what was read, with the instants until which it is known what listings say."""
        return [
            one if one.kind is not Kind.SITEMAP else replace(one, last_visit_s=heard_s)
            for one in births
            for heard_s in (self._heard_s(one, now_s),)
        ]

    def _heard_s(self, listing: Birth, now_s: float) -> float | None:
        told, read_s = self.of(listing.page_id, now_s), listing.last_visit_s
        if told is None or told.waits or told.recall < _HEARD or read_s is None:
            return read_s
        return max(read_s, self._read_s[self._index_of(listing.page_id)])

    def _index_of(self, page: int) -> int:
        one = self._sitemaps.get(self._urls.get(page, ""))
        return -1 if one is None else one.index

    def _of(self, index: int) -> list[tuple[str, _Sitemap]]:
        listed = [(url, self._sitemaps.get(url)) for url in self._lists.get(index, ())]
        return [(url, one) for url, one in listed if one is not None]

    def _is_followed(self, index: int, now_s: float) -> bool:
        read_s, every_s = self._read_s.get(index), self._intervals_s.get(index)
        return read_s is not None and (every_s is None or now_s - read_s <= _STALE * every_s)


def index_flows(parts: Iterable[tuple[Dated, Sequence[NewPages]]]) -> list[NewPages]:
    """Return what a reading of an index brings: what it tells its sitemaps have brought.

    Parameters
    ----------
    parts : what is told of each sitemap, and what its readings bring

    Notes
    -----
    As one flow of each kind, with the mean of what others find too.
    """
    sums: dict[int, NewPages] = {}
    for told, brought in parts:
        for kind, new in enumerate(brought):
            share = told.recall * (1.0 - told.false)
            before = sums.get(kind, NewPages(0.0))
            flow = before.flow_per_s + share * new.flow_per_s
            if flow > 0.0:
                now = share * new.flow_per_s / flow
                sums[kind] = NewPages(
                    flow,
                    (1.0 - now) * before.shared + now * new.shared,
                    (1.0 - now) * before.lead_s + now * new.lead_s,
                )
    return list(sums.values())


def index_cost(parts: Iterable[Dated], interval_s: float) -> float:
    r"""Return how many requests a reading of an index counts for, from interval to interval.

    At an interval T a sitemap that changes at rate :math:`\lambda` is read
    :math:`(1 - e^{-\lambda T}) / T` times, which longer intervals save as
    :math:`1 - (1 + \lambda T) e^{-\lambda T}` requests more would.
    """
    return 1.0 + sum(visit_gain(told.rate_per_s * interval_s) for told in parts)


def worth_following(
    parts: Mapping[int, tuple[Dated, Sequence[NewPages]]], price: float, longest_s: float
) -> set[int]:
    """Return the sitemaps that are better read as their index tells.

    One that changes as often as it is read by itself costs the index beside it. So each is read in
    the way that costs less, by readings and what is lost until they come, as long as all that is
    saved pays the index. What the index does not tell, a share 1 - r, costs the root of that of
    what all does.

    Parameters
    ----------
    parts : by page: what is told of each, and what its readings bring
    price : of a reading, in weight times seconds, > 0
    longest_s : interval between readings at most

    Notes
    -----
    A first-order rule, from all of them down. O(parts) a round, of six at most.
    """

    def loss(brought: Sequence[NewPages], interval_s: float) -> float:
        return sum(birth_loss(one, interval_s) for one in brought)

    alone = {}
    for page, (_, brought) in parts.items():
        every_s = birth_interval(brought, price, longest_s)
        alone[page] = price / every_s + loss(brought, every_s)
    followed, interval_s = set(parts), longest_s
    for _ in range(ROUNDS):
        flows = index_flows(parts[page] for page in followed)
        if not flows:
            return set()
        told = [parts[page][0] for page in followed]
        interval_s = birth_interval(flows, price, longest_s)
        for _ in range(ROUNDS):
            interval_s = birth_interval(flows, price * index_cost(told, interval_s), longest_s)
        saved = {
            page: alone[page] * (1.0 - sqrt(1.0 - told.recall))
            - price * _readings(told, interval_s)
            - told.recall * loss(brought, interval_s)
            for page, (told, brought) in parts.items()
            if page in followed
        }
        kept = {page for page in followed if saved[page] > 0.0}
        if kept == followed:
            break
        followed = kept
    pays = sum(saved[page] for page in followed) > price / interval_s
    return followed if pays else set()


def _readings(told: Dated, interval_s: float) -> float:
    """Return how often a sitemap is read that its index is asked about at this interval, 1/s."""
    chance = 1.0 - exp(-told.rate_per_s * interval_s)
    return (told.recall * chance + told.false * (1.0 - chance)) / interval_s
