"""Evidence from a crawl's history for decisions on revisits, column by column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import is_among
from recrawl.learning.last_change import MOST_HEARD


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Visits that tell something, of pages to estimate anew: one row each, in order of time."""

    page_ids: NDArray[np.int64]  # (n_pages,)
    page: NDArray[np.int64]  # (n_visits,) row of page_ids
    intervals_s: NDArray[np.float64]  # (n_visits,)
    changed: NDArray[np.bool_]  # (n_visits,)
    signalled: NDArray[np.float64]  # (n_visits,) changes announced; nan: nothing ever is
    ages_s: NDArray[np.float64]  # (n_visits,) since the last change, as the server says; nan: not
    urls: Sequence[str]  # (n_pages,)
    lasting: Sequence[bool] = ()  # (n_pages,) its server says that it holds for good; (): unknown
    # (n_pages,) of the last visit that told something; empty: unknown
    last_visit_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # (n_visits,) ascending for each page, and the same whenever it is told; empty: unknown
    visit_ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    # (n_pages,) instants of their births; nan: nobody knows; empty: of none
    born_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # (n_visits,) part of the interval of which it was not heard what was announced; empty: none
    unheard_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.unheard_s.size != self.page.size:
            object.__setattr__(self, "unheard_s", np.zeros(self.page.size))

    def only(self, which: NDArray[np.bool_]) -> "Evidence":
        """Return the same with these visits alone."""
        told = ["page", "intervals_s", "changed", "signalled", "ages_s", "unheard_s"]
        if self.visit_ids.size:
            told.append("visit_ids")
        return replace(self, **{name: getattr(self, name)[which] for name in told})


@dataclass(frozen=True, slots=True, eq=False)
class BelievedBefore:
    """Beliefs that a state keeps, for those pages of which it keeps anything."""

    page_ids: NDArray[np.int64]  # (n_pages,)
    urls: Sequence[str]  # (n_pages,)
    lasting: Sequence[bool]  # (n_pages,)
    last_visit_s: NDArray[np.float64]  # (n_pages,) of the page by now; nan: none told anything
    pages: Sequence[bytes]  # (n_pages,)
    hosts: Mapping[str, bytes]  # theirs, by name, of which it keeps anything
    # (n_pages,) instants of their births; nan: nobody knows; empty: of none
    born_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class PlannedPages:
    """The columns that planning needs, one row per page that is kept fresh."""

    page_ids: NDArray[np.int64]
    host_ids: NDArray[np.int64]
    weights: NDArray[np.float64]
    change_rates_per_s: NDArray[np.float64]  # nan: not estimated yet
    change_rate_factors: NDArray[np.float64]
    crawl_rates_per_s: NDArray[np.float64]  # nan: not planned yet
    last_visit_s: NDArray[np.float64]
    due_s: NDArray[np.float64]
    lastmod_s: NDArray[np.float64]  # as a sitemap says; nan: none does
    # Of which instant the answers of the last visits are, as caches may give them; empty: of these.
    seen_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # For how long each was seen to be there since it was found; empty: nobody knows.
    there_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # Changes that were announced since its last visit; empty: one where there is a later date.
    n_announced: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # For how long before these others may have been announced that nobody heard of; empty: not.
    unheard_s: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    # Listing that dated each last, or what it was found on; 0 or empty: nothing.
    found_on: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if self.seen_s.size != self.page_ids.size:
            object.__setattr__(self, "seen_s", self.last_visit_s)
        for name in ("there_s", "n_announced", "unheard_s", "found_on"):
            if getattr(self, name).size != self.page_ids.size:
                object.__setattr__(self, name, np.zeros(self.page_ids.size))

    def told(self, now_s: float) -> NDArray[np.float64]:
        """Return how many changes are announced of each page that no visit has shown yet.

        A page whose visit a cache answered from before the change is left alone for as long as
        that visit came after the change: nobody knows how long the cache holds its copy.
        """
        with np.errstate(invalid="ignore"):
            rested = now_s - self.last_visit_s >= self.last_visit_s - self.lastmod_s
            waits = (self.lastmod_s > self.seen_s) & rested
        return np.where(waits, np.clip(self.n_announced, 1.0, MOST_HEARD), 0.0)

    def without(self, page_ids: Sequence[int]) -> "PlannedPages":
        """Leave out some pages."""
        if not page_ids:
            return self
        kept = ~is_among(self.page_ids, page_ids)
        return PlannedPages(*(getattr(self, item.name)[kept] for item in fields(self)))
