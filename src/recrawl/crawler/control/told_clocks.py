"""The clocks of a crawl's directories, told of the visits that the state holds."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisit_policy import Replan
from recrawl.learning.companions import ROOT, Companions, CompanionsBuilder

if TYPE_CHECKING:
    from recrawl.crawler.control.revisits import RevisitControl
    from recrawl.learning.group_clocks import GroupClocks

__all__ = ["ToldClocks"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
_FEW = 30_000  # visits of a third of a millisecond: ten seconds, beside the crawl, at its start
_APART_S = 1.0  # of two visits of a page; closer ones are one, but for rounding


class ToldClocks:
    """The clocks of a crawl's directories, told of the visits that the state holds.

    A start tells them anew, so that they need no place in the state.
    """

    def __init__(self) -> None:
        self._built = CompanionsBuilder()
        self.clocks: GroupClocks | None = None
        self._pace_s = 0.0
        self._told_s = np.zeros(0)
        self._waiting: list[tuple[Integers, Vector, NDArray[np.bool_]]] = []

    def learn(self, rows: Integers, evidence: Evidence) -> None:
        """Keep what is new until the next plan, which knows when it was.

        Parameters
        ----------
        rows : shape (n_pages,), of the evidence's pages; new ones follow those known
        evidence : visits
        """
        for row, url in sorted(zip(rows.tolist(), evidence.urls, strict=True)):
            if row >= len(self._built):
                self._built.add("", url)
        self._waiting.append((rows[evidence.page], evidence.intervals_s, evidence.changed))

    def tell(self, control: "RevisitControl", rows: Integers, plan: Replan) -> None:
        """Tell the clocks what has been learned since the plan before, in the order of time.

        Parameters
        ----------
        control : decides on pages, by what these clocks say from now on
        rows : of the plan's pages
        plan : says when pages were visited last
        """
        from recrawl.kernels.compile import interpreted
        from recrawl.kernels.revisits import tell_groups
        from recrawl.learning.group_clocks import GroupClocks

        n, pace_s = len(control), max(rows.size, 1) / plan.budget_per_s
        if not self._waiting:
            return
        built = self._built.companions()
        lone = np.full((n - built.leaves.shape[0], 2), -1, np.int64)  # visited since it was learned
        lone[:, 0] = ROOT
        leaves = np.concatenate([built.leaves, lone])
        companions = Companions(built.parents, built.depths, leaves)
        born = np.full(n, -np.inf)  # a crawl knows when it found a page, not when it was born
        # With many times the pages a bin would be too short to tell anything.
        if self.clocks is None or not 0.25 < pace_s / self._pace_s < 4.0:
            self._pace_s = pace_s
            start_s = plan.now_s - 3.0 * pace_s
            self.clocks = GroupClocks(companions, pace_s, start=start_s, born=born)
        else:
            self.clocks.grow(companions, born)
        last_s = np.full(n, np.nan)
        last_s[rows] = np.minimum(plan.pages.last_visit_s, plan.now_s)
        self._told_s = np.append(self._told_s, np.full(n - self._told_s.size, -np.inf))
        visits = [_at_instants(*one, last_s) for one in self._waiting]
        self._waiting.clear()
        page, since_s, at_s, changed = (np.concatenate(part) for part in zip(*visits, strict=True))
        fresh = (
            (at_s > self._told_s[page] + _APART_S) & (at_s > self.clocks.since) & (since_s < at_s)
        )
        order = np.flatnonzero(fresh)[np.argsort(at_s[fresh], kind="stable")]
        page, since_s, at_s, changed = (one[order] for one in (page, since_s, at_s, changed))
        belief, arrays = control.beliefs.arrays(), self.clocks.arrays()
        # Few are told without the compiler, which takes as long to load, and 170 MB.
        tell = interpreted(tell_groups) if page.size <= _FEW else tell_groups
        tell(page, since_s, at_s, changed, belief, arrays)
        np.maximum.at(self._told_s, page, at_s)
        control.clocks = self.clocks


def _at_instants(
    page: Integers, intervals_s: Vector, changed: NDArray[np.bool_], last_s: Vector
) -> tuple[Integers, Vector, Vector, NDArray[np.bool_]]:
    """Return when visits were, and those before them, counted back from each page's last.

    Visits that told nothing are left out of the evidence, so a page that failed of late is thought
    to have been visited a little later than it was.
    """
    passed = np.cumsum(intervals_s)
    ends = np.append(np.flatnonzero(np.diff(page)), page.size - 1) if page.size else page
    whole = np.repeat(passed[ends], np.diff(np.append(-1, ends)))
    at_s = last_s[page] - (whole - passed)
    known = np.isfinite(at_s)
    return page[known], (at_s - intervals_s)[known], at_s[known], changed[known]
