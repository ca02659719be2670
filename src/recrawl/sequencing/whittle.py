"""Whittle's index policy: serve the page whose index at its age is highest."""

import numpy as np

from recrawl.kernels.arrays import Integers
from recrawl.kernels.orders import serve_highest
from recrawl.sequencing.costs import AgeingCosts
from recrawl.sequencing.streams import KeptStream


class WhittleStream(KeptStream):
    r"""Accesses by Whittle's index of exponential costs, exact and O(n) a step: for few pages.

    Parameters
    ----------
    costs : worths and decays of the pages

    Notes
    -----
    :math:`W(d) = a\,[1 - h^d (1 + d(1-h))]`: the price of an access at which serving the page at
    age d and at age d + 1 are equally good. It needs no frequencies.
    """

    _ARRAYS = ("worths", "decays", "ages")

    def __init__(self, costs: AgeingCosts) -> None:
        self._worths, self._decays = costs.worths, costs.decays
        # golden-spread first ages, so that equal pages are not all served together
        phases = np.arange(1, costs.n_pages + 1) * ((5**0.5 - 1) / 2) % 1
        self._ages = 1 + (phases * costs.n_pages).astype(np.int64)

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        serve_highest(self._worths, self._decays, -np.expm1(-self._decays), self._ages, out)
        return out
