r"""Worth of a look at a sitemap or feed for the changes that it announces.

A page whose change a listing has announced is visited soon; one whose change nobody announces stays
stale until its own next visit, on average half of its interval :math:`T_i` later. So a change that
waits in a listing is like an address that others find too: the cost of not having read the listing
for a time t grows as :mod:`.births` says, with

.. math:: \nu w = \sum_i r \lambda_i g_i, \quad
    \ell = \frac{\sum_i r \lambda_i g_i / (r \lambda_i + 2 / T_i)}{\sum_i r \lambda_i g_i}

over the pages that the listing dated last, and an equal share of those that no listing of the host
did; r is the share of their changes that is announced. What a page is worth while it is followed
is, beyond the price p of its visits,

.. math:: g_i = \max(w_i f_i - p, 0) / t_i,

with a visit once it is announced or after :math:`T_i`, whichever comes first, every :math:`t_i` on
average, of which it is fresh for :math:`f_i`: a share q of announcements is true. So dates that lie
bring nothing, nor do pages that change sooner than a visit is paid back. Exact for one page whose
stale copy is seen by nobody else and whose own visits come at random; a sum over pages otherwise.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.worth.births import NewPages
from recrawl.terms import Announcer, Birth, Kind

_NEVER: Final = 1e-200  # 1/time

UNPROVED: Final = NewPages(0.0)
"""Of a host whose listings have dates of which it is not known yet whether they are true."""

WORTHLESS: Final = NewPages(0.0)
"""Of a listing whose dates are mostly not true, or of pages that are visited for none of them."""


def announced_changes(
    pages: PlannedPages,
    trust: NDArray[np.float64],
    recalls: NDArray[np.float64],
    births: Iterable[Birth],
    prior_rate_per_s: float,
    price: float = 0.0,
) -> Mapping[int, NewPages]:
    """Return what each listing announces, by listing; or :data:`UNPROVED`, :data:`WORTHLESS`.

    Parameters
    ----------
    pages : that are kept fresh
    trust : shape (n,), in [0, 1], in the dates of each page's host; 0: they are mostly not true;
        nan: nothing is known of them
    recalls : shape (n,), in [0, 1], share of each page's changes that is announced
    births : what was read, among it the listings
    prior_rate_per_s : change rate of a page of which nothing is known
    price : of a visit, in weight times seconds, >= 0

    Notes
    -----
    Pages that were found elsewhere count for all listings of their host alike. O(n log n).
    """
    listings = {one.page_id: one.host_id for one in births if one.kind is not Kind.PAGE}
    dated = np.flatnonzero(np.isfinite(pages.lastmod_s))
    hosts, place = np.unique(pages.host_ids[dated], return_inverse=True)
    known, trusted = pages.change_rates_per_s[dated], trust[dated]
    rates = np.where(np.isfinite(known), known, prior_rate_per_s)
    planned = np.nan_to_num(pages.crawl_rates_per_s[dated])
    told, true = recalls[dated] * rates, np.nan_to_num(trusted)
    length = 1.0 / np.where(planned > 0.0, planned, 1.0)
    each = told / np.where(true > 0.0, true, 1.0)  # announcements, false ones too
    passed, fresh = _until(each, length), _until(rates + (1.0 - true) * each, length)
    kept = np.maximum(pages.weights[dated] * fresh - price, 0.0) / passed
    flow = np.where((planned > 0.0) & (true > 0.0), told * kept, 0.0)
    waits = flow / (told + 2.0 * planned + _NEVER)
    proved = np.bincount(place, np.isfinite(trusted), hosts.size)
    is_planned = np.isfinite(pages.crawl_rates_per_s[dated]).astype(np.float64)
    most = np.zeros(hosts.size)
    np.maximum.at(most, place, true)
    number = {host: row for row, host in enumerate(hosts.tolist())}
    ids = np.array([one for one, host in listings.items() if host in number], np.int64)
    of = np.array([number[listings[one]] for one in ids.tolist()], np.int64)
    sums: NDArray[np.float64] = np.stack(
        [
            _by_listing(each, place, pages.found_on[dated], ids, of)
            for each in (flow, waits, is_planned)
        ]
    )
    found: dict[int, NewPages] = {}
    for listing, host, (total, late, n) in zip(
        ids.tolist(), of.tolist(), sums.T.tolist(), strict=True
    ):
        if not proved[host]:
            found[listing] = UNPROVED
        elif most[host] == 0.0 or (total == 0.0 and n > 0.0):
            found[listing] = WORTHLESS
        elif total > 0.0:
            found[listing] = NewPages(total, shared=1.0, lead_s=max(late / total, 1.0))
    return found


def _by_listing(
    column: NDArray[np.float64],
    hosts: NDArray[np.int64],
    found_on: NDArray[np.float64],
    listings: NDArray[np.int64],
    of_host: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Add up what is said of pages for the listing of each; of others for all of their hosts."""
    at = _places(found_on, listings.astype(np.float64))
    is_listed = at >= 0
    sums = np.bincount(at[is_listed], column[is_listed], listings.size)
    n_hosts = int(hosts.max(initial=-1)) + 1
    others = np.bincount(hosts[~is_listed], column[~is_listed], n_hosts)
    n_listings = np.bincount(of_host, minlength=n_hosts)
    return np.asarray(sums + (others / np.maximum(n_listings, 1))[of_host])


def _until(rates: NDArray[np.float64], length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean time until an event of a Poisson process, or until the length has passed."""
    x = np.maximum(rates * length, 1e-12)
    return np.asarray(length * -np.expm1(-x) / x)


def heard_until(pages: PlannedPages, births: Iterable[Birth]) -> NDArray[np.float64]:
    """Return until when it is known what is announced of each page; nan: nothing ever is.

    Parameters
    ----------
    pages : that are kept fresh
    births : what was read, among it the listings

    Notes
    -----
    Of pages that were found in no listing: of those of their host on average. O(n log n).
    """
    hosts, place = np.unique(pages.host_ids, return_inverse=True)
    number = {host: row for row, host in enumerate(hosts.tolist())}
    read = [
        (one.page_id, number[one.host_id], one.last_visit_s)
        for one in births
        if one.kind is not Kind.PAGE and one.last_visit_s is not None and one.host_id in number
    ]
    table = np.array(read, np.float64).reshape(len(read), 3)
    of_host = table[:, 1].astype(np.int64)
    with np.errstate(invalid="ignore"):
        mean_s = np.bincount(of_host, table[:, 2], hosts.size) / np.bincount(
            of_host, minlength=hosts.size
        )
    at = _places(pages.found_on, table[:, 0])
    return np.asarray(np.where(at >= 0, np.append(table[:, 2], np.nan)[at], mean_s[place]))


def _places(found_on: NDArray[np.float64], listings: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the row of the listing that each page was found on; -1: on none of these."""
    if not listings.size:
        return np.full(found_on.size, -1)
    order = np.argsort(listings)
    at = order[np.searchsorted(listings[order], found_on).clip(max=listings.size - 1)]
    return np.where(listings[at] == found_on, at, -1)


def unannounced(
    pages: PlannedPages,
    announcers: Mapping[int, Announcer],
    seen_s: NDArray[np.float64],
    now_s: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how old copies count as, and the chance that what is announced of each is not true.

    Parameters
    ----------
    pages : that are kept fresh
    announcers : by the id of a host
    seen_s : shape (n,), instants that the copies are of; nan: there was none
    now_s : the instant

    Notes
    -----
    Of a page that is listed, a share of the changes would have been announced, up to the instant
    until which that was heard: only the others, and those since, can be there unseen. O(n).
    """
    hosts, place = np.unique(pages.host_ids, return_inverse=True)
    none = Announcer(0.0, 0.0, -np.inf)
    told = [announcers.get(host, none) for host in hosts.tolist()]
    table = np.array([(one.recall, one.precision, one.heard_s) for one in told], np.float64)
    recalls, precisions, heard_s = table.reshape(len(told), 3)[place].T
    ages_s = now_s - seen_s
    recalls = np.where(np.isfinite(pages.lastmod_s), recalls, 0.0)
    ages_s = (1.0 - recalls) * ages_s + recalls * np.clip(now_s - heard_s, 0.0, ages_s)
    waits = (pages.lastmod_s > seen_s) & (pages.lastmod_s <= now_s)
    # What stands for an older copy than this one was not announced of that.
    waits &= seen_s == pages.seen_s
    return ages_s, np.where(waits, 1.0 - precisions, 1.0)
