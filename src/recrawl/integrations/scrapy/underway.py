"""A page while it is visited, and how the rules of due times take it."""

import contextlib
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from scrapy.http import Response

from recrawl.integrations.scrapy.store import PageRow
from recrawl.terms import Lease, PageState

__all__ = ["Underway", "header_of", "instant_of", "lease_of"]


@dataclass(slots=True, eq=False)
class Underway:
    """A page between being handed to Scrapy and its visit being recorded.

    Parameters
    ----------
    page_id, url, weight : of the page
    row : what the store holds; None: it is new
    dont_filter : as the spider said; Scrapy's own filter is not asked again
    """

    page_id: int
    url: str
    weight: float
    row: PageRow | None
    dont_filter: bool
    is_granted: bool = False  # the budget paid for it
    asked_s: float | None = None
    status: int | None = None
    signature: bytes | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetch_s: float = 0.0
    received_bytes: int = 0
    n_items: int = 0
    pending: int = 0  # items that the pipelines have not taken yet
    is_read: bool = False  # the callback has ended
    is_continued: bool = False  # the callback asked for the same page again
    wrong: str | None = None
    items: list[bytes] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def known(self, column: str) -> Any:
        """Return what the store holds of the page, or None."""
        return None if self.row is None else self.row[column]


def lease_of(visit: Underway, now_s: float) -> Lease:
    """Return a page as the rules of due times take it."""
    row = visit.row
    if row is None:
        return Lease(visit.page_id, visit.url, 0, 0, now_s, weight=visit.weight)
    return Lease(
        visit.page_id,
        visit.url,
        0,
        0,
        row["due_s"],
        state=PageState(row["state"]),
        failures=row["failures"],
        signature=row["signature"],
        last_visit_s=row["last_visit_s"],
        crawl_rate_per_s=row["crawl_rate_per_s"],
        change_rate_per_s=row["change_rate_per_s"],
        weight=row["weight"],
        memory=row["memory"] or b"",
    )


def header_of(response: Response, name: str) -> str | None:
    """Return a header as text, bounded."""
    value = response.headers.get(name)
    return None if value is None else value.decode("latin-1")[:1_000]


def instant_of(text: str | None) -> float | None:
    """Return an HTTP date as seconds since the epoch; None where it is none."""
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return parsedate_to_datetime(text).timestamp() if text else None
    return None
