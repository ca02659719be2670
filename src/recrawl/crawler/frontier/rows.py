"""Rows of the SQLite file as what the rest of recrawl knows, and back."""

from typing import Any, Final

from recrawl.crawler.control.answers.lifecycle import is_copied, is_known_anew
from recrawl.crawler.control.worth.births import HALF_LIFE_S
from recrawl.crawler.control.worth.tiers import tier_of
from recrawl.terms import HostRecord, Kind, Lease, Outcome, PageState, PageUpdate, Visit

DETAILS = (  # the columns of the query `details` from the sixth on
    "weight", "depth", "discovered_s", "due_s", "visits", "changes", "failures", "last_visit_s",
    "last_status", "indexed_at_s", "change_rate_per_s", "change_rate_factor", "crawl_rate_per_s",
    "lastmod_s", "redirect_url", "due_why", "importance", "importance_parts", "own_due_s",
    "seen_s",
)  # fmt: skip

# Parameters of what is asked for every visit: taken in their order they take a fifth less time.
VISIT: Final = tuple(
    """page_id visited_at_s outcome status changed interval_s fetch_s received_bytes note modified_s
    seen_s""".split()
)
COMPLETED: Final = tuple(
    """page_id tier change failures due_s due_why memory told_s seen_s status copied
    visited_at_s etag last_modified signature raw_hash title redirect_url lasting read_as kept
    exposed_s""".split()
)
_KINDS: Final = {kind.value: kind for kind in Kind}  # asked in a tenth of the time of Kind(...)
_STATES: Final = {state.value: state for state in PageState}


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
    kind, state = _KINDS.get(row[3]) or Kind(row[3]), _STATES.get(row[4]) or PageState(row[4])
    return Lease(row[0], row[1], host_id, token, row[2], kind, state, *row[5:])


def visit_of(row: tuple[Any, ...]) -> Visit:
    """Return a visit from a row of the query ``recent_visits``."""
    changed = None if row[3] is None else bool(row[3])
    return Visit(row[0], Outcome(row[1]), row[2], changed, *row[4:])


def visit_row(update: PageUpdate) -> tuple[Any, ...]:
    """Return the parameters of the query ``add_visit``, in the order of ``VISIT``."""
    visit = update.visit
    return (
        update.lease.page_id,
        visit.visited_at_s,
        visit.outcome.value,
        visit.status,
        _number(visit.changed),
        visit.interval_s,
        visit.fetch_s,
        visit.received_bytes,
        visit.note,
        visit.modified_s,
        visit.seen_s,
    )


def page_row(update: PageUpdate) -> tuple[Any, ...]:
    """Return the parameters of the query ``complete``, in the order of ``COMPLETED``."""
    lease, visit = update.lease, update.visit
    exposed_s = max(visit.interval_s or 0.0, 0.0)  # in which the visit could bring something
    return (
        lease.page_id,
        tier_of(update.interval_s),
        1 if visit.changed else 0,
        update.failures,
        update.due_s,
        update.due_why,
        update.memory or None,
        visit.visited_at_s if is_known_anew(update) else None,
        visit.seen_s,
        visit.status,
        1 if is_copied(visit.outcome, update.state) else 0,
        visit.visited_at_s,
        update.etag,
        update.last_modified,
        update.signature,
        update.raw_hash,
        update.title,
        update.redirect_url,
        _number(update.lasting),
        update.read_as,
        0.5 ** (exposed_s / HALF_LIFE_S),
        exposed_s,
    )


def _number(flag: bool | None) -> int | None:
    """Return a flag as SQLite keeps it, which would look for how to keep it for a microsecond."""
    return None if flag is None else int(flag)
