"""The lasting life of a page: which state follows which visit, and when the next one is due.

The table is the authority: the diagram in the docs is drawn from it, and a test walks it. Two
rules from experience with other crawlers are built in: a single 404 removes nothing, nor does a
single answer that is too large or of another type; and a page is never removed because nobody
asked for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.control.order import forgiven_s
from recrawl.terms import Kind, Lease, Outcome, PageState

__all__ = [
    "KEEPS",
    "NextVisit",
    "RevisitRules",
    "is_removed",
    "next_state",
    "next_visit",
    "outcome_of_status",
]

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
}
# One answer that a slip of the server could give takes no copy away.
DOUBTED: Final[Mapping[tuple[PageState, Outcome], PageState]] = {
    (Is.INDEXED, Was.TOO_LARGE): Is.MISSING,
    (Is.INDEXED, Was.UNSUPPORTED): Is.MISSING,
}
# A second answer of the same kind confirms the first.
CONFIRMED: Final[Mapping[tuple[PageState, Outcome], PageState]] = {
    (Is.MISSING, Was.NOT_FOUND): Is.GONE,
    (Is.MISSING, Was.DENIED): Is.GONE,
    (Is.GONE, Was.NOT_FOUND): Is.GONE,
    (Is.GONE, Was.DENIED): Is.GONE,
}
_LEAST_RATE_PER_S: Final = 1e-12  # once in thirty thousand years; less would overflow
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
    """Return the state that follows."""
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


@dataclass(frozen=True, slots=True)
class NextVisit:
    """When a page is due again.

    Parameters
    ----------
    due_s : instant
    interval_s : planned since the visit, where the page is due when that visit is worth its price,
        and may be visited ahead of its time; None: not before ``due_s``
    """

    due_s: float
    interval_s: float | None = None


def next_visit(
    rules: RevisitRules, lease: Lease, outcome: Outcome, now_s: float, failures: int
) -> NextVisit:
    """Return when the page is due again after a visit.

    Parameters
    ----------
    failures : visits in a row that told nothing, this one included
    """
    again = outcome is Was.THROTTLED and failures <= 1
    if again or outcome in (Was.LOST, Was.OBSOLETE):
        # As before; the host's politeness and the budget make it wait.
        return NextVisit(min(lease.due_s, now_s))
    if outcome in (Was.FAILED, Was.SERVER_ERROR, Was.THROTTLED, Was.POISON):
        times = failures - 1 if outcome is Was.THROTTLED else failures
        return NextVisit(now_s + rules.backoff_s(times))
    after = next_state(lease.state, outcome)
    if lease.kind is not Kind.PAGE and after is not Is.DISALLOWED:
        return NextVisit(now_s + rules.clamp(rules.listing_s))  # what was absent may come
    if after is Is.MISSING:
        return NextVisit(now_s + min(rules.confirm_s, rules.max_interval_s))
    if outcome is Was.REDIRECTED:
        return NextVisit(now_s + rules.clamp(rules.initial_interval_s))
    if after in (Is.GONE, Is.MOVED, Is.EXCLUDED, Is.DISALLOWED):
        return NextVisit(now_s + rules.max_interval_s)
    rate = lease.crawl_rate_per_s
    if rate is None:
        initial_s = rules.clamp(rules.initial_interval_s)
        return NextVisit(now_s + initial_s, initial_s)
    # The plan keeps the longest interval as far as the budget goes; beyond, it knows best.
    interval_s = 1.0 / max(rate, _LEAST_RATE_PER_S) if rate > 0.0 else rules.max_interval_s
    interval_s = max(interval_s, rules.min_interval_s)
    shorter_s = forgiven_s(max(0.0, now_s - lease.due_s), interval_s, rules.forgiven_share)
    return NextVisit(now_s + max(interval_s - shorter_s, rules.min_interval_s), interval_s)


def is_copied(outcome: Outcome, after: PageState) -> bool:
    """Tell whether a visit put the page's content into the index."""
    return after is Is.INDEXED and outcome in (Was.NEW, Was.CHANGED)


def why_due(
    kind: Kind, state: PageState, last: Outcome | None, crawl_rate_per_s: float | None
) -> str:
    """Say in words what set a page's due time."""
    if last is None:
        return "never visited yet: due since it was discovered"
    if last in (Was.LOST, Was.OBSOLETE):
        return "its last copy was dropped by the buffer: due at once"
    if last is Was.THROTTLED:
        return "its host was busy: due as soon as the host may be asked again"
    if last in (Was.FAILED, Was.SERVER_ERROR):
        return "its last visit failed: retried after a delay that doubles"
    if last is Was.POISON:
        return "it could not be read within the limits: in quarantine for a delay that doubles"
    by_state = {
        Is.MISSING: "not found, or nothing to index, once: to be confirmed",
        Is.GONE: "gone: looked at again after the longest interval",
        Is.MOVED: "moved: looked at again after the longest interval",
        Is.EXCLUDED: "not indexable: looked at again after the longest interval",
        Is.DISALLOWED: "robots.txt forbids it: looked at again after the longest interval",
    }
    if state in by_state:
        return by_state[state]
    if kind is not Kind.PAGE:
        return "sitemaps and feeds are read at a fixed interval"
    return "not planned yet: the initial interval" if crawl_rate_per_s is None else "the plan"
