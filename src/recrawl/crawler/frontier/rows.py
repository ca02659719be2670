"""Rows of the SQLite file as what the rest of recrawl knows, and back."""

from typing import Any

from recrawl.crawler.control.lifecycle import is_copied, is_known_anew
from recrawl.crawler.control.tiers import tier_of
from recrawl.terms import HostRecord, Kind, Lease, Outcome, PageState, PageUpdate, Visit

__all__ = ["DETAILS", "lease_of", "page_row", "record_of", "visit_of", "visit_row"]

DETAILS = (  # the columns of the query `details` from the sixth on
    "weight", "depth", "discovered_s", "due_s", "visits", "changes", "failures", "last_visit_s",
    "last_status", "indexed_at_s", "change_rate_per_s", "change_rate_factor", "crawl_rate_per_s",
    "lastmod_s", "redirect_url", "leased_until_s", "due_why", "importance", "importance_parts",
    "own_due_s", "seen_s",
)  # fmt: skip


def record_of(row: tuple[Any, ...], due_s: float) -> HostRecord:
    """Return a host from a row of the queries ``hosts`` and ``one_host``.

    Parameters
    ----------
    row : of one of these queries
    due_s : earliest due time of its pages, epoch seconds; inf: it has none
    """
    kept: tuple[Any, ...] = (*row[2:11], bool(row[11]))
    return HostRecord(row[0], row[1], due_s, *kept)


def lease_of(row: tuple[Any, ...], host_id: int, token: int) -> Lease:
    """Return the lease of a page from a row of the query ``due``.

    Parameters
    ----------
    row : of this query
    host_id : number of its host
    token : of whoever leases it; 0: it is only looked at
    """
    rest = (*row[5:16], row[16] or b"", *row[17:20])
    return Lease(row[0], row[1], host_id, token, row[2], Kind(row[3]), PageState(row[4]), *rest)


def visit_of(row: tuple[Any, ...]) -> Visit:
    """Return a visit from a row of the query ``recent_visits``."""
    changed = None if row[3] is None else bool(row[3])
    return Visit(row[0], Outcome(row[1]), row[2], changed, *row[4:])


def visit_row(update: PageUpdate) -> dict[str, object]:
    """Return the parameters of the query ``add_visit``."""
    visit = update.visit
    return {
        "page_id": update.lease.page_id,
        "visited_at_s": visit.visited_at_s,
        "outcome": visit.outcome.value,
        "status": visit.status,
        "changed": visit.changed,
        "interval_s": visit.interval_s,
        "fetch_s": visit.fetch_s,
        "received_bytes": visit.received_bytes,
        "note": visit.note,
        "modified_s": visit.modified_s,
        "seen_s": visit.seen_s,
    }


def page_row(update: PageUpdate) -> dict[str, Any]:
    """Return the parameters of the query ``complete``."""
    visit = update.visit
    return {
        "page_id": update.lease.page_id,
        "token": update.lease.token,
        "change": int(bool(visit.changed)),
        "failures": update.failures,
        "state": update.state.value,
        "due_s": update.due_s,
        "tier": tier_of(update.interval_s),
        "due_why": update.due_why,
        "memory": update.memory or None,
        "told_s": visit.visited_at_s if is_known_anew(update) else None,
        "seen_s": visit.seen_s,
        "status": visit.status,
        "copied": is_copied(visit.outcome, update.state),
        "visited_at_s": visit.visited_at_s,
        "etag": update.etag,
        "last_modified": update.last_modified,
        "signature": update.signature,
        "raw_hash": update.raw_hash,
        "title": update.title,
        "redirect_url": update.redirect_url,
        "lasting": None if update.lasting is None else int(update.lasting),
        "read_as": update.read_as,
    }
