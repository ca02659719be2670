r"""Worth of a look for new pages: addresses that nobody knows are stale since they were born.

A page on which :math:`\nu` new addresses appear per second, each worth w, costs :math:`\nu w t`
while it has not been looked at for t: the cost of obsolescence of Eckstein, Gal and Reiner, linear
in the delay. A share o of its addresses is found elsewhere too, on average :math:`\ell` later:
those cost no more than until then. So the cost of an age t is

.. math:: c(t) = \nu w \, [(1 - o)\, t + o\, \ell (1 - e^{-t/\ell})],

and a visit at age t is worth :math:`\int_0^t (c(t) - c(u))\,du = \nu w [(1 - o) t^2 / 2 +
o\, \ell^2 g(t / \ell)]` with :math:`g(x) = 1 - (1 + x) e^{-x}`, in the unit of the worth of its own
changes, to which it is added: the price stays one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import expm1, sqrt
from typing import Final

import numpy as np

from recrawl.crawler.control.worth.tiers import visit_gain
from recrawl.kernels.arrays import Integers, Vector
from recrawl.learning.counts import shrunk_rates
from recrawl.terms import Birth, Kind

HALF_LIFE_S: Final = 60 * 86_400.0  # of what is known of births
_PRIOR_FOUND: Final = 4.0  # addresses' worth of the usual, before those found on a page count
_STEPS: Final = 60
_HOPED_S: Final = 21_600.0  # in which one new address is hoped for on a host's entries


@dataclass(frozen=True, slots=True)
class NewPages:
    """Flow of new addresses from one page.

    Parameters
    ----------
    flow_per_s : new addresses per second times what each is worth, >= 0
    shared : share of them that others find too, in [0, 1]
    lead_s : how much later those do, on average, > 0
    n_per_s : addresses per second
    is_listing : whether it is a sitemap or feed that lists them
    """

    flow_per_s: float
    shared: float = 0.0
    lead_s: float = 1.0
    n_per_s: float = 0.0
    is_listing: bool = False


def birth_worth(new: NewPages, age_s: float) -> float:
    """Return what a visit at an age is worth for what it finds, in weight times seconds.

    Parameters
    ----------
    new : what appears on the page
    age_s : since the visit before, >= 0
    """
    alone = 0.5 * age_s * age_s
    lead_s = max(new.lead_s, 1e-6)
    with_others = lead_s * lead_s * visit_gain(age_s / lead_s)
    return new.flow_per_s * ((1.0 - new.shared) * alone + new.shared * with_others)


def birth_loss(new: NewPages, interval_s: float) -> float:
    """Return what is lost on average by what appears, with visits at this interval: weight.

    Parameters
    ----------
    new : what appears on the page
    interval_s : from visit to visit, > 0
    """
    x = interval_s / max(new.lead_s, 1e-6)
    with_others = new.lead_s * (1.0 + expm1(-x) / x)
    return new.flow_per_s * (0.5 * (1.0 - new.shared) * interval_s + new.shared * with_others)


def birth_interval(found: Sequence[NewPages], price: float, longest_s: float) -> float:
    """Return the age at which a visit is worth the price for what it finds alone.

    Parameters
    ----------
    found : the kinds of what it finds
    price : in weight times seconds, >= 0
    longest_s : returned where that comes later, or never
    """

    def worth(age_s: float) -> float:
        return sum(birth_worth(one, age_s) for one in found)

    if worth(longest_s) <= price:
        return longest_s
    flow = sum(one.flow_per_s for one in found)
    low, high = min(sqrt(2.0 * price / flow), longest_s), longest_s
    for _ in range(_STEPS):
        if high - low <= 1e-6 * high:
            break
        middle = 0.5 * (low + high)
        low, high = (low, middle) if worth(middle) > price else (middle, high)
    return high


def lasting_share(weights: Vector, change_rates: Vector, crawl_rates: Vector) -> float:
    r"""Return what pages kept at the price are worth per unit of time, as a share of their weight.

    Parameters
    ----------
    weights : shape (n,), >= 0
    change_rates, crawl_rates : shape (n,), 1/time, >= 0

    Notes
    -----
    A page is fresh for the share F of time and has x visits at the price p:
    :math:`w F - p x = w S(\tau)` at the best interval, with :math:`S(\tau)` the chance that its
    copy is still fresh when it is due: :math:`e^{-\lambda / x}`.
    """
    total = float(weights.sum())
    if total <= 0.0:
        return 1.0
    fresh = np.exp(-change_rates / np.maximum(crawl_rates, 1e-300))
    return float(weights @ fresh) / total


def learn_births(
    births: Sequence[Birth], usual_worth: float, lasting: float = 1.0
) -> dict[int, NewPages]:
    """Learn what each page brings; those of a host and kind lend each other strength.

    Parameters
    ----------
    births : what was found
    usual_worth : of a page, >= 0, for hosts that have brought none
    lasting : of a page's weight, that it is worth once it is known (:func:`lasting_share`)

    Returns
    -------
    dict
        By page, for those that may bring something.
    """
    seen = [one for one in births if one.exposure_s > 0.0]
    n = np.array([one.n for one in seen])
    if not seen or n.sum() <= 0.0:
        return {}
    exposure = np.array([one.exposure_s for one in seen])
    hosts = _numbered([one.host_id for one in seen])
    kinds = _numbered([(one.host_id, one.kind) for one in seen])
    rates, _ = shrunk_rates(n, exposure, (hosts, kinds))
    told = np.array([np.nan if one.worth is None else one.worth for one in seen])
    known = ~np.isnan(told)
    usual = np.full(len(seen), usual_worth)
    for group in (hosts, kinds):
        weight = np.bincount(group, np.where(known, n, 0.0))
        total = np.bincount(group, np.where(known, n * np.nan_to_num(told), 0.0))
        parent = np.bincount(group, usual) / np.bincount(group)
        usual = ((total + _PRIOR_FOUND * parent) / (weight + _PRIOR_FOUND))[group]
    worth = np.where(
        known, (n * np.nan_to_num(told) + _PRIOR_FOUND * usual) / (n + _PRIOR_FOUND), usual
    )
    worth = lasting * worth
    return {
        one.page_id: NewPages(
            float(rate * each),
            shared=one.again / max(one.n, one.again, 1e-9),
            lead_s=max(one.lead_s / one.again, 1.0) if one.again > 0 else 1.0,
            n_per_s=float(rate),
            is_listing=one.kind is not Kind.PAGE,
        )
        for one, rate, each in zip(seen, rates.tolist(), worth.tolist(), strict=True)
        if rate * each > 0.0 and (one.n > 0.0 or one.kind is not Kind.PAGE)
    }


def hope_for_births(entries: Iterable[tuple[int, ...]], usual_worth: float) -> dict[int, NewPages]:
    """Return what seeds and listings are taken to bring before anybody has looked: four a day.

    That is much for most. But it only says when the second visit is worth its price, which is one
    request, and which tells what they do bring.

    Parameters
    ----------
    entries : page and host of each; those of a host share what is hoped for
    usual_worth : of a page, >= 0
    """
    entries = list(entries)
    n_of_host = Counter(host_id for _, host_id in entries)
    return {
        page_id: NewPages(usual_worth / (_HOPED_S * n_of_host[host_id]))
        for page_id, host_id in entries
        if usual_worth > 0.0
    }


def _numbered(names: Sequence[object]) -> Integers:
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def joint_intervals(
    alone: Vector,
    prices: Vector,
    weights: Vector,
    beliefs: tuple[Vector, Vector],
    brought: tuple[Vector, Vector, Vector],
    shortest: float,
) -> Vector:
    r"""Return the ages at which a visit is worth the price, for changes and births together.

    Parameters
    ----------
    alone : shape (n,), the ages for changes alone
    prices, weights : shape (n,), of each page
    beliefs : change rates, shape (r,), > 0, and the chance of each, shape (n, r)
    brought : flow, share that others find too and their delay, shape (n,) each
    shortest : no age is less, but those of ``alone``

    Notes
    -----
    By bisection: both parts grow with age, so the age lies between ``shortest`` and that of changes
    alone. O(n r) for each of its steps.
    """
    rates, chances = beliefs
    flow, shared, lead = brought
    low = np.minimum(np.full(alone.size, shortest), alone)
    high = alone.copy()
    for _ in range(_STEPS // 2):
        middle = 0.5 * (low + high)
        x = np.outer(middle, rates)
        saved = weights * np.sum(chances * visit_gains(x) / rates, axis=1)
        found = flow * (
            (1.0 - shared) * 0.5 * middle * middle
            + shared * lead * lead * visit_gains(middle / lead)
        )
        over = saved + found > prices
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.asarray(high)


def visit_gains(x: Vector) -> Vector:
    """Return 1 - (1 + x) exp(-x) where all x >= 0: of visits, times change rate over weight."""
    small = x * x * (0.5 - x / 3.0)
    return np.where(x < 1e-3, small, -np.expm1(-x) - x * np.exp(-x))
