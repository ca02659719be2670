"""A visit of a page that the store holds: what came of it, and when the page is due again."""

import contextlib
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

from recrawl.crawler.control.answers.lifecycle import next_state
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.integrations.revisits.store import PageRow, Row
from recrawl.terms import Lease, Outcome, PageState

_LONGEST_NOTE: Final = 200
_CHANGED: Final = {Outcome.CHANGED: True, Outcome.UNCHANGED: False, Outcome.NOT_MODIFIED: False}


@dataclass(slots=True, eq=False)
class Visit:
    """A page that is visited.

    Parameters
    ----------
    page_id, url, weight : of the page
    row : what the store holds; None: it is new
    """

    page_id: int
    url: str
    weight: float
    row: PageRow | None
    asked_s: float | None = None
    status: int | None = None
    signature: bytes | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetch_s: float = 0.0
    received_bytes: int = 0
    n_items: int = 0

    def known(self, column: str) -> Any:
        """Return what the store holds of the page, or None."""
        return None if self.row is None else self.row[column]


def concluded(
    due_times: DueTimes, visit: Visit, outcome: Outcome, at_s: float, note: str | None = None
) -> tuple[Row, Row]:
    """Return what is to be kept of a page and of its visit, for :meth:`VisitStore.complete`.

    Parameters
    ----------
    due_times : say when the page is due again
    visit, outcome : what came of it
    at_s : instant
    note : why it told nothing
    """
    lease = _lease_of(visit, at_s)
    changed = _CHANGED.get(outcome)
    told = outcome in _CHANGED or outcome is Outcome.NEW
    after = next_state(lease.state, outcome)
    failures = 0 if told or (visit.status is not None and not note) else lease.failures + 1
    if outcome in (Outcome.SERVER_ERROR, Outcome.THROTTLED):
        failures = lease.failures + 1
    answer = due_times.after_visit(lease, outcome, after, at_s, failures=failures, changed=changed)
    has_copy = outcome in (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED)
    keeps = outcome is Outcome.NOT_MODIFIED
    return (
        {
            "page_id": visit.page_id,
            "state": after.value,
            "due_s": answer.due_s,
            "due_why": answer.why,
            "change": int(bool(changed)),
            "failures": failures,
            "told_s": at_s if told else None,
            "status": visit.status,
            "etag": visit.etag or visit.known("etag") if has_copy | keeps else None,
            "last_modified": (visit.last_modified or visit.known("last_modified"))
            if has_copy | keeps
            else None,
            "signature": visit.signature if has_copy else visit.known("signature"),
            "memory": (answer.memory or lease.memory) or None,
        },
        {
            "page_id": visit.page_id,
            "visited_at_s": at_s,
            "outcome": outcome.value,
            "status": visit.status,
            "changed": changed,
            "interval_s": None
            if lease.last_visit_s is None or not told
            else at_s - lease.last_visit_s,
            "fetch_s": visit.fetch_s,
            "received_bytes": visit.received_bytes,
            "n_items": visit.n_items,
            "modified_s": instant_of(visit.last_modified),
            "note": None if note is None else note[:_LONGEST_NOTE],
        },
    )


def _lease_of(visit: Visit, now_s: float) -> Lease:
    """Return a page as the rules of due times take it."""
    row = visit.row
    if row is None:
        return Lease(visit.page_id, visit.url, 0, 0, now_s, weight=visit.weight)
    return Lease(
        visit.page_id,
        visit.url,
        0,
        0,
        row["due_s"] if isfinite(row["due_s"]) else now_s,  # it was not to be visited again
        state=PageState(row["state"]),
        failures=row["failures"],
        signature=row["signature"],
        last_visit_s=row["last_visit_s"],
        crawl_rate_per_s=row["crawl_rate_per_s"],
        change_rate_per_s=row["change_rate_per_s"],
        weight=row["weight"],
        memory=row["memory"] or b"",
    )


def instant_of(text: str | None) -> float | None:
    """Return an HTTP date as seconds since the epoch; None where it is none."""
    if not text:
        return None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return parsedate_to_datetime(text).timestamp()
    return None
