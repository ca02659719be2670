"""A state that begins with what others have seen: pages and visits, before the first crawl."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from time import time

from recrawl.crawler.control.revisiting.due_times import DISCOVERED
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.ports import Frontier
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Lease, Outcome, PageState, PageUpdate, Visit

# Address, seconds since the epoch, outcome, whether the page had changed.
KnownVisit = tuple[str, float, str, bool | None]
_PAGES_AT_ONCE = 500
_NOBODY = -1  # a token that no lease has: the visits are history, and the page is still to be read


def warm_start(settings: Settings, visits: Iterable[KnownVisit]) -> tuple[int, int, int]:
    """Take pages and visits into a state that holds none.

    The pages are due at once, as the index has no copy of them; what their visits told of change
    rates is learned with the first plan.

    Parameters
    ----------
    settings : of the crawl; what does not belong to it is left out
    visits : by page, each page's in the order of time

    Returns
    -------
    int, int, int
        Pages and visits taken in, and pages left out.

    Raises
    ------
    StateError
        The state cannot be written.
    """
    rules = crawl_rules(settings)
    n_pages = n_visits = n_outside = 0
    with closing(open_frontier(settings.state)) as frontier:
        for pages in _parts(groupby(visits, key=lambda visit: visit[0])):
            urls = {normalise(url): told for url, told in pages}
            urls.pop(None, None)
            found = rules.admission.of([url for url in urls if url is not None])
            frontier.admit(found, time(), rules.limits)
            updates = [
                update for one in found for update in _history(frontier, one.url, urls[one.url])
            ]
            frontier.complete(updates)
            n_taken = len({update.lease.page_id for update in updates})
            n_pages, n_visits = n_pages + n_taken, n_visits + len(updates)
            n_outside += len(pages) - n_taken
    return n_pages, n_visits, n_outside


def _parts(
    pages: Iterable[tuple[str, Iterator[KnownVisit]]],
) -> Iterator[list[tuple[str, list[KnownVisit]]]]:
    part = []
    for url, told in pages:
        part.append((url, list(told)))
        if len(part) == _PAGES_AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _history(frontier: Frontier, url: str, visits: list[KnownVisit]) -> Iterator[PageUpdate]:
    page = frontier.details(url, recent=0)
    if page is None:  # there was no room for it
        return
    lease = Lease(page.page_id, url, 0, _NOBODY, page.due_s)
    before_s: float | None = None
    for _, at_s, outcome, changed in visits:
        told = changed is not None and before_s is not None
        visit = Visit(
            at_s,
            Outcome(outcome),
            changed=changed if told else None,
            interval_s=at_s - before_s if told and before_s is not None else None,
            note="before this crawl, by its history",
        )
        yield PageUpdate(lease, visit, PageState.DISCOVERED, page.due_s, due_why=DISCOVERED)
        if changed is not None or outcome == Outcome.NEW:
            before_s = at_s
