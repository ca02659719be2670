r"""What a look for new pages is worth: addresses that nobody knows are stale since they were born.

A page on which :math:`\nu` new addresses appear per second, each worth w, costs :math:`\nu w t`
while it has not been looked at for t: the cost of obsolescence of Eckstein, Gal and Reiner, linear
in the delay. A share o of its addresses is found elsewhere too, on average :math:`\ell` later:
those cost no more than until then. So the cost of an age t is

.. math:: c(t) = \nu w \, [(1 - o)\, t + o\, \ell (1 - e^{-t/\ell})],

and a visit at age t is worth :math:`\int_0^t (c(t) - c(u))\,du = \nu w [(1 - o) t^2 / 2 +
o\, \ell^2 g(t / \ell)]` with :math:`g(x) = 1 - (1 + x) e^{-x}`, in the unit of the worth of its own
changes, to which it is added: the price stays one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.tiers import visit_gain
from recrawl.learning.counts import shrunk_rates
from recrawl.terms import Birth, Kind

__all__ = ["HALF_LIFE_S", "NewPages", "birth_interval", "birth_worth", "learn_births"]

Vector = NDArray[np.float64]
HALF_LIFE_S: Final = 60 * 86_400.0  # of what is known of births
_PRIOR_FOUND: Final = 4.0  # addresses' worth of the usual, before those found on a page count
_STEPS: Final = 60


@dataclass(frozen=True, slots=True)
class NewPages:
    """What one page brings that is new.

    Parameters
    ----------
    flow_per_s : new addresses per second times what each is worth, >= 0
    shared : share of them that others find too, in [0, 1]
    lead_s : how much later those do, on average, > 0
    n_per_s : addresses per second
    """

    flow_per_s: float
    shared: float = 0.0
    lead_s: float = 1.0
    n_per_s: float = 0.0


def birth_worth(new: NewPages, age_s: float) -> float:
    """Return what a visit at an age is worth for what it finds, in weight times seconds."""
    alone = 0.5 * age_s * age_s
    lead_s = max(new.lead_s, 1e-6)
    with_others = lead_s * lead_s * visit_gain(age_s / lead_s)
    return new.flow_per_s * ((1.0 - new.shared) * alone + new.shared * with_others)


def birth_interval(new: NewPages, price: float, longest_s: float) -> float:
    """Return the age at which a visit is worth the price for what it finds alone.

    Parameters
    ----------
    price : in weight times seconds, >= 0
    longest_s : returned where that comes later, or never
    """
    if new.flow_per_s <= 0.0 or birth_worth(new, longest_s) <= price:
        return longest_s
    low, high = min(sqrt(2.0 * price / new.flow_per_s), longest_s), longest_s
    for _ in range(_STEPS):
        if high - low <= 1e-6 * high:
            break
        middle = 0.5 * (low + high)
        low, high = (low, middle) if birth_worth(new, middle) > price else (middle, high)
    return high


def learn_births(
    births: Sequence[Birth], usual_worth: float, price: float = 0.0, fresh_s: float = 0.0
) -> dict[int, NewPages]:
    """Learn what each page brings; those of a host and kind lend each other strength.

    Parameters
    ----------
    births : what was found
    usual_worth : of a page, > 0, for hosts that have brought none
    price : of a fetch, in weight times seconds: a page that is found has to be fetched as well
    fresh_s : time for which the copy of a page is fresh, that one fetch buys; 0: do not count that

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
    if fresh_s > 0.0:  # what is left of it when its first fetch is paid for
        worth = np.maximum(worth - price / fresh_s, 0.0)
    return {
        one.page_id: NewPages(
            float(rate * each),
            shared=min(one.again / max(one.n, one.again, 1e-9), 1.0),
            lead_s=max(one.lead_s / one.again, 1.0) if one.again > 0 else 1.0,
            n_per_s=float(rate),
        )
        for one, rate, each in zip(seen, rates.tolist(), worth.tolist(), strict=True)
        if rate * each > 0.0 and (one.n > 0.0 or one.kind is not Kind.PAGE)
    }


def _numbered(names: Sequence[object]) -> NDArray[np.int64]:
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)
