"""Pages learned from their visits, part by part: in between the state answers the crawl."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.ports import Offload, Visits
from recrawl.kernels.arrays import is_among

_PART: Final = 1_000  # pages that are read or written at once
_WHOLE: Final = 500  # the same, with up to a hundred visits of each: no compiler is loaded for them
_NEW: Final = 4  # visits of a page that is known, of which all but one may be new
_OF_LATE: Final = 12  # visits of a page within the last three rounds, which clocks are told


class VisitLearner:
    """Has pages learned from the visits that are new, and what was learned kept in the state.

    Of pages that it does not know yet, as at a start, it first reads what the state keeps: those
    that were not visited since need no visit to be read again.

    Parameters
    ----------
    believed : learns
    on_state, on_plan : run what asks for visits, and what learns
    """

    def __init__(self, believed: Believed, on_state: Offload, on_plan: Offload) -> None:
        self._believed, self._on_state, self._on_plan = believed, on_state, on_plan
        self._since_visit = 0

    async def learn(self, visits: Visits) -> None:
        """Learn the pages that were visited since this was asked before, or ever."""
        believed, on_plan = self._believed, self._on_plan
        visited, last = await self._on_state(visits.visited_since, self._since_visit)
        await on_plan(believed.expect, visited)
        for part in parts_of(visited.size):
            ids = visited[part]
            new = ids[~await on_plan(believed.knows, ids)]
            ids = _without(ids, await self._recall(visits, new, last)) if new.size else ids
            known = ids[await on_plan(believed.may_go_on, ids)]
            ids = _without(ids, await self._go_on(visits, known)) if known.size else ids
            for some in parts_of(ids.size, _WHOLE):
                evidence = await self._on_state(visits.evidence, ids[some].tolist())
                await on_plan(believed.learn, evidence)
                await self._keep(visits, evidence.page_ids, evidence.last_visit_s)
        self._since_visit = last

    async def _recall(
        self, visits: Visits, page_ids: NDArray[np.int64], last: int
    ) -> NDArray[np.int64]:
        """Go on with what the state keeps of pages; return those of which it keeps all."""
        before = await self._on_state(visits.believed_before, page_ids.tolist())
        recalled = await self._on_plan(self._believed.recall, before, last)
        if self._believed.told_clocks is not None and recalled.size:
            latest = partial(visits.evidence, limit_per_page=_OF_LATE)
            evidence = await self._on_state(latest, recalled.tolist())
            await self._on_plan(self._believed.tell_clocks, evidence)
        return recalled

    async def _go_on(self, visits: Visits, page_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Learn the visits of pages that are new; return the pages for which that was enough."""
        latest = partial(visits.evidence, limit_per_page=_NEW)
        evidence = await self._on_state(latest, page_ids.tolist())
        is_all = await self._on_plan(self._believed.go_on, evidence)
        await self._keep(visits, evidence.page_ids[is_all], evidence.last_visit_s[is_all])
        return np.asarray(evidence.page_ids[is_all])

    async def _keep(
        self, visits: Visits, page_ids: NDArray[np.int64], last_visit_s: NDArray[np.float64]
    ) -> None:
        learned = await self._on_plan(self._learned, page_ids, last_visit_s)
        await self._on_state(visits.save_change_rates, page_ids, *learned)

    def _learned(self, page_ids: NDArray[np.int64], last_visit_s: NDArray[np.float64]) -> Any:
        rates, errors = self._believed.rates(page_ids)
        return rates, np.exp(errors), *self._believed.keep(page_ids, last_visit_s)


def _without(ids: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return ids[~is_among(ids, others)]


def parts_of(size: int, part: int = _PART) -> Iterator[slice]:
    """Yield the parts that rows are read or written in.

    Parameters
    ----------
    size : number of rows, >= 0
    part : rows of each part, >= 1; the last may reach beyond ``size``
    """
    return (slice(begin, begin + part) for begin in range(0, size, part))
