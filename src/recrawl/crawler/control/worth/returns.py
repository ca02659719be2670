r"""Revisits of pages that are gone, due by the worth of such a visit.

A page that has come back is missing from the index, as a page that has changed is stale in it. So a
gone page is one that changes at the rate :math:`\rho` at which such pages return, and is due when a
visit is worth the price: :math:`(w / \rho) (1 - (1 + \rho t) e^{-\rho t}) = p`. The rate is learned
from all gone pages of the crawl together: returns over the time that they have been away.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from recrawl.crawler.control.worth.tiers import visit_gain

_PRIOR_RETURNS: Final = 0.5
_PRIOR_AWAY_S: Final = 180 * 86_400.0  # half a return in half a year, before anything is known


@dataclass(slots=True)
class Returns:
    """Rate at which gone pages come back.

    Parameters
    ----------
    returned : pages that were gone and answered with content again
    away_s : seconds that pages now gone have been away, all together
    price : of a visit, in weight times seconds; 0: no plan is there yet
    n_away : pages that are gone
    """

    returned: float = 0.0
    away_s: float = 0.0
    price: float = 0.0
    n_away: int = 0

    @property
    def rate_per_s(self) -> float:
        """At which a gone page returns: the mean of its gamma posterior."""
        return (_PRIOR_RETURNS + self.returned) / (_PRIOR_AWAY_S + self.away_s)

    def looks_per_s(self, clamp: Callable[[float], float]) -> float:
        """Return the visits per second that pages take that are gone, each of weight 1.

        Parameters
        ----------
        clamp : moves an interval in seconds into the bounds of all
        """
        return self.n_away / clamp(self.interval_s(1.0))

    def interval_s(self, weight: float) -> float:
        """Return how long after a visit the next is worth its price; infinite where it never is.

        Parameters
        ----------
        weight : of the page, >= 0

        Notes
        -----
        By bisection on a monotone function, to a relative 1e-9; without a price infinite.
        """
        rate = self.rate_per_s
        if self.price <= 0.0 or weight / rate <= self.price:
            return inf
        target = self.price * rate / weight  # in (0, 1)
        low, high = 0.0, 1.0
        while visit_gain(high) < target:
            high *= 2.0
        while high - low > 1e-9 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if visit_gain(middle) < target else (low, middle)
        return high / rate
