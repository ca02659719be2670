r"""What a look at a sitemap or feed is worth for the changes that it announces.

A page whose change a listing has announced is visited soon; one whose change nobody announces stays
stale until its own next visit, on average half of its interval :math:`T_i` later. So a change that
waits in a listing is like an address that others find too, :math:`\ell_i = T_i / 2` later: the cost
of not having read the listing for a time t grows as :mod:`.births` says, with

.. math:: \nu w = \frac{\theta}{m} \sum_i \lambda_i w_i, \quad
    \ell = \frac{\sum_i \lambda_i w_i \ell_i}{\sum_i \lambda_i w_i}

over the pages of the host, whose m listings share it. The trust :math:`\theta = 1 - e^{-b}` follows
from what one signal of the host has proved to be worth, b nats, so that dates that lie bring none.
A first-order rule: that the visit which follows would have been made later anyway, and is no extra
cost, holds where the listing tells the truth.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.births import NewPages
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.terms import Birth, Kind

__all__ = ["UNPROVED", "announced_changes"]

UNPROVED: Final = NewPages(0.0)
"""Of a host whose listings have dates of which it is not known yet whether they are true."""

_LEAST_TRUST: Final = 0.2  # below, dates are taken for noise


def announced_changes(
    pages: PlannedPages,
    trust: NDArray[np.float64],
    births: Iterable[Birth],
    prior_rate_per_s: float,
) -> Mapping[int, NewPages]:
    """Return what each listing of a host announces, by host; :data:`UNPROVED`: it may.

    Parameters
    ----------
    pages : that are kept fresh
    trust : shape (n,), in [0, 1], in the dates of each page's host; nan: nothing is known of them
    births : what was read, among it the listings
    prior_rate_per_s : change rate of a page of which nothing is known

    Notes
    -----
    O(n log n).
    """
    listings = Counter(one.host_id for one in births if one.kind is not Kind.PAGE)
    dated = np.flatnonzero(np.isfinite(pages.lastmod_s))
    hosts, place = np.unique(pages.host_ids[dated], return_inverse=True)
    known, trusted = pages.change_rates_per_s[dated], trust[dated]
    rates = np.where(np.isfinite(known), known, prior_rate_per_s) * pages.weights[dated]
    planned = np.nan_to_num(pages.crawl_rates_per_s[dated])
    flow = np.where(planned > 0.0, np.nan_to_num(trusted) * rates, 0.0)
    leads = 0.5 / np.where(planned > 0.0, planned, 1.0)
    flows, waits, proved = (
        np.bincount(place, column, minlength=hosts.size)
        for column in (flow, flow * leads, np.isfinite(trusted))
    )
    most = np.zeros(hosts.size)
    np.maximum.at(most, place, np.nan_to_num(trusted))
    found: dict[int, NewPages] = {}
    for number, host in enumerate(hosts.tolist()):
        if not proved[number]:
            found[host] = UNPROVED
        elif flows[number] > 0.0 and most[number] >= _LEAST_TRUST:
            total, lead_s = float(flows[number]), float(waits[number] / flows[number])
            share = total / max(listings[host], 1)
            found[host] = NewPages(share, shared=1.0, lead_s=max(lead_s, 1.0))
    return found
