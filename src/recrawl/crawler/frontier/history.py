"""History of a crawl, read from its SQLite file beside the crawl: for pictures and tables."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.frontier.sql import queries
from recrawl.crawler.frontier.store import DATABASE, Statements, holder, open_state


@dataclass(frozen=True, slots=True, eq=False)
class VisitTable:
    """Visits that told the state of a page, by page and then by time: one row per visit."""

    page_ids: NDArray[np.int64]
    visited_at_s: NDArray[np.float64]
    interval_s: NDArray[np.float64]  # since the last visit that told something; nan: none before
    changed: NDArray[np.bool_]  # since then


@dataclass(frozen=True, slots=True)
class HostCounts:
    """Pages of one host: all of them, those due, those due for over an hour."""

    pages: int
    due: int
    overdue: int


class SqliteHistory(Statements):
    """Reads the history of a state directory; writes nothing, and takes no lock.

    Parameters
    ----------
    directory : of the state
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / DATABASE
        self._db = open_state(self._path, read_only=True)
        self._q = queries()

    def is_running(self) -> bool:
        """Tell whether a process writes this state now."""
        return holder(self._directory) is not None

    def last_visit(self) -> int:
        """Number of the last visit; 0 before any."""
        return int(self._rows("last_visit_number")[0][0])

    def outcomes_between(self, after: int, last: int) -> dict[str, int]:
        """Counts by outcome of visits ``after < number <= last``."""
        return dict(self._rows("outcomes_between", after=after, last=last))

    def first_visit_s(self) -> float | None:
        """Instant of the first visit."""
        rows = self._rows("first_visit")
        return float(rows[0][0]) if rows else None

    def visits_since(self, since_s: float, *, at_most: int) -> VisitTable:
        """Return the latest visits that told something, at most so many."""
        floor = max(0, self.last_visit() - at_most)
        rows = self._rows("told_since", since_s=since_s, after=floor)
        pages, times, gaps, changed = np.array(rows, np.float64).reshape(len(rows), 4).T.copy()
        return VisitTable(pages.astype(np.int64), times, gaps, changed > 0.0)

    def outcomes_over_time(self, since_s: float, step_s: float) -> list[tuple[int, str, int]]:
        """Counts of visits by step of time (from ``since_s``) and outcome."""
        return self._rows("outcomes_over_time", since_s=since_s, step_s=step_s)

    def plans_since(self, since_s: float) -> list[tuple[float, float, float, float]]:
        """Instant, freshness, price and budget of the plans since, and of the one before."""
        return self._rows("plans_since", since_s=since_s)

    def pages(self, page_ids: list[int]) -> dict[int, tuple[str, str]]:
        """Address and title of pages."""
        found = {}
        for page_id in page_ids:
            for row in self._rows("address", page_id=page_id):
                found[page_id] = (str(row[0]), str(row[1] or ""))
        return found

    def slowest(self, *, among: int, limit: int) -> list[tuple[int, float, int]]:
        """Pages that took longest on average among the latest visits: id, seconds, visits."""
        return self._rows("slowest", after=max(0, self.last_visit() - among), limit=limit)

    def last_seen_s(self, urls: list[str]) -> dict[str, float]:
        """Return when each page was last seen, changed or not."""
        rows = self._rows("last_seen", urls=json.dumps(urls))
        return {url: float(at_s) for url, at_s in rows}

    def host_names(self, limit: int) -> tuple[str, ...]:
        """Names of hosts, with their scheme."""
        return tuple(row[0] for row in self._rows("host_names", limit=limit))

    def host_counts(self, now_s: float) -> dict[int, HostCounts]:
        """Pages by host."""
        rows = self._rows("host_counts", now_s=now_s)
        return {row[0]: HostCounts(row[1], row[2], row[3]) for row in rows}

    def troubles(
        self, among: int, *, limit: int
    ) -> list[tuple[str, int | None, str, int, int, int]]:
        """Return outcome, status, kind, visits, pages and latest number of troubled visits."""
        return self._rows("troubles", after=max(0, self.last_visit() - among), limit=limit)

    def spending(self, among: int) -> list[tuple[str, int, int, int, int, int]]:
        """Return purpose, visits, new copies, changed ones, troubles, addresses found first."""
        return self._rows("spending", after=max(0, self.last_visit() - among))

    def visit_example(self, number: int) -> tuple[str, float, str | None]:
        """Return address, instant and note of a visit."""
        url, at_s, note = self._rows("visit_example", number=number)[0]
        return str(url), float(at_s), note

    def left_out(self, most: int, *, limit: int) -> list[tuple[Any, ...]]:
        """Return state, outcome, status, note, number and an address of pages not indexed."""
        return self._rows("left_out", most=most, limit=limit)

    def close(self) -> None:
        """Release the connection."""
        self._db.close()
