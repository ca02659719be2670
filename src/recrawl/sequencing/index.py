"""The lane index: serve the page whose lateness, weighted by its urgency, is greatest."""

import numpy as np
from numpy.typing import ArrayLike

from recrawl.kernels.arrays import Integers
from recrawl.kernels.calendar import serve_by_index
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.queue import DueQueue, DueStream, golden_phases

N_LANES = 16


class IndexStream(DueStream):
    r"""Accesses by lateness and urgency, whatever the number of pages; pages may come and go.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
        Wanted shares of all accesses; crawl rates will do.
    urgencies : shape (n,), > 0 where the frequency is, or None for frequencies squared
        Second derivative of the page's cost at its gap; squares are right where weights are
        proportional to change rates.
    n_lanes : lanes of pages of like urgency

    Notes
    -----
    Each page is due a gap :math:`1/f` after it was last served, less 0.3 of what it was late (so
    its due times keep to a grid in the long run, and the even spread of the start is not lost). By
    the slot-regret identity (:func:`recrawl.sequencing.evaluation.measure_regret`) serving a page
    :math:`\delta` slots off its gap costs :math:`\tfrac12 s \delta^2`, with urgency :math:`s =
    a\ell^2 e^{-z}`. A slot's wait therefore costs :math:`s \delta` more for a late page, which is
    the order among late ones; among early ones :math:`\sqrt s \delta` was best in trials. Only the
    earliest page of each of the lanes competes. O(lanes) time a step with O(1) amortised upkeep;
    40 bytes a page.

    When pages come, go or change, the total frequency changes and with it the length of a slot in
    due time, so all gaps stretch alike and no page jumps.

    References
    ----------
    P. Whittle, "Restless bandits: activity allocation in a changing world", Journal of Applied
    Probability 25A, 1988.
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        urgencies: ArrayLike | None = None,
        *,
        n_lanes: int = N_LANES,
    ) -> None:
        shares = check_frequencies(frequencies)
        weight = shares**2 if urgencies is None else urgencies
        self.queue = DueQueue.of(shares, weight, golden_phases(shares), n_lanes)

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        queue = self.queue
        serve_by_index(queue.pages, queue.lanes, queue.buckets, queue.clock, out)
        return out

    def add(self, frequency: float, urgency: float) -> int:
        """Let a page in and return its number; its frequency is a share of all at the start."""
        return self.queue.add(frequency, urgency)

    def change(self, page: int, frequency: float, urgency: float) -> None:
        """Give a page a new frequency and urgency."""
        self.queue.change(page, frequency, urgency)
