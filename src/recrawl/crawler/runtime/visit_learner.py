"""Pages learned from their visits, part by part: in between the state answers the crawl."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.believed import Believed
from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.parts import World

__all__ = ["VisitLearner", "parts_of"]

_PART: Final = 5_000  # pages that are read or written at once
_LEARNED: Final = 1_000  # the same, with up to a hundred visits of each
_OF_LATE: Final = 12  # visits of a page within the last three rounds, which clocks are told


class VisitLearner:
    """Has pages learned from the visits that are new, and what was learned kept in the state.

    Of pages that it does not know yet, as at a start, it first reads what the state keeps: those
    that were not visited since need no visit to be read again.

    Parameters
    ----------
    world : whose frontier has the visits
    believed : learns
    on_plan : runs it
    """

    def __init__(self, world: World, believed: Believed, on_plan: Offload) -> None:
        self._world = world
        self._believed = believed
        self._on_plan = on_plan
        self._since_visit = 0

    async def learn(self) -> None:
        """Learn the pages anew that were visited since this was asked before, or ever."""
        frontier, on_state = self._world.frontier, self._world.on_state
        visited, last = await on_state(frontier.visited_since, self._since_visit)
        recalled = [await self._recall(visited[part]) for part in parts_of(visited.size)]
        visited = np.setdiff1d(visited, np.concatenate([visited[:0], *recalled]))
        for part in parts_of(visited.size, _LEARNED):
            evidence = await on_state(frontier.evidence, visited[part].tolist())
            await on_state(frontier.save_change_rates, *await self._on_plan(self._learn, evidence))
        self._since_visit = last

    def _learn(self, evidence: Evidence) -> tuple[Any, ...]:
        rates, errors = self._believed.learn(evidence)
        return evidence.page_ids, rates, np.exp(errors), *self._believed.keep(evidence)

    async def _recall(self, page_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Go on with what the state keeps of pages; return those of which it keeps all."""
        new = page_ids[~self._believed.knows(page_ids)]
        if not new.size:
            return new
        on_state, frontier = self._world.on_state, self._world.frontier
        before = await on_state(frontier.believed_before, new.tolist())
        recalled: NDArray[np.int64] = await self._on_plan(self._believed.recall, before)
        if self._believed.told_clocks is not None and recalled.size:
            latest = partial(frontier.evidence, limit_per_page=_OF_LATE)
            evidence = await on_state(latest, recalled.tolist())
            await self._on_plan(self._believed.tell_clocks, evidence)
        return recalled


def parts_of(size: int, part: int = _PART) -> Iterator[slice]:
    """Yield the parts that so many rows are read or written in."""
    return (slice(begin, begin + part) for begin in range(0, size, part))
