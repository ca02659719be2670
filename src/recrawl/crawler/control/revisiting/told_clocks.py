"""The clocks of a crawl's directories, told of the visits that the state holds."""

import json
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisiting.revisit_policy import FastClock, Replan
from recrawl.kernels.compile import HAS_COMPILER
from recrawl.learning.companions import ROOT, Companions, CompanionsBuilder

if TYPE_CHECKING:
    from recrawl.crawler.control.revisiting.revisits import RevisitControl
    from recrawl.learning.group_clocks import GroupClocks

__all__ = ["ToldClocks", "clocks_text", "group_name"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_FEW = 60_000  # visits of an eighth of a millisecond: eight seconds, beside the crawl, at its start
_FAST = 1.5  # times as fast as usual
_SURPLUS = 0.75  # changes more than expected, or it may be chance
_MOST_FAST = 8  # groups that people are told of
_HOST_DEPTH = 2  # of a host among the groups: within all pages, and the site that addresses name
_FADES = 0.5  # of how many visits announcements asked for, from plan to plan
_APART_S = 1.0  # of two visits of a page; closer ones are one, but for rounding


class ToldClocks:
    """The clocks of a crawl's directories, told of the visits that the state holds.

    They tell of the last rounds only, so a start tells them the visits of these anew.
    """

    def __init__(self) -> None:
        self._built = CompanionsBuilder()
        self._places = np.zeros(0, np.int64)  # of each row among them; -1: not known yet
        self.clocks: GroupClocks | None = None
        self._pace_s = 0.0
        self._told_s = np.zeros(0)
        self._waiting: list[tuple[Integers, Vector, Flags, Flags]] = []
        self._lastmod_s = np.zeros(0)  # of each row, as it was at the plan before
        self._heard_s = np.inf
        self._born_s = np.zeros(0)  # of each row; -inf: nobody knows
        self._visits = np.zeros(2)  # of late, and those of them that announcements asked for

    def know(self, rows: Integers, urls: Sequence[str], born_s: Vector) -> None:
        """Take in pages by their addresses.

        Parameters
        ----------
        rows, urls : shape (n_pages,)
        born_s : shape (n_pages,), when they were born; nan: nobody knows. Of no rows: of none
        """
        self._grow(int(rows.max(initial=-1)) + 1)
        if born_s.size:
            self._born_s[rows] = np.where(np.isnan(born_s), -np.inf, born_s)
        for row, url in zip(rows.tolist(), urls, strict=True):
            if self._places[row] < 0:
                self._places[row] = len(self._built)
                self._built.add("", url)

    def _grow(self, n: int) -> None:
        n_new = max(n - self._places.size, 0)
        self._places = np.append(self._places, np.full(n_new, -1))
        self._born_s = np.append(self._born_s, np.full(n_new, -np.inf))

    def learn(self, rows: Integers, evidence: Evidence) -> None:
        """Keep what is new until the next plan, which knows when it was.

        Parameters
        ----------
        rows : shape (n_pages,), of the evidence's pages, which are known
        evidence : visits
        """
        found = (evidence.intervals_s, evidence.changed, evidence.signalled > 0.0)
        self._waiting.append((rows[evidence.page], *found))

    def tell(
        self,
        control: "RevisitControl",
        rows: Integers,
        plan: Replan,
        announced: tuple[Vector, Vector],
    ) -> None:
        """Tell the clocks what has been learned since the plan before, in the order of time.

        Parameters
        ----------
        control : decides on pages, by what these clocks say from now on
        rows : of the plan's pages
        plan : says when pages were visited last
        announced : shape (rows,) each: share of a page's changes that is announced, and of that
            which is true; 0: what is announced is not relied on

        Notes
        -----
        A visit that was made because a change was announced says nothing of how often there is
        one; that it was announced does, for pages that were visited and that were not.
        """
        from recrawl.kernels import revisit_vectors, revisits
        from recrawl.learning.group_clocks import GroupClocks

        n, pace_s = len(control), max(rows.size, 1) / plan.budget_per_s
        if not self._waiting:
            return
        built = self._built.companions()
        self._grow(n)
        lone = [ROOT, -1]  # of a page that was not learned yet
        leaves = np.where(self._places[:, None] >= 0, built.leaves[self._places], lone)
        companions = Companions(built.parents, built.depths, leaves)
        # With many times the pages a bin would be too short to tell anything.
        if self.clocks is None or not 0.25 < pace_s / self._pace_s < 4.0:
            self._pace_s = pace_s
            start_s = plan.now_s - 3.0 * pace_s
            self.clocks = GroupClocks(
                companions, pace_s, start=start_s, born=self._born_s, births_since=-np.inf
            )
        else:
            self.clocks.grow(companions, self._born_s)
        last_s = np.full(n, np.nan)
        last_s[rows] = np.minimum(plan.pages.seen_s, plan.now_s)
        self._told_s = np.append(self._told_s, np.full(n - self._told_s.size, -np.inf))
        visits = [_at_instants(*one, last_s) for one in self._waiting]
        self._waiting.clear()
        page, since_s, at_s, changed, told = (
            np.concatenate(part) for part in zip(*visits, strict=True)
        )
        silent = np.ones(n)
        silent[rows] = 1.0 - announced[0]
        fresh = (
            (at_s > self._told_s[page] + _APART_S) & (at_s > self.clocks.since) & (since_s < at_s)
        )
        asked = told & (silent[page] < 1.0)
        self._visits = _FADES * self._visits + np.array([page.size, np.count_nonzero(asked)])
        fresh &= ~asked
        order = np.flatnonzero(fresh)[np.argsort(at_s[fresh], kind="stable")]
        page, since_s, at_s, changed = (one[order] for one in (page, since_s, at_s, changed))
        belief, arrays = control.beliefs.arrays(), self.clocks.arrays()
        # Few are told without the compiler, which takes as long to load, and 170 MB.
        are_few = page.size <= _FEW or not HAS_COMPILER
        loops: ModuleType = revisit_vectors if are_few else revisits
        loops.tell_groups(page, since_s, at_s, changed, silent[page], belief, arrays)
        np.maximum.at(self._told_s, page, at_s)
        self._hear(control, rows, plan, announced)
        control.clocks = self.clocks

    def _hear(
        self,
        control: "RevisitControl",
        rows: Integers,
        plan: Replan,
        announced: tuple[Vector, Vector],
    ) -> None:
        """Tell the clocks what was announced since the plan before."""
        assert self.clocks is not None
        recalls, precisions = announced
        known_s, lastmod_s = self._lastmod_s, plan.pages.lastmod_s
        before_s = np.full(len(control), np.nan)
        before_s[: known_s.size] = known_s
        # Of a page that was not in a list before only what waits to be visited is news.
        waits = np.isnan(before_s[rows]) & (lastmod_s > plan.pages.seen_s)
        new = ((lastmod_s > before_s[rows]) | waits) & (lastmod_s <= plan.now_s) & (recalls > 0.0)
        before_s[rows] = lastmod_s
        self._lastmod_s = before_s
        since_s, self._heard_s = self._heard_s, plan.now_s
        if since_s < plan.now_s:
            rates = recalls * control.beliefs.rates(rows)[0]
            span_s = (since_s, plan.now_s)
            free = 1.0 - float(self._visits[1] / max(self._visits[0], 1.0))
            self.clocks.hear(rows, rates, span_s, rows[new], lastmod_s[new], precisions[new], free)

    def fast(self, rows: Integers, page_ids: Integers, now_s: float) -> tuple[FastClock, ...]:
        """Return the groups that change half as fast again as usual, or faster; eight at most.

        Of groups within each other only the innermost.

        Parameters
        ----------
        rows, page_ids : shape (k,), pages of which each group told must have one
        now_s : instant
        """
        if self.clocks is None:
            return ()
        companions = self.clocks.companions
        parents, depths = companions.parents, companions.depths
        factors, found, expected, for_s = self.clocks.lately(now_s)
        is_fast = (factors >= _FAST) & (found - expected >= _SURPLUS)
        if not is_fast[depths >= _HOST_DEPTH].any():
            return ()
        pages = np.full(parents.size, -1)  # one of each group
        named = companions.leaves[rows, 1]
        is_fast[named[(named >= 0) & is_fast[companions.leaves[rows, 0]]]] = False
        pages[named[named >= 0]] = page_ids[named >= 0]
        is_name = pages >= 0
        group = companions.leaves[rows, 0]
        while group.size and (group >= 0).any():
            pages[group[group >= 0]] = page_ids[group >= 0]
            group = np.where(group >= 0, parents[group], -1)
        within: set[int] = set()
        told = []
        for one in np.flatnonzero(is_fast & (pages >= 0) & (depths >= _HOST_DEPTH))[::-1].tolist():
            if one in within:
                continue
            told.append(one)
            around = int(parents[one])
            while around >= 0:
                within.add(around)
                around = int(parents[around])
        told.sort(key=lambda one: float(expected[one] - found[one]))
        return tuple(
            FastClock(
                int(pages[one]),
                0 if is_name[one] else int(depths[one]) - _HOST_DEPTH + 1,
                float(factors[one]),
                float(found[one]),
                float(expected[one]),
                for_s,
            )
            for one in told[:_MOST_FAST]
        )


def group_name(url: str, depth: int) -> str:
    """Return how people call a group: the address that those of its pages begin with.

    Parameters
    ----------
    url : of one of its pages
    depth : as :class:`.FastClock` has it
    """
    scheme, slashes, rest = url.partition("://")
    *folders, page = rest.split("?")[0].split("/")
    if depth:
        return f"{scheme}{slashes}{'/'.join(folders[:depth])}/"
    return f"{scheme}{slashes}{'/'.join(folders)}/{page.split('.')[0]}.*"


def _at_instants(
    page: Integers, intervals_s: Vector, changed: Flags, told: Flags, last_s: Vector
) -> tuple[Integers, Vector, Vector, Flags, Flags]:
    """Return when visits were, and those before them, counted back from each page's last.

    Visits that told nothing are left out of the evidence, so a page that failed of late is thought
    to have been visited a little later than it was.
    """
    passed = np.cumsum(intervals_s)
    ends = np.append(np.flatnonzero(np.diff(page)), page.size - 1) if page.size else page
    whole = np.repeat(passed[ends], np.diff(np.append(-1, ends)))
    at_s = last_s[page] - (whole - passed)
    known = np.isfinite(at_s)
    return page[known], (at_s - intervals_s)[known], at_s[known], changed[known], told[known]


def clocks_text(fast: Sequence[FastClock], urls: Mapping[int, str]) -> str:
    """Return in JSON, with their names, the groups that change fast; nothing where none does.

    Parameters
    ----------
    urls : by page; a group whose page is not known any more is left out
    """
    if not fast:
        return ""
    told = [
        {
            "group": group_name(urls[one.page_id], one.depth),
            "factor": one.factor,
            "found": one.found,
            "expected": one.expected,
            "for_s": one.for_s,
        }
        for one in fast
        if one.page_id in urls
    ]
    return json.dumps(told)
