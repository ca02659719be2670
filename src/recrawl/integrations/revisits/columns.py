"""Rows of the store as the columns that learning and planning take."""

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import Evidence, PlannedPages

__all__ = ["evidence_of", "pages_of"]

Rows = Sequence[sqlite3.Row]


def evidence_of(urls: Rows, visits: Rows) -> Evidence:
    """Return visits as evidence.

    Parameters
    ----------
    urls : id and url of the pages, by id
    visits : page_id, interval_s, changed, age_s, by page and then by time
    """
    page_ids = np.array([row["id"] for row in urls], np.int64)
    of = np.array([row["page_id"] for row in visits], np.int64)
    return Evidence(
        page_ids,
        np.searchsorted(page_ids, of).astype(np.int64),
        _numbers(visits, "interval_s"),
        np.array([bool(row["changed"]) for row in visits], np.bool_),
        np.full(len(visits), np.nan),
        _numbers(visits, "age_s"),
        [row["url"] for row in urls],
    )


def pages_of(rows: Rows) -> tuple[PlannedPages, int, NDArray[np.bool_]]:
    """Return rows of the query ``planned``: columns, number of hosts, those of the spider."""
    numbers: dict[str, int] = {}
    hosts = [numbers.setdefault(row["host"], len(numbers)) for row in rows]
    pages = PlannedPages(
        np.array([row["id"] for row in rows], np.int64),
        np.array(hosts, np.int64),
        _numbers(rows, "weight"),
        _numbers(rows, "change_rate_per_s"),
        _numbers(rows, "change_rate_factor"),
        _numbers(rows, "crawl_rate_per_s"),
        _numbers(rows, "last_visit_s"),
        _numbers(rows, "due_s"),
        np.full(len(rows), np.nan),
    )
    return pages, len(numbers), np.array([bool(row["own"]) for row in rows], np.bool_)


def _numbers(rows: Rows, name: str) -> NDArray[np.float64]:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], np.float64)
