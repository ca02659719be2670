r"""Instants at which robots.txt is read again: the pages of a host wait for each other.

A host is open while its rules hold, for :math:`W`; each opening takes a request of its own. Where a
host is asked more seldom than that, half of all requests would be for rules. So a host stays closed
for a gap :math:`G` although pages of it are due. Those fall due at their crawl rates :math:`x_i`,
and one that is late by t costs :math:`s_i t^2 / 2` (:mod:`.order`). With :math:`S = \sum x_i s_i`
that is :math:`S G^3 / 6` in a gap, and an opening costs the price p of any request: per unit of
time :math:`(p + S G^3 / 6) / (W + G)`, which is least where

.. math:: S \, (W G^2 / 2 + G^3 / 3) = p.

It is the economic order quantity of joint replenishment with an order that lasts for W. The left
side is also the price at which a host would be opened after G: the share of the price that an
earlier opening is worth, beside visits ahead of their time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Final

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.worth.births import NewPages, birth_interval
from recrawl.crawler.control.worth.order import curvatures
from recrawl.errors import NotConverged
from recrawl.kernels.arrays import Vector, is_among

RULES_HOLD_S: Final = 86_400.0  # as RFC 9309 has it, section 2.4
_STEPS: Final = 100
_ROOM: Final = 0.5  # of the requests that a budget leaves, for one host that opens


@dataclass(frozen=True, slots=True)
class Openings:
    """Openings of hosts under a plan.

    Parameters
    ----------
    gaps_s : by host, how long it stays closed; of others, not at all
    per_s : openings of all hosts per second: requests that no plan can give to pages
    """

    gaps_s: Mapping[int, float] = field(default_factory=dict)
    per_s: float = 0.0


def opening_gaps(slopes: Vector, price: float, hold_s: float = RULES_HOLD_S) -> Vector:
    r"""Return for how long hosts stay closed.

    Parameters
    ----------
    slopes : shape (h,), :math:`S` of each host in weight/s^2, > 0
    price : of a request, in weight times seconds, >= 0
    hold_s : W, for how long rules hold, > 0

    Returns
    -------
    shape (h,)
        The G >= 0 with :math:`S (W G^2 / 2 + G^3 / 3) = p`, to twelve digits: Newton's iteration
        from above, where the left side is convex. O(h) a step.

    Raises
    ------
    NotConverged
        After a hundred steps; eight are usual.
    """
    gaps: Vector = np.minimum(
        np.sqrt(2.0 * price / (slopes * hold_s)), np.cbrt(3.0 * price / slopes)
    )
    target = price / slopes
    for _ in range(_STEPS):
        slope = gaps * (hold_s + gaps)
        over = gaps * gaps * (0.5 * hold_s + gaps / 3.0) - target
        step = np.divide(over, slope, out=np.zeros_like(gaps), where=slope > 0.0)
        gaps = np.maximum(gaps - step, 0.0)
        if np.all(np.abs(step) <= 1e-12 * gaps):
            return gaps
    residual = float(np.max(np.abs(step)))
    raise NotConverged("gaps of closed hosts", iterations=_STEPS, residual=residual)


def opening_share(closed_s: float, gap_s: float, hold_s: float = RULES_HOLD_S) -> float:
    """Return what an opening now is worth, as a share of what it is worth after the gap.

    Parameters
    ----------
    closed_s : for how long the host has been closed
    gap_s : after which it is opened; 0 or less: it is worth an opening at once
    hold_s : for how long rules hold, > 0
    """
    if gap_s <= 0.0:
        return 1.0
    closed_s = max(closed_s, 0.0)
    whole = gap_s * gap_s * (0.5 * hold_s + gap_s / 3.0)
    return closed_s * closed_s * (0.5 * hold_s + closed_s / 3.0) / whole


def plan_openings(
    pages: PlannedPages,
    crawl_rates: Vector,
    price: float,
    budget: float,
    *,
    new_pages: Mapping[int, NewPages],
    announced: Mapping[int, NewPages],
    listings: Iterable[tuple[int, int]],
    longest_s: float,
) -> Openings:
    """Return how hosts are opened under a plan.

    Parameters
    ----------
    pages : that are kept fresh
    crawl_rates : shape (n,), visits per second of each; nan: no plan says
    price : in force, in weight times seconds, >= 0
    budget : requests per second, > 0
    new_pages : what is born on each page and listing, where anything is
    announced : what each listing announces of known pages, where anything is
    listings : number and host of each
    longest_s : no gap is longer

    Notes
    -----
    A host of which nothing is ever visited has no gap. A request that is not made while hosts are
    closed is lost, so what a host needs must fit in the time in which it is open: at the rate x
    :math:`x (W + G) / W` is at most the budget, with half of that room left to others. A crawl of
    one host has no gap. O(n + h log h).
    """
    rates = np.nan_to_num(crawl_rates)
    flows = np.zeros(rates.size)
    for row in np.flatnonzero(is_among(pages.page_ids, list(new_pages))).tolist():
        new = new_pages[int(pages.page_ids[row])]
        flows[row] = new.flow_per_s * (1.0 - new.shared)
    listed = _listed(price, new_pages, announced, listings, longest_s)
    rates = np.concatenate([rates, listed[:, 1]])
    urgencies = flows + curvatures(pages.weights, pages.change_rates_per_s, rates[: flows.size])
    hosts, of_host = np.unique(
        np.concatenate([pages.host_ids, listed[:, 0].astype(np.int64)]), return_inverse=True
    )
    per_visit = np.concatenate([urgencies, listed[:, 2]])
    visits = np.bincount(of_host, rates, hosts.size).astype(np.float64)
    slopes = np.bincount(of_host, rates * per_visit, hosts.size).astype(np.float64)
    is_visited = slopes > 0.0
    hosts, visits, slopes = hosts[is_visited], visits[is_visited], slopes[is_visited]
    fits = _ROOM * RULES_HOLD_S * np.maximum(budget / visits - 1.0, 0.0)
    gaps = np.minimum(opening_gaps(slopes, price), np.minimum(fits, longest_s))
    per_s = np.sum(1.0 / (RULES_HOLD_S + np.maximum(gaps, 1.0 / visits)))
    return Openings(dict(zip(hosts.tolist(), gaps.tolist(), strict=True)), float(per_s))


def _listed(
    price: float,
    new_pages: Mapping[int, NewPages],
    announced: Mapping[int, NewPages],
    listings: Iterable[tuple[int, int]],
    longest_s: float,
) -> Vector:
    """Return the host of each listing, its visits per second, and the urgency of one, by row.

    What others find too, a time later, costs its whole flow until then.
    """
    rows = []
    for page_id, host_id in listings:
        told = new_pages.get(page_id), announced.get(page_id)
        found = [one for one in told if one is not None and one.flow_per_s > 0.0]
        if found and price > 0.0:
            age_s = birth_interval(found, price, longest_s)
            urgency = sum(
                one.flow_per_s * (1.0 - one.shared + one.shared * exp(-age_s / one.lead_s))
                for one in found
            )
            rows.append((host_id, 1.0 / age_s, urgency))
    return np.array(rows).reshape(-1, 3)
