"""Counts which pages are shown as results, where the owner of a crawl has switched that on.

Only how often each address was shown is kept: no query, and nothing of who asked.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.stores import open_tallies
from recrawl.errors import RecrawlError
from recrawl.terms import Hit
from recrawl.web.source import CrawlSource
from recrawl.web.threads import Reader

_EVERY_S: Final = 30.0
_MOST: Final = 100_000  # addresses between two times that they are kept


class Shown:
    """Counts in memory, and hands the counts to the crawl's state now and then.

    Parameters
    ----------
    reader : thread on which the state is written
    settings : of the crawl; without a share for searches nothing is counted
    """

    def __init__(self, reader: Reader, settings: Settings | None) -> None:
        shares = dict(settings.importance) if settings is not None else {}
        self.is_on = shares.get("searches", 0.0) > 0.0
        self._half_life_s = settings.count_half_life_s if settings is not None else 1.0
        self._reader = reader
        self._counts: Counter[str] = Counter()

    def note(self, hits: Iterable[Hit]) -> None:
        """Count the results of one page of hits."""
        if self.is_on and len(self._counts) < _MOST:
            self._counts.update(hit.url for hit in hits)

    async def run(self) -> None:
        """Keep what was counted, until cancelled."""
        while self.is_on:
            await asyncio.sleep(_EVERY_S)
            await self.keep()

    async def keep(self) -> None:
        """Keep what was counted now; where the state cannot be written, with the next time."""
        if not self._counts:
            return
        counts, self._counts = self._counts, Counter()
        try:
            await self._reader(_keep, counts, self._half_life_s)
        except RecrawlError:
            self._counts.update(counts)


def _keep(source: CrawlSource, counts: Mapping[str, float], half_life_s: float) -> None:
    with contextlib.closing(open_tallies(source.directory)) as door:
        door.add("searches", counts, half_life_s)
