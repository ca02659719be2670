"""The lasting life of a page: which state follows which visit, and the bounds on revisits.

The table is the authority: the diagram in the docs is drawn from it, and a test walks it. Two
rules from experience with other crawlers are built in: a single 404 removes nothing, nor does a
single answer that is too large, of another type or leads elsewhere for now; and a page is never
removed because nobody asked for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recrawl.terms import Outcome, PageState, PageUpdate

# Short names for the tables: what a page is, and what came of its visit.
Is, Was = PageState, Outcome

# What an outcome leads to from any state; None keeps the state.
NEXT: Final[Mapping[Outcome, PageState | None]] = {
    Was.NEW: Is.INDEXED,
    Was.CHANGED: Is.INDEXED,
    Was.UNCHANGED: None,
    Was.NOT_MODIFIED: None,
    Was.LISTING: Is.INDEXED,
    Was.MOVED: Is.MOVED,
    Was.REDIRECTED: Is.MOVED,
    Was.NOT_FOUND: Is.MISSING,
    Was.GONE: Is.GONE,
    Was.DENIED: Is.MISSING,
    Was.THROTTLED: None,
    Was.SERVER_ERROR: None,
    Was.FAILED: None,
    Was.POISON: None,
    Was.TOO_LARGE: Is.EXCLUDED,
    Was.UNSUPPORTED: Is.EXCLUDED,
    Was.DISALLOWED: Is.DISALLOWED,
    Was.LOST: None,
    Was.OBSOLETE: None,
    Was.DEFERRED: None,
}
# One answer that a slip of the server could give takes no copy away.
DOUBTED: Final[Mapping[tuple[PageState, Outcome], PageState]] = {
    (Is.INDEXED, Was.TOO_LARGE): Is.MISSING,
    (Is.INDEXED, Was.UNSUPPORTED): Is.MISSING,
    (Is.INDEXED, Was.REDIRECTED): Is.MISSING,
    (Is.INDEXED, Was.DISALLOWED): Is.MISSING,
}
# A second answer of the same kind confirms the first.
CONFIRMED: Final[Mapping[tuple[PageState, Outcome], PageState]] = {
    (Is.MISSING, Was.NOT_FOUND): Is.GONE,
    (Is.MISSING, Was.DENIED): Is.GONE,
    (Is.GONE, Was.NOT_FOUND): Is.GONE,
    (Is.GONE, Was.DENIED): Is.GONE,
}
# The index keeps its copy in these states.
KEEPS: Final = frozenset({Is.DISCOVERED, Is.INDEXED, Is.MISSING})


def outcome_of_status(status: int) -> Outcome | None:
    """Return what an HTTP status means by itself; None for content that must be looked at."""
    named = {
        304: Was.NOT_MODIFIED,
        301: Was.MOVED,
        308: Was.MOVED,
        404: Was.NOT_FOUND,
        410: Was.GONE,
        429: Was.THROTTLED,
    }
    if status in named:
        return named[status]
    if status in (302, 303, 307):
        return Was.REDIRECTED
    if 200 <= status < 300:
        return None
    if 400 <= status < 500:
        return Was.DENIED
    return Was.SERVER_ERROR


def next_state(state: PageState, outcome: Outcome) -> PageState:
    """Return the state that follows.

    Parameters
    ----------
    state : of the page before the visit
    outcome : of the visit
    """
    special = CONFIRMED.get((state, outcome)) or DOUBTED.get((state, outcome))
    if special is not None:
        return special
    if outcome is Was.UNCHANGED and state in (Is.MISSING, Is.DISALLOWED):
        return Is.INDEXED
    if outcome is Was.NOT_MODIFIED and state is Is.MISSING:
        return Is.INDEXED
    return NEXT[outcome] or state


def is_removed(before: PageState, after: PageState) -> bool:
    """Tell whether the step takes the page out of the index."""
    return before in KEEPS and after not in KEEPS


@dataclass(frozen=True, slots=True)
class RevisitRules:
    """Bounds on revisits, in seconds.

    Parameters
    ----------
    min_interval_s, max_interval_s : between two visits of one page
    initial_interval_s : to the second visit, before anything is known of the page
    confirm_s : to the visit that confirms a 404
    retry_s : after a failure, doubling up to ``max_interval_s``
    listing_s : between visits of sitemaps and feeds
    forgiven_share : of a planned interval, by which a late visit shortens the next; 0 counts every
        interval from the visit
    """

    min_interval_s: float = 600.0
    max_interval_s: float = 30 * 86_400.0
    initial_interval_s: float = 86_400.0
    confirm_s: float = 3_600.0
    retry_s: float = 600.0
    listing_s: float = 86_400.0
    forgiven_share: float = 0.25

    def backoff_s(self, failures: int) -> float:
        """Return the delay after so many failures in a row, one or more."""
        return min(self.retry_s * 2.0 ** min(failures - 1, 40), self.max_interval_s)

    def clamp(self, interval_s: float) -> float:
        """Return the interval moved into the bounds."""
        return min(max(interval_s, self.min_interval_s), self.max_interval_s)


def is_copied(outcome: Outcome, after: PageState) -> bool:
    """Tell whether a visit put the page's content into the index.

    Parameters
    ----------
    outcome : of the visit
    after : state that it led to
    """
    return after is Is.INDEXED and outcome in (Was.NEW, Was.CHANGED)


def is_known_anew(update: PageUpdate) -> bool:
    """Tell whether a visit found out how the page is, so that the next one compares with that."""
    outcome = update.visit.outcome
    if update.visit.seen_s is not None:
        return True
    is_read = update.read_as is not None and outcome in (Was.CHANGED, Was.UNCHANGED)
    return update.visit.changed is not None or outcome in (Was.NEW, Was.LISTING) or is_read
