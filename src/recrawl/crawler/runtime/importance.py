"""Keeps the importance of pages: rarely computed, beside the crawl, from what its state holds."""

import json
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.importance import ExpectedImportance
from recrawl.crawler.control.urls import folder_of, host_of
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.learning.counts import shrunk_means
from recrawl.learning.importance import COUNTED, Importance, by_counts, combined
from recrawl.learning.link_lists import GraphBuilder, mark_of
from recrawl.learning.page_rank import rank_pages
from recrawl.terms import PageState, PageWorth

__all__ = ["ImportanceKeeper"]

_BATCH: Final = 20_000  # pages that are read or written at once: the crawl waits no longer
_MORE_PAGES: Final = 1.1  # before it is worth computing anew
_DAY_S: Final = 86_400.0
_SPENT: Final = 50.0  # times as long as computing took, it is left alone
_MOVED: Final = 0.02  # by less than this share nothing is written
_ALIVE: Final = frozenset({PageState.DISCOVERED, PageState.INDEXED, PageState.MISSING})


@dataclass(slots=True)
class _Known:
    """Every page that is known, one row each."""

    ids: list[int]
    urls: list[str]
    alive: list[bool]
    indexed: list[bool]
    before: list[float | None]


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
        self._n_pages = 0
        self._ranks: dict[int, float] = {}

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
        tallies = await self._world.on_state(self._world.frontier.worths.tallies)
        found = await self._on_plan(self._compute, known, builder, tallies, started_s)
        await self._write(known, found)
        self._n_pages = n
        spent_s = clock.now_s() - started_s
        self._next_s = clock.now_s() + max(self._rules.importance.least_s, _SPENT * spent_s)
        self._latest_s = max(self._next_s, clock.now_s() + _DAY_S)
        self._world.events.emit("importance", {"pages": n, "took_s": spent_s})
        return True

    async def _read(self) -> tuple[_Known, GraphBuilder | None]:
        worths, on_state = self._world.frontier.worths, self._world.on_state
        known, after = _Known([], [], [], [], []), 0
        while rows := await on_state(worths.addresses, after=after, limit=_BATCH):
            for page_id, _, url, state, before in rows:
                known.ids.append(page_id)
                known.urls.append(url)
                known.alive.append(state in _ALIVE)
                known.indexed.append(state is PageState.INDEXED)
                known.before.append(before)
            after = rows[-1][0]
        if not self._rules.importance.uses_links:
            return known, None
        builder = await self._on_plan(_builder, known)
        ids, after = np.array(known.ids, np.int64), 0
        while lists := await on_state(worths.link_lists, after=after, limit=_BATCH):
            await self._on_plan(_add, builder, ids, lists)
            after = lists[-1][0]
        return known, builder

    def _compute(
        self,
        known: _Known,
        builder: GraphBuilder | None,
        tallies: list[tuple[int, str, float, float]],
        now_s: float,
    ) -> Importance:
        n, alive = len(known.ids), np.array(known.alive, np.bool_)
        hosts, folders = _numbered(known.urls)
        said: dict[str, NDArray[np.float64]] = {}
        if builder is not None:
            start = np.array([self._ranks.get(page_id, 1.0 / n) for page_id in known.ids])
            ranks = rank_pages(builder.graph(), start=start).shares
            self._ranks = dict(zip(known.ids, ranks.tolist(), strict=True))
            said["links"] = _of_mean_one(ranks, alive)
        half_life_s = self._rules.importance.half_life_s
        rows = {page_id: row for row, page_id in enumerate(known.ids)}
        for source in COUNTED:
            counts = np.zeros(n)
            for page_id, of, many, at_s in tallies:
                if of == source and page_id in rows:
                    age_s = max(now_s - at_s, 0.0)
                    counts[rows[page_id]] = many * 0.5 ** (age_s / half_life_s)
            if counts.sum() > 0:
                # What is not in the index was not there to be asked for.
                counted = np.where(np.array(known.indexed, np.bool_) | (counts > 0), 1.0, 0.0)
                said[source] = _of_mean_one(by_counts(counts, hosts, folders, counted), alive)
        return combined(self._rules.importance.shares, said, n)

    async def _write(self, known: _Known, found: Importance) -> None:
        weights = self._rules.admission.weights
        hosts, folders = _numbered(known.urls)
        of_host, of_folder = await self._on_plan(shrunk_means, found.worths, (hosts, folders))
        names = [host_of(url) for url in known.urls], [folder_of(url) for url in known.urls]
        self._expected.learn(
            dict(zip(names[0], of_host[hosts].tolist(), strict=True)),
            dict(zip(names[1], of_folder[folders].tolist(), strict=True)),
        )
        worths = found.worths.tolist()
        columns = {name: (share, values.tolist()) for name, (share, values) in found.parts.items()}
        moved = [
            row
            for row, before in enumerate(known.before)
            if before is None or abs(worths[row] - before) > _MOVED * before
        ]
        for first in range(0, len(moved), _BATCH):
            rows = [
                PageWorth(
                    known.ids[row],
                    weights.of(known.urls[row]) * worths[row],
                    worths[row],
                    _parts(columns, row),
                )
                for row in moved[first : first + _BATCH]
            ]
            await self._world.on_state(self._world.frontier.worths.save, rows)


def _parts(columns: dict[str, tuple[float, list[float]]], row: int) -> str:
    """Return what each source says of a page, and its share."""
    told = {name: [share, float(f"{said[row]:.3g}")] for name, (share, said) in columns.items()}
    return json.dumps(told, separators=(",", ":"))


def _builder(known: _Known) -> GraphBuilder:
    marks = np.fromiter(map(mark_of, known.urls), np.int64, len(known.urls))
    return GraphBuilder(marks, _numbered(known.urls)[0])


def _add(builder: GraphBuilder, ids: NDArray[np.int64], lists: list[tuple[int, bytes]]) -> None:
    page_ids = np.array([page_id for page_id, _ in lists], np.int64)
    rows = np.searchsorted(ids, page_ids)
    there = (rows < ids.size) & (ids[np.minimum(rows, ids.size - 1)] == page_ids)
    kept = [lists[place][1] for place in np.flatnonzero(there).tolist()]
    builder.add(rows[there], kept)


def _numbered(urls: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of each page's host and folder."""
    hosts: dict[str, int] = {}
    folders: dict[str, int] = {}
    told = [
        (
            hosts.setdefault(host_of(url), len(hosts)),
            folders.setdefault(folder_of(url), len(folders)),
        )
        for url in urls
    ]
    table = np.array(told, np.int64).reshape(len(told), 2)
    return table[:, 0], table[:, 1]


def _of_mean_one(values: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.float64]:
    mean = float(values[alive].mean()) if alive.any() else float(values.mean())
    return values / max(mean, 1e-300)
