"""Keeps the importance of pages: rarely computed, beside the crawl, from what its state holds."""

import json
from dataclasses import replace
from math import inf, nan
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.urls import folder_of, host_of
from recrawl.crawler.control.worth.importance import ExpectedImportance, share_before_visit
from recrawl.crawler.control.worth.telling import worth_telling
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.learning.counts import shrunk_means
from recrawl.learning.importance import Importance, by_counts, combined
from recrawl.learning.link_lists import GraphBuilder, mark_of
from recrawl.learning.page_rank import rank_pages
from recrawl.terms import COUNTED, PageState, PageWorth

_BATCH: Final = 1_000  # pages that are read or written at once: the crawl waits no longer
_MORE_PAGES: Final = 1.1  # before it is worth computing anew
_DAY_S: Final = 86_400.0
_SPENT: Final = 50.0  # times as long as computing took, it is left alone
_BEGINS_WITH: Final = 5.0  # pages of its host, that a folder's mean begins with
_A_LITTLE_LESS: Final = 0.99
_MOVED: Final = 0.02  # by less than this share nothing is written
_TOLD_SHARE: Final = 0.05  # of the pages, that the feed is told of at a time
_TOLD_LEAST: Final = 1_000  # of which it is told anyway
_TOLD_AT_ONCE: Final = 2_000
_ALIVE: Final = frozenset({PageState.DISCOVERED, PageState.INDEXED, PageState.MISSING})


class _Known:
    """Every page that is known, one row each, ascending by id; read some at a time."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._pieces: list[tuple[NDArray[Any], ...]] = []
        self._hosts: dict[str, int] = {}
        self._folders: dict[str, int] = {}

    def add(self, rows: list[tuple[int, int, str, PageState, float | None]]) -> None:
        """Add pages, as the frontier tells them."""
        self.urls += [url for _, _, url, _, _ in rows]
        hosts, folders = self._hosts, self._folders
        known = np.array([row[0] for row in rows], np.int64)
        states = [state for *_, state, _ in rows]
        alive = np.array([state in _ALIVE for state in states], np.bool_)
        indexed = np.array([state is PageState.INDEXED for state in states], np.bool_)
        waits = np.array([state is PageState.DISCOVERED for state in states], np.bool_)
        before = np.array([row[-1] for row in rows], np.float64)  # None: NaN
        share = np.ones(known.size)
        share[waits] = [share_before_visit(rows[row][2]) for row in np.flatnonzero(waits)]
        of_host = [hosts.setdefault(host_of(row[2]), len(hosts)) for row in rows]
        of_folder = [folders.setdefault(folder_of(row[2]), len(folders)) for row in rows]
        places = np.array([of_host, of_folder], np.int64)
        self._pieces.append((known, alive, indexed, waits, before, share, *places))

    def close(self) -> None:
        """Put the rows together."""
        columns = [np.concatenate(pieces) for pieces in zip(*self._pieces, strict=True)]
        self.ids, self.alive, self.indexed, self.unvisited = columns[:4]
        self.before, self.share, self.hosts, self.folders = columns[4:]
        self._pieces = []

    def rows_of(self, page_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each page, -1 where it is not known."""
        rows = np.minimum(np.searchsorted(self.ids, page_ids), self.ids.size - 1)
        return np.where(self.ids[rows] == page_ids, rows, -1)

    def means(self, worths: NDArray[np.float64]) -> tuple[dict[str, float], dict[str, float]]:
        """Return what a new page of each host is expected to be worth, and of each folder.

        A little less than most that wait for their first visit, of which no more is known: those
        that were found earlier come first, as otherwise a crawl would follow what it found last.
        Where few wait it is the mean of all pages.
        """
        waits = self.unvisited & (self.share == 1.0)
        of_host, _ = shrunk_means(worths, (self.hosts, self.folders))
        of_host = _below_most(worths[waits], self.hosts[waits], of_host)
        n, total = np.bincount(self.folders), np.bincount(self.folders, worths)
        around = np.zeros(n.size)
        around[self.folders] = of_host[self.hosts]
        of_folder = (total + _BEGINS_WITH * around) / (n + _BEGINS_WITH)
        of_folder = _below_most(worths[waits], self.folders[waits], of_folder)
        return (
            dict(zip(self._hosts, of_host.tolist(), strict=True)),
            dict(zip(self._folders, of_folder.tolist(), strict=True)),
        )


class ImportanceKeeper:
    """Computes importance anew when much has changed, and tells what new addresses may be worth.

    Parameters
    ----------
    world, rules : of the crawl
    expected : told the means of hosts and folders
    on_plan : runs what takes long
    """

    def __init__(
        self,
        world: World,
        rules: Rules,
        expected: ExpectedImportance,
        *,
        on_plan: Offload,
    ) -> None:
        self._world = world
        self._rules = rules
        self._expected = expected
        self._on_plan = on_plan
        self._next_s = -inf
        self._latest_s = -inf
        self._tell_s = -inf
        self._n_pages = 0
        self._ranks: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None

    async def refresh(self) -> bool:
        """Compute importance if it is time; True if it was."""
        clock = self._world.clock
        started_s = clock.now_s()
        if self._rules.importance.is_even or started_s < self._next_s:
            return False
        counts = await self._world.on_state(self._world.frontier.n_pages_by_state)
        n = sum(counts.values())
        if n < _MORE_PAGES * self._n_pages and started_s < self._latest_s:
            return False
        if not n:
            return False
        known, builder = await self._read()
        if known is None:
            return False
        tallies = await self._world.on_state(self._world.frontier.worths.tallies)
        found = await self._on_plan(self._compute, known, builder, tallies, started_s)
        await self._write(known, found)
        self._n_pages = n
        spent_s = clock.now_s() - started_s
        self._next_s = clock.now_s() + max(self._rules.importance.least_s, _SPENT * spent_s)
        self._latest_s = max(self._next_s, clock.now_s() + _DAY_S)
        self._world.events.emit("importance", {"pages": n, "took_s": spent_s})
        return True

    async def tell(self) -> int:
        """Tell the feed of pages whose importance has changed, if that is asked and it is time.

        No more than one page in twenty, or a thousand, at a time: those that moved most; the others
        follow. Returns how many.
        """
        clock, on_state = self._world.clock, self._world.on_state
        started_s = clock.now_s()
        if not self._rules.feed_importance or started_s < self._tell_s:
            return 0
        feed, after = self._world.frontier.feed, 0
        rows: list[tuple[int, float, float | None]] = []
        while part := await on_state(feed.importances, after=after, limit=_BATCH):
            rows += part
            after = part[-1][0]
        page_ids = await self._on_plan(_to_tell, rows)
        n_told = 0
        for first in range(0, len(page_ids), _TOLD_AT_ONCE):
            chosen = page_ids[first : first + _TOLD_AT_ONCE]
            n_told += await on_state(feed.tell_importance, chosen, started_s)
        spent_s = clock.now_s() - started_s
        self._tell_s = clock.now_s() + max(self._rules.importance.least_s, _SPENT * spent_s)
        return n_told

    async def _read(self) -> tuple[_Known | None, GraphBuilder | None]:
        worths, on_state = self._world.frontier.worths, self._world.on_state
        known, after = _Known(), 0
        while rows := await on_state(worths.addresses, after=after, limit=_BATCH):
            await self._on_plan(known.add, rows)
            after = rows[-1][0]
        if not known.urls:
            return None, None
        await self._on_plan(known.close)
        if not self._rules.importance.uses_links:
            return known, None
        builder, after = await self._on_plan(_builder, known), 0
        while lists := await on_state(worths.link_lists, after=after, limit=_BATCH):
            await self._on_plan(_add, builder, known, lists)
            after = lists[-1][0]
        return known, builder

    def _compute(
        self,
        known: _Known,
        builder: GraphBuilder | None,
        tallies: list[tuple[int, str, float, float]],
        now_s: float,
    ) -> Importance:
        n = known.ids.size
        said: dict[str, NDArray[np.float64]] = {}
        if builder is not None:
            start = np.full(n, 1.0 / n)
            if self._ranks is not None:
                rows = known.rows_of(self._ranks[0])
                start[rows[rows >= 0]] = self._ranks[1][rows >= 0]
            ranks = rank_pages(builder.graph(), start=start).shares
            self._ranks = known.ids, ranks
            said["links"] = _of_mean_one(ranks, known.alive)
        half_life_s = self._rules.importance.half_life_s
        for source in COUNTED:
            told = [(page_id, n, at_s) for page_id, of, n, at_s in tallies if of == source]
            if not told:
                continue
            page_ids, many, at_s = map(np.array, zip(*told, strict=True))
            rows, counts = known.rows_of(page_ids), np.zeros(n)
            left = many * 0.5 ** (np.maximum(now_s - at_s, 0.0) / half_life_s)
            counts[rows[rows >= 0]] = left[rows >= 0]
            if counts.sum() > 0:
                # What is not in the index was not there to be asked for.
                counted = np.where(known.indexed | (counts > 0), 1.0, 0.0)
                by_place = by_counts(counts, known.hosts, known.folders, counted)
                said[source] = _of_mean_one(by_place, known.alive)
        return combined(self._rules.importance.shares, said, n)

    async def _write(self, known: _Known, found: Importance) -> None:
        self._expected.learn(*await self._on_plan(known.means, found.worths))
        worths = found.worths * known.share
        moved = np.flatnonzero(~(np.abs(worths - known.before) <= _MOVED * known.before))
        found = replace(found, worths=worths)
        for first in range(0, moved.size, _BATCH):
            rows = moved[first : first + _BATCH]
            told = await self._on_plan(self._told, known, found, rows)
            await self._world.on_state(self._world.frontier.worths.save, told)

    def _told(self, known: _Known, found: Importance, rows: NDArray[np.int64]) -> list[PageWorth]:
        weights = self._rules.admission.weights
        columns = [
            (name, share, values[rows].tolist()) for name, (share, values) in found.parts.items()
        ]
        worths, ids = found.worths[rows].tolist(), known.ids[rows].tolist()
        return [
            PageWorth(
                ids[place],
                weights.of(known.urls[row]) * worths[place],
                worths[place],
                _parts(columns, place),
            )
            for place, row in enumerate(rows.tolist())
        ]


def _to_tell(rows: list[tuple[int, float, float | None]]) -> list[int]:
    """Return the pages that the feed is told of, of those with their weight and what was told."""
    if not rows:
        return []
    ids, weights, told = zip(*rows, strict=True)
    said = np.array([nan if one is None else one for one in told], np.float64)
    most = max(_TOLD_LEAST, int(_TOLD_SHARE * len(ids)))
    chosen = worth_telling(np.array(weights, np.float64), said, most)
    return [ids[row] for row in chosen.tolist()]


def _parts(columns: list[tuple[str, float, list[float]]], place: int) -> str:
    """Return what each source says of a page, and its share."""
    told = {name: [share, float(f"{said[place]:.3g}")] for name, share, said in columns}
    return json.dumps(told, separators=(",", ":"))


def _below_most(
    worths: NDArray[np.float64], groups: NDArray[np.int64], otherwise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a little less than the median of each group of some size; of others what is given."""
    n = np.bincount(groups, minlength=otherwise.size)
    middle = np.cumsum(n) - n + (n - 1) // 2
    is_many = n >= _BEGINS_WITH
    found = otherwise.copy()
    found[is_many] = _A_LITTLE_LESS * worths[np.lexsort((worths, groups))][middle[is_many]]
    return found


def _builder(known: _Known) -> GraphBuilder:
    marks = np.fromiter(map(mark_of, known.urls), np.int64, len(known.urls))
    return GraphBuilder(marks, known.hosts)


def _add(builder: GraphBuilder, known: _Known, lists: list[tuple[int, bytes]]) -> None:
    rows = known.rows_of(np.array([page_id for page_id, _ in lists], np.int64))
    there = np.flatnonzero(rows >= 0)
    builder.add(rows[there], [lists[place][1] for place in there.tolist()])


def _of_mean_one(values: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.float64]:
    mean = float(values[alive].mean()) if alive.any() else float(values.mean())
    return values / max(mean, 1e-300)
