"""The one owner of due times: whatever came of a visit, when the page is due again, and why.

Pages with content are the revisit policy's (:mod:`.revisit_policy`); everything else, as failures,
pages that are gone, listings and sources with a timetable, follows rules that hold for any policy.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import xxhash

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.answers.soft_errors import is_probe
from recrawl.crawler.control.revisiting.revisit_policy import (
    NextVisit,
    PageVisit,
    RevisitPolicy,
    ask_when_due,
)
from recrawl.crawler.control.revisiting.timetables import Timetables
from recrawl.crawler.control.worth.announced import WORTHLESS
from recrawl.crawler.control.worth.births import NewPages
from recrawl.crawler.control.worth.index_dates import IndexDates
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.openings import RULES_HOLD_S
from recrawl.crawler.control.worth.returns import Returns
from recrawl.terms import Kind, Lease, Outcome, PageState

# Why a page is due where no visit said so.
DISCOVERED: Final = "never visited yet: due since it was discovered"
ASKED_FOR: Final = "somebody asked for it"
AGREED: Final = "the index did not hold what the state said: fetched anew"
BROUGHT: Final = "brought forward: no interval may be longer"
ONCE: Final = "a single pass visits every page"
LISTED_AGAIN: Final = "gone, but listed since with a later date: looked at again"
BESIDE: Final = "pages beside it are gone: looked at, as it may be too"
BESIDE_BACK: Final = "pages beside it are back: looked at, as it may be too"
READ_AGAIN: Final = "its copy was read by other rules than those in force: read again"
RESTING: Final = "pages of its folder failed one after another: they rest for a while"
LISTS_NEW: Final = "what is new in it will be worth a visit by then"
OUTSIDE: Final = "scope.include and scope.exclude take it no longer, or it would act: not fetched"
WIDENED: Final = "the configuration takes more than before: looked at for what is in now"
NAMED_ANEW: Final = "robots.txt has changed, and names it: looked for again"
WITH_LEAVE: Final = "it was denied, which may be over: tried again"
FORGIVEN: Final = "the settings have changed: tried again"
ASKED_ONCE: Final = "it tells what its host says of what does not exist: not asked for again"

_CONTENT: Final = frozenset(
    {Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED, Outcome.LISTING}
)
_MOST_QUIET: Final = 3  # doublings of the interval of a listing that tells nothing new
_DETOUR: Final = b"leads to "  # before what is remembered of a page that leads elsewhere for now
_FIRST_MOVE: Final = b"moved first"  # what is remembered of the first page of a host that moves
_MOST_HOSTS: Final = 20_000  # of which it is remembered when pages moved
_MOST_QUIETS: Final = 100_000  # listings of which it is remembered how quiet they are
_MOST_DETOURS: Final = 40  # doublings of the interval
_EARLY: Final = 1.0 / 24.0  # of the interval of listings, from the first to the second reading
_MISSING: Final = "not found, or nothing to index, once: to be confirmed"
# Why a page that is out once is looked at again, and after so many seconds; 0: as any other.
_TO_CONFIRM: Final = {
    Outcome.REDIRECTED: ("it leads elsewhere for now, once: to be confirmed", 0.0),
    Outcome.DISALLOWED: ("robots.txt forbids it now: to be confirmed, read again", RULES_HOLD_S),
}
_MOST_ABSENT: Final = 20  # doublings for one that is not there; the longest interval comes first
_ABSENT: Final = frozenset({PageState.MISSING, PageState.GONE})
_LOOKED_EARLY: Final = 255  # in the place of how many times a listing told nothing new
_DEFERRED_S: Final = 60.0
_SLIP_S: Final = 86_400.0  # within which people notice that their pages are in no index
_PUT_OFF: Final = "other pages took long to read: fetched again after a delay that doubles"
_ONCE_S: Final = 36_525 * 86_400.0  # a hundred years
_TRIED_AGAIN: Final = {
    Outcome.FAILED: "its last visit failed: retried after a delay that doubles",
    Outcome.SERVER_ERROR: "its last visit failed: retried after a delay that doubles",
    Outcome.THROTTLED: "its host was busy again and again: retried after a delay that doubles",
    Outcome.POISON: (
        "it could not be read within the limits: in quarantine for a delay that doubles"
    ),
}
_AT_LENGTH: Final = {
    PageState.MOVED: "moved: looked at again after the longest interval",
    PageState.EXCLUDED: "not indexable: looked at again after the longest interval",
    PageState.DISALLOWED: "robots.txt forbids it: looked at again after the longest interval",
}


class DueTimes:
    """Says when pages are due.

    Parameters
    ----------
    rules : bounds on intervals
    policy : of pages with content
    timetables : of the sources that are probed by the clock
    returns : what is known of pages that come back; told of those that do
    price : of a visit, and what listings have brought
    """

    def __init__(
        self,
        rules: RevisitRules,
        policy: RevisitPolicy,
        timetables: Timetables | None = None,
        returns: Returns | None = None,
        price: OnePrice | None = None,
    ) -> None:
        self.rules = rules
        self.policy = policy
        self.timetables = timetables or Timetables()
        self.returns = returns or Returns()
        self.price = price or OnePrice(rules.initial_interval_s)
        self._moved_s: dict[int, float] = {}  # when pages last moved, by host
        self.dates = IndexDates()
        self.least_listing_s = 0.0  # between readings of a listing of which nothing is known
        self._quiet: dict[int, int] = {}  # times that listings told nothing new, latest last

    def after_visit(
        self,
        lease: Lease,
        outcome: Outcome,
        after: PageState,
        at_s: float,
        *,
        failures: int = 0,
        changed: bool | None = None,
        leads_to: str | None = None,
        told_news: bool = False,
    ) -> NextVisit:
        """Return when a page is due again.

        Parameters
        ----------
        lease : of the visit
        outcome, after : what came of it, and the state that follows
        at_s : instant of the visit
        failures : visits in a row that told nothing, this one included
        changed : whether the page had changed; None: nothing to compare with
        leads_to : where a redirect led
        told_news : whether a page that is not indexed, or a listing, led to pages that were not
            known
        """
        probe_s = self.timetables.next_s(lease.url, at_s) if outcome in _CONTENT else None
        if probe_s is not None:
            return NextVisit(probe_s, "its timetable of probes")
        nothing = _after_nothing(self.rules, lease, outcome, at_s, failures)
        once = NextVisit(at_s + _ONCE_S, ASKED_ONCE) if is_probe(lease.url) else None
        other = (
            nothing
            or once
            or self._after_other(lease, outcome, after, at_s, changed, leads_to, told_news)
        )
        if other is not None:
            return other
        if lease.state is PageState.GONE:
            self.returns.returned += 1.0
        before_s = lease.last_visit_s
        return ask_when_due(
            self.policy,
            PageVisit(
                url=lease.url,
                at_s=at_s,
                changed=changed,
                elapsed_s=None if before_s is None else at_s - before_s,
                due_s=lease.due_s,
                weight=lease.weight,
                crawl_rate_per_s=lease.crawl_rate_per_s,
                memory=b"" if lease.memory.startswith((_DETOUR, _FIRST_MOVE)) else lease.memory,
            ),
        )

    def after_slip(self, lease: Lease, at_s: float) -> NextVisit:
        """Return when a page is due that says what others of its host have come to say.

        When it would be looked at anyway, or in a day: in an hour it may still be so.
        """
        elapsed_s = 0.0 if lease.last_visit_s is None else at_s - lease.last_visit_s
        away_s = max(min(elapsed_s, _SLIP_S), self.rules.confirm_s)
        why = "it says what other pages have come to say: to be confirmed"
        return NextVisit(at_s + min(away_s, self.rules.max_interval_s), why)

    def _is_first_to_move(self, lease: Lease, at_s: float) -> bool:
        """Tell whether a page that was there is the first of its host that moves in a day."""
        if lease.state in (PageState.INDEXED, PageState.MISSING) and lease.last_visit_s is not None:
            before_s = self._moved_s.pop(lease.host_id, None)
            self._moved_s[lease.host_id] = at_s
            if len(self._moved_s) > _MOST_HOSTS:
                del self._moved_s[next(iter(self._moved_s))]
            return before_s is None or abs(at_s - before_s) >= _SLIP_S
        return lease.state is PageState.MOVED and lease.memory == _FIRST_MOVE

    def _after_listing(
        self, lease: Lease, after: PageState, at_s: float, changed: bool | None
    ) -> NextVisit:
        """Return when a sitemap or feed is read again: when what it has brought is worth that.

        Until something is known of that, ever later while it tells nothing new; but the second
        reading, which is the first to tell how much of it is new, comes early.
        """
        if after in _ABSENT:
            return self._after_no_listing(lease, at_s)
        rules = self.rules
        before = lease.memory[0] if lease.memory and lease.state not in _ABSENT else 0
        if before == _LOOKED_EARLY:  # too soon for silence to tell anything
            quiet = 0
        else:
            quiet = before if changed is None else 0 if changed else min(before + 1, _MOST_QUIET)
        self._quiet.pop(lease.page_id, None)
        self._quiet[lease.page_id] = quiet
        if len(self._quiet) > _MOST_QUIETS:
            del self._quiet[next(iter(self._quiet))]
        usual_s = self._usual_s(quiet)
        self._learn_dates(lease, at_s, changed)
        priced_s = self._priced_s(lease.page_id, at_s, quiet, waits=False)
        kept = bytes([quiet]) + self.dates.memory(lease.page_id)
        early_s = rules.clamp(rules.listing_s * _EARLY)
        is_first = after is PageState.INDEXED and lease.state is not PageState.INDEXED
        if is_first and early_s < (usual_s if priced_s is None else rules.clamp(priced_s)):
            why = "only a second reading tells how much of it is new"
            return NextVisit(at_s + early_s, why, memory=bytes([_LOOKED_EARLY]) + kept[1:])
        if priced_s is not None:
            return NextVisit(at_s + rules.clamp(priced_s), LISTS_NEW, memory=kept)
        why = "sitemaps and feeds are read at an interval of their own"
        if quiet:
            why += f", longer as the last {quiet} times told nothing new"
        return NextVisit(at_s + usual_s, why, memory=kept)

    def _learn_dates(self, lease: Lease, at_s: float, changed: bool | None) -> None:
        """Learn from a visit of a sitemap what its index knew of it; and of an index, as it was."""
        elapsed_s = 0.0 if lease.last_visit_s is None else max(at_s - lease.last_visit_s, 0.0)
        self.dates.visit(lease.url, lease.page_id, changed, elapsed_s)
        if not changed:
            self.dates.read_unchanged(lease.page_id, at_s)

    def _usual_s(self, quiet: int) -> float:
        """Return after which time a listing is read of which it is not known what it brings."""
        return self.rules.clamp(max(self.rules.listing_s * 2**quiet, self.least_listing_s))

    def _priced_s(self, page_id: int, now_s: float, quiet: int, *, waits: bool) -> float | None:
        """Return after which time a sitemap or feed is worth another reading; see `OnePrice`.

        ``waits``: what its index has told since it was read counts.
        """
        rules, told = self.rules, self.dates.of(page_id, now_s)
        if told is not None and not waits:
            told = replace(told, waits=False)
        parts = self.dates.followed(page_id, now_s).items()
        return self.price.listing_interval(
            page_id,
            self._usual_s(quiet),
            rules.max_interval_s,
            quiet=quiet,
            dated=told,
            parts=[(one, self._brings(page)) for page, one in parts],
        )

    def _brings(self, page_id: int) -> Sequence[NewPages]:
        """Return what a sitemap of an index brings."""
        return self.price.listed(page_id, quiet=self._quiet.get(page_id, _MOST_QUIET))

    def _after_no_listing(self, lease: Lease, at_s: float) -> NextVisit:
        """Return when a sitemap or feed is looked for again that is not there: ever later.

        It may come any day. One that a changed robots.txt names is looked for at once.
        """
        known = lease.memory[0] if lease.memory and lease.state in _ABSENT else 0
        why = "not there: looked for again after a delay that doubles"
        rules = self.rules
        priced_s = self.price.listing_interval(lease.page_id, rules.listing_s, rules.max_interval_s)
        again_s = rules.clamp((rules.listing_s if priced_s is None else priced_s) * 2**known)
        return NextVisit(at_s + again_s, why, memory=bytes([min(known + 1, _MOST_ABSENT)]))

    def listing_intervals(self, listings: Sequence[int], now_s: float) -> dict[int, float]:
        """Return, by sitemap and feed, how long after a visit another is worth the price in force.

        Those with a timetable, and those of which nothing is known, are left out.

        Parameters
        ----------
        listings : pages
        now_s : instant of the plan
        """
        rules, probed, found = self.rules, {*self.timetables.page_ids.values()}, dict[int, float]()
        for page_id in listings:
            flows = self.dates.choose(
                page_id, self._brings, self.price.price, rules.max_interval_s, now_s
            )
            self.price.of_parts[page_id] = flows
        for page_id in listings:
            quiet = self._quiet.get(page_id, _MOST_QUIET)  # not read since the start: after that
            priced_s = self._priced_s(page_id, now_s, quiet, waits=True)
            if priced_s is not None and page_id not in probed:
                found[page_id] = rules.clamp(priced_s)
                self.dates.plan(page_id, found[page_id])
        return found

    def _after_other(
        self,
        lease: Lease,
        outcome: Outcome,
        after: PageState,
        at_s: float,
        changed: bool | None,
        leads_to: str | None,
        told_news: bool,
    ) -> NextVisit | None:
        """Return when what holds no page is looked at again; None: it is a page with content."""
        rules = self.rules
        if lease.kind is not Kind.PAGE and after is not PageState.DISALLOWED:
            if self.price.announced.get(lease.page_id) is WORTHLESS:  # later dates are no news
                changed = changed and told_news
            return self._after_listing(lease, after, at_s, changed)
        if after is PageState.MISSING:
            why, after_s = _TO_CONFIRM.get(outcome, (_MISSING, 0.0))
            return NextVisit(at_s + min(after_s or rules.confirm_s, rules.max_interval_s), why)
        if after is PageState.GONE:
            again_s = rules.clamp(self.returns.interval_s(lease.weight))
            return NextVisit(at_s + again_s, "gone: looked at again when that is worth a visit")
        if outcome is Outcome.REDIRECTED:
            return _after_detour(rules, lease, at_s, leads_to)
        if after is PageState.DISALLOWED and lease.last_visit_s is not None:
            # What was allowed may be forbidden by a slip: whole sites are, with one line.
            is_known = lease.state is PageState.DISALLOWED
            away_s = max(at_s - lease.last_visit_s if is_known else 0.0, RULES_HOLD_S)
            why = "robots.txt forbids it now: looked at again after a delay that doubles"
            return NextVisit(at_s + min(away_s, rules.max_interval_s), why)
        if after is PageState.EXCLUDED and outcome in _CONTENT:
            return _after_left_out(rules, lease, at_s, told_news=told_news)
        if after in _AT_LENGTH:
            is_first = after is PageState.MOVED and self._is_first_to_move(lease, at_s)
            at_length = NextVisit(at_s + rules.max_interval_s, _AT_LENGTH[after])
            return _after_first_move(rules, lease, at_s) if is_first else at_length
        return None


def _after_left_out(
    rules: RevisitRules, lease: Lease, at_s: float, *, told_news: bool
) -> NextVisit:
    """Return when a page is looked at again that is not to be indexed.

    A list may lead to new pages for all that, and soon where it did; and a page may be left out by
    a slip of one line, as by a header that was meant for a copy of the site.
    """
    if told_news:
        why = "not indexable, and led to new pages: looked at again after the initial interval"
        return NextVisit(at_s + rules.clamp(rules.initial_interval_s), why)
    if lease.last_visit_s is None:
        why = _AT_LENGTH[PageState.EXCLUDED]
        return NextVisit(at_s + rules.max_interval_s, why)
    is_known = lease.state is PageState.EXCLUDED
    away_s = max(2.0 * (at_s - lease.last_visit_s) if is_known else 0.0, _SLIP_S)
    why = "not indexable, and nothing new: looked at again after a delay that doubles"
    return NextVisit(at_s + min(away_s, rules.max_interval_s), why)


def _after_first_move(rules: RevisitRules, lease: Lease, at_s: float) -> NextVisit:
    """Return when the first page of those that move is looked at again, which tells of the others.

    That all pages lead elsewhere for good may be a slip as well. Where this one is back, those
    beside it are looked at (:mod:`.removals`).
    """
    there_s = lease.last_visit_s if lease.state is PageState.MOVED else None
    away_s = max(0.0 if there_s is None else 2.0 * (at_s - there_s), _SLIP_S)
    why = "moved, the first of its host in a day: looked at again after a delay that doubles"
    return NextVisit(at_s + min(away_s, rules.max_interval_s), why, memory=_FIRST_MOVE)


def _after_detour(
    rules: RevisitRules, lease: Lease, at_s: float, leads_to: str | None
) -> NextVisit:
    """Return when a page is looked at again that leads elsewhere for now.

    Links that count their readers do so for ever, and always to the same address; what leads to the
    issue of the day leads to another soon.
    """
    mark = _DETOUR + xxhash.xxh3_64_digest((leads_to or "").encode("utf-8", "replace"))
    times = lease.memory[-1] if lease.memory[:-1] == mark else 0
    why = "it leads elsewhere for now: looked at again after the initial interval"
    if times:
        why = "it leads elsewhere for now, as before: looked at again after a delay that doubles"
    away_s = rules.clamp(rules.initial_interval_s * 2.0**times)
    return NextVisit(at_s + away_s, why, memory=mark + bytes([min(times + 1, _MOST_DETOURS)]))


def _after_nothing(
    rules: RevisitRules, lease: Lease, outcome: Outcome, at_s: float, failures: int
) -> NextVisit | None:
    """Return when a page is tried again whose visit told nothing; None: it told something."""
    # Due as before; the host's politeness and the budget make it wait.
    before_s = min(lease.due_s, at_s)
    if outcome in (Outcome.LOST, Outcome.OBSOLETE):
        return NextVisit(before_s, "its last copy was dropped by the buffer: due at once")
    if outcome is Outcome.DEFERRED:
        doubled_s = _DEFERRED_S * 2.0 ** min(max(failures - 1, 0), 40)
        return NextVisit(at_s + min(doubled_s, rules.max_interval_s), _PUT_OFF)
    if outcome is Outcome.THROTTLED and failures <= 1:
        return NextVisit(before_s, "its host was busy: due as soon as the host may be asked again")
    if outcome in _TRIED_AGAIN:
        times = failures - 1 if outcome is Outcome.THROTTLED else failures
        return NextVisit(at_s + rules.backoff_s(times), _TRIED_AGAIN[outcome])
    return None
