"""From what was seen to what is recorded: the update that one visit makes."""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from recrawl.crawler.control.answers.lifecycle import KEEPS, is_removed, next_state
from recrawl.crawler.control.answers.promises import promise_of
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.quantities import show_duration
from recrawl.terms import FetchResponse, Lease, Outcome, PageState, PageUpdate, Visit

_SHOWS = frozenset(
    {Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED, Outcome.LISTING}
)
_MOMENT_S = 1.0  # ages are told in whole seconds
_TELLS = {Outcome.CHANGED: True, Outcome.UNCHANGED: False, Outcome.NOT_MODIFIED: False}
_TROUBLE = frozenset(
    {
        Outcome.FAILED,
        Outcome.SERVER_ERROR,
        Outcome.THROTTLED,
        Outcome.TOO_LARGE,
        Outcome.POISON,
        Outcome.DEFERRED,  # so that a host of poison is asked for it ever more seldom
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one visit.

    Parameters
    ----------
    outcome : what came of it
    response : the answer, where there was one; its validators are kept with content
    state : the state that follows, where content decides it; default: the life cycle's
    signature, raw_hash : of the content, where it was read; default: as before
    changed : whether a listing lists something else than before; default: as the outcome says
    read_as : mark of the rules by which the content was read; None: it was not
    is_read_otherwise : whether those of the copy before were others: what differs from it is then
        no change of the page
    told_news : whether a feed or list led to pages that were not known, a redirect to what may be
        visited
    is_slip : whether it is likely over soon, as other pages have come to say the same
    says : signature of what a page says that has gone, where it says something
    title, redirect_url, note : for people
    """

    outcome: Outcome
    response: FetchResponse | None = None
    state: PageState | None = None
    signature: bytes | None = None
    raw_hash: bytes | None = None
    changed: bool | None = None
    read_as: int | None = None
    is_read_otherwise: bool = False
    told_news: bool | None = None
    is_slip: bool = False
    says: bytes | None = None
    title: str | None = None
    redirect_url: str | None = None
    note: str | None = None

    @property
    def status(self) -> int | None:
        """Status of the answer; None: there was none."""
        return self.response.status if self.response else None


def update_of(lease: Lease, finding: Finding, at_s: float, due_times: DueTimes) -> PageUpdate:
    """Return the update for one visit.

    Parameters
    ----------
    lease : of the page, as it was before the visit
    finding : what came of the visit
    at_s : when the page was fetched, epoch seconds
    due_times : says when it is due again
    """
    outcome, response = finding.outcome, finding.response
    after = finding.state or next_state(lease.state, outcome)
    changed = _TELLS.get(outcome) if finding.changed is None else finding.changed
    if finding.is_read_otherwise and outcome is Outcome.CHANGED:
        changed = None
    if changed is not None and lease.last_visit_s is None:
        changed = None  # nothing to compare with: the first copy was lost
    shown = _shown(lease, response, at_s) if outcome in _SHOWS else _Shown(at_s)
    if shown.is_known:
        changed = None
    if after is PageState.GONE and lease.state in KEEPS and lease.signature is not None:
        changed = True  # the copy is as stale as where the page says something else
    failures = lease.failures + 1 if outcome in _TROUBLE else 0
    visit = Visit(
        visited_at_s=at_s,
        outcome=outcome,
        status=finding.status,
        changed=changed,
        interval_s=None if changed is None else shown.seen_s - (_seen_s(lease) or at_s),
        fetch_s=response.elapsed_s if response else 0.0,
        received_bytes=response.received_bytes if response else 0,
        note=shown.note if finding.note is None else finding.note,
        modified_s=_modified_s(lease, finding, at_s),
        seen_s=None if shown.seen_s == at_s else shown.seen_s,
    )
    fetched = response if finding.raw_hash is not None else None
    etag, last_modified = (
        (fetched.etag, fetched.last_modified) if fetched else (lease.etag, lease.last_modified)
    )
    signature, raw_hash = finding.signature or lease.signature, finding.raw_hash or lease.raw_hash
    if is_removed(lease.state, after) or after in (PageState.GONE, PageState.MOVED):
        etag = last_modified = raw_hash = None
        signature = finding.says if after is PageState.GONE else None
    following = due_times.after_visit(
        lease,
        outcome,
        after,
        at_s,
        failures=failures,
        changed=changed,
        leads_to=finding.redirect_url,
        told_news=finding.told_news is True,
    )
    if finding.is_slip:
        following = due_times.after_slip(lease, at_s)
    return PageUpdate(
        lease=lease,
        visit=visit,
        state=after,
        due_s=following.due_s,
        interval_s=following.interval_s,
        due_why=following.why,
        memory=lease.memory if following.memory is None else following.memory,
        failures=failures,
        etag=etag,
        last_modified=last_modified,
        signature=signature,
        raw_hash=raw_hash,
        title=finding.title,
        redirect_url=finding.redirect_url,
        told_news=finding.told_news,
        lasting=None if response is None else promise_of(response),
        read_as=finding.read_as,
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """State of a page that an answer shows: its instant, and whether an answer had it before."""

    seen_s: float
    is_known: bool = False
    note: str | None = None


def _shown(lease: Lease, response: FetchResponse | None, at_s: float) -> _Shown:
    if response is None or response.age_s <= 0.0:
        return _Shown(at_s)
    seen_s, before_s = at_s - response.age_s, _seen_s(lease)
    if before_s is None or seen_s > before_s + _MOMENT_S:
        return _Shown(seen_s, note=f"a cache answered, {show_duration(response.age_s)} old")
    note = f"a cache answered with what it had {show_duration(at_s - before_s)} before: nothing new"
    return _Shown(before_s, is_known=True, note=note)


def is_outdated(lease: Lease, response: FetchResponse, at_s: float) -> bool:
    """Tell whether an answer is older than the copy in the index, as of two caches one may be.

    Parameters
    ----------
    lease : of the page
    response : the answer; by its age it tells that it comes from a cache
    at_s : when it was fetched, epoch seconds
    """
    before_s = _seen_s(lease)
    if before_s is None or response.age_s <= 0.0:
        return False
    return at_s - response.age_s < before_s - _MOMENT_S


def _seen_s(lease: Lease) -> float | None:
    return lease.last_visit_s if lease.seen_s is None else lease.seen_s


def _modified_s(lease: Lease, finding: Finding, at_s: float) -> float | None:
    """Return when the page last changed, as its server says; None where unsaid or impossible."""
    response = finding.response if finding.outcome in _SHOWS else None
    text = response.last_modified if response else None
    if response and response.status == HTTPStatus.NOT_MODIFIED:
        text = text or lease.last_modified
    try:
        told_s = parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None
    return told_s if 0.0 < told_s <= at_s + 1.0 else None


def disallowed(lease: Lease, now_s: float, due_times: DueTimes) -> PageUpdate:
    """Return the update for a page that robots.txt forbids: no request was made.

    Parameters
    ----------
    lease : of the page
    now_s : the instant of the visit that was not made, epoch seconds
    due_times : says when it is due again
    """
    return update_of(lease, Finding(Outcome.DISALLOWED), now_s, due_times)


def removes(update: PageUpdate) -> bool:
    """Tell whether an update takes a page out of the index."""
    return update.lease.signature is not None and is_removed(update.lease.state, update.state)
