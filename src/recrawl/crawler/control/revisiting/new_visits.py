"""Visits that have not been told before, where each page's latest are told again each time."""

import numpy as np

from recrawl.kernels.arrays import Flags, Integers


class NewVisits:
    """Counts the visits of each page that were told."""

    def __init__(self) -> None:
        self._n_known = np.zeros(0, np.int64)

    def among(self, rows: Integers, page: Integers) -> Flags:
        """Tell which visits are new, and count them as told: of each page's, those that stand last.

        Parameters
        ----------
        rows : shape (n,), pages
        page : shape (v,), ascending place in ``rows`` of each visit; each page's in order of time
        """
        self._grow(rows)
        n_visits = np.bincount(page, minlength=rows.size)
        place = np.arange(page.size) - (np.cumsum(n_visits) - n_visits)[page]
        # As many as the frontier keeps to tell: then the latest alone is new.
        known = np.minimum(self._n_known[rows], n_visits - 1)
        self._n_known[rows] = n_visits
        return np.asarray(place >= known[page])

    def recall(self, rows: Integers, n_told: Integers) -> None:
        """Count visits as told that were told to another one before.

        Parameters
        ----------
        rows, n_told : shape (n,), pages, and how many visits of each
        """
        self._grow(rows)
        self._n_known[rows] = n_told

    def _grow(self, rows: Integers) -> None:
        missing = int(rows.max(initial=-1)) + 1 - self._n_known.size
        self._n_known = np.append(self._n_known, np.zeros(max(missing, 0), np.int64))
