"""Rows of the store as the columns that learning and planning take."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages

Rows = Sequence[sqlite3.Row]


def evidence_of(pages: Rows, visits: Sequence[Sequence[tuple[Any, ...]]]) -> Evidence:
    """Return visits as evidence.

    Parameters
    ----------
    pages : id, url, last_visit_s and born_s, by id
    visits : of each page in the order of time: interval_s, changed, age_s, id
    """
    table = np.array([row for told in visits for row in told], np.float64).reshape(-1, 4)
    return Evidence(
        np.array([row["id"] for row in pages], np.int64),
        np.repeat(np.arange(len(visits)), [len(told) for told in visits]),
        table[:, 0],
        table[:, 1] != 0.0,
        np.full(len(table), np.nan),
        table[:, 2],
        [row["url"] for row in pages],
        last_visit_s=_numbers(pages, "last_visit_s"),
        visit_ids=table[:, 3].astype(np.int64),
        born_s=_numbers(pages, "born_s"),
    )


def before_of(pages: Rows, hosts: Rows) -> BelievedBefore:
    """Return what is kept of pages and hosts.

    Parameters
    ----------
    pages : id, url, last_visit_s, born_s and learned, by id
    hosts : host and learned
    """
    return BelievedBefore(
        np.array([row["id"] for row in pages], np.int64),
        [row["url"] for row in pages],
        (),
        _numbers(pages, "last_visit_s"),
        [row["learned"] for row in pages],
        {row["host"]: row["learned"] for row in hosts},
        _numbers(pages, "born_s"),
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
