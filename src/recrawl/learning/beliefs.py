"""Beliefs about change rates, learned visit by visit in constant memory, and forgotten.

Rates are spread over many powers of ten and no law of two numbers fits them, and they do not last:
pages sleep, and have days and years. So the chance of each of some twenty rates is kept for each
page, the shares of the rates among pages are learned, and a page's rate may be drawn anew at any
time, at several paces beside each other; a pace counts by how well it has predicted.
"""

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Integers, Singles, Vector
from recrawl.kernels.compile import HAS_COMPILER

Belief = tuple[Singles, Singles, Integers, Vector, Vector, Vector]
_VAGUE_PAGES: Final = 3.0
_VAGUE_SHARE: Final = 0.1  # of each law, whatever is learned
_PARENT_PAGES: Final = 10.0
_ROUNDS: Final = 3
_LEAST_GAIN: Final = 5.0  # in the logarithm of the likelihood, for a law at a higher scale
_DOUBT: Final = 1.0  # the same, for each octave that it is higher
_SAMPLE: Final = 20_000  # pages that scales are found from
_AT_ONCE: Final = 1_024  # of them
_MANY: Final = 30  # pages that speak for all groups
_FEW: Final = 200_000  # pages or visits that numpy is through with before a compiler is loaded
_LEAST_SHARE: Final = 1e-30  # of a rate in a law: so that no evidence exceeds its inverse
PRIOR_SHAPE: Final = 0.5  # of the gamma law of change rates before any learning
OCTAVES: Final = (-9, 15)  # rates about the prior's mean, as powers of two


class RateBeliefs:
    r"""Posteriors of many change rates that may be drawn anew, on a grid of rates.

    Parameters
    ----------
    n_pages : pages
    prior_rate, prior_shape : of the gamma law that rates follow before any learning; its average,
        1/time, and its shape, > 0
    half_lives : times after which half of all pages have drawn a new rate, > 0; the first is
        infinite. Which of them holds for a page is learned
    octaves : the rates are the prior's average times two to these powers, the last excluded; 24
    scales : octaves by which rates may turn out to be higher than the prior says; 0: its average
        is of the right size, as one that follows from the budget is

    Notes
    -----
    A hidden Markov model. At rate :math:`\lambda_j` a visit after t finds no change with
    probability :math:`e^{-\lambda_j t}`; by then the rate has been drawn anew with probability
    :math:`1 - 2^{-t/h}`, from the law of the page's group. A page's evidence :math:`L_j` is the
    posterior divided by that law, so a law that is learned better counts for all that was seen:

    .. math:: L_j \leftarrow 2^{-t/h} L_j \ell_j + (1 - 2^{-t/h}) \sum_i p_i L_i \ell_i .

    The powers of two make :math:`e^{-\lambda_j t}` one exponential and squarings.
    O(half-lives * rates) time for each visit, four bytes for each of them and page.
    """

    def __init__(
        self,
        n_pages: int,
        *,
        prior_rate: float,
        prior_shape: float = PRIOR_SHAPE,
        half_lives: Sequence[float] = (np.inf,),
        octaves: tuple[int, int] = OCTAVES,
        scales: int = 0,
    ) -> None:
        for name, value in (("prior_rate", prior_rate), ("prior_shape", prior_shape)):
            if not (np.isfinite(value) and value > 0):
                raise InvalidModel(f"{name} must be finite and > 0, got {value!r}")
        if not half_lives or half_lives[0] < np.inf or not all(one > 0 for one in half_lives):
            raise InvalidModel(
                f"half_lives must be > 0, the first infinite; got {list(half_lives)}"
            )
        if octaves[1] - octaves[0] != OCTAVES[1] - OCTAVES[0]:
            raise InvalidModel(f"octaves must span {OCTAVES[1] - OCTAVES[0]}, got {octaves}")
        self.numpy_up_to = _FEW  # 0: compiled loops, for who asks a thousand times
        self.half_lives: Vector = np.array(half_lives, np.float64)
        self.rates_known: Vector = np.asarray(prior_rate * 2.0 ** np.arange(*octaves), np.float64)
        relative = self.rates_known / prior_rate
        # The law before any learning, and what it would be about averages that are higher.
        above = relative / 2.0 ** np.arange(1 + scales)[:, None]
        about = above**prior_shape * np.exp(-prior_shape * above)
        self._scales: Vector = about / about.sum(axis=1, keepdims=True)
        self.laws: Singles = _single(self._scales[:1])
        self._scale_of: Integers = np.zeros(1, np.int64)  # of each group
        self.law: Integers = np.zeros(n_pages, np.int64)
        self.shares: Vector = np.full(len(half_lives), 1.0 / len(half_lives))
        self.evidence: Singles = np.ones((n_pages, len(half_lives), relative.size), np.float32)

    def __len__(self) -> int:
        return self.law.size

    def arrays(self) -> Belief:
        """Return what the kernels of :mod:`recrawl.kernels.revisits` call a belief."""
        ends = np.asarray(np.log(2.0) / self.half_lives, np.float64)
        return self.evidence, self.laws, self.law, self.rates_known, ends, self.shares

    def observe(
        self,
        page: Integers,
        elapsed: Vector,
        changed: Flags,
        lapse: Vector | None = None,
    ) -> Vector:
        """Take visits into account, each page's in the order of time.

        Parameters
        ----------
        page : shape (v,), 0 <= page < n_pages
        elapsed : shape (v,), time since the visit before, > 0
        changed : shape (v,)
        lapse : shape (v,), time within which the rate may have been drawn anew, >= 0; default:
            the time elapsed

        Returns
        -------
        Vector
            Shape (v,): the chance that each visit's finding had been given beforehand.

        Raises
        ------
        InvalidModel
            A number is outside its domain.
        """
        if page.size and not 0 <= page.min() <= page.max() < len(self):
            raise InvalidModel(f"page must lie in 0 .. {len(self) - 1}")
        if not np.all(np.isfinite(elapsed) & (elapsed > 0)):
            raise InvalidModel("elapsed must be finite and > 0")
        predicted = np.empty(page.size)
        lapse = elapsed if lapse is None else lapse
        loops = self._loops(page.size)
        loops.observe_visits(page, elapsed, changed, lapse, self.arrays(), predicted)
        return predicted

    def _loops(self, size: int) -> ModuleType:
        """Return the loops over so many pages or visits: in numpy, or compiled."""
        if size <= self.numpy_up_to or not HAS_COMPILER:
            from recrawl.kernels import revisit_vectors

            return revisit_vectors
        from recrawl.kernels import revisits

        return revisits

    def forget_all(self, rows: Integers) -> None:
        """Make these pages as unknown as at first, but for the laws of their groups."""
        self.evidence[rows] = 1.0

    def grow(self, n_pages: int) -> None:
        """Add pages that nothing is known of."""
        more = n_pages - len(self)
        if more > 0:
            known, self.evidence = (
                self.evidence,
                np.ones((n_pages, *self.evidence.shape[1:]), np.float32),
            )
            self.evidence[: n_pages - more] = known
            self.law = np.append(self.law, np.zeros(more, np.int64))

    def learn(self, rows: Integers, groups: Sequence[Integers] = ()) -> None:
        """Learn the laws of groups, and how many pages forget at each pace.

        Parameters
        ----------
        rows : pages that exist, which are learned from
        groups : for each level from coarse to fine, the group of each page, shape (n,); a
            group is drawn towards the one around it by ten pages of that

        Notes
        -----
        Steps of expectation maximisation, each the average of the pages' posteriors: half what
        they were over their lives, half what they are now. A tenth of each law stays what it was
        before any learning: visits at like intervals cannot tell how calm the calmest pages are,
        maximising the likelihood takes what they cannot tell for impossible, and then pages that
        were found changed would never be worth a visit again. O(pages) for each.
        """
        if not rows.size:
            return
        finest = groups[-1] if groups else np.zeros(len(self), np.int64)
        if int(finest.max(initial=0)) + 1 != self.laws.shape[0] or not np.array_equal(
            self.law, finest
        ):
            first = np.zeros(int(finest.max(initial=0)) + 1, np.int64)
            self.laws, self._scale_of = self.laws[first], self._scale_of[first]
            self.law = np.ascontiguousarray(finest, np.int64)
        if self._scales.shape[0] > 1:
            self._find_scales(rows)
        parents = _parents([np.zeros(len(self), np.int64), *groups])
        for _ in range(_ROUNDS):
            tally, classes = np.zeros(self.laws.shape), np.ones(self.half_lives.size)
            self._loops(rows.size).tally_rates(rows, self.arrays(), tally, classes)
            laws = _laws(tally, parents, self._scales[0])
            vague = self._scales[self._scale_of]
            self.laws = _single((1.0 - _VAGUE_SHARE) * laws + _VAGUE_SHARE * vague)
            self.shares = classes / classes.sum()

    def _find_scales(self, rows: Integers) -> None:
        """Begin anew, at a higher scale, where a group changes much faster than its law can say.

        A gamma law falls off so fast that expectation maximisation would need hours of plans to
        reach rates a hundred times its average. The law of a group is replaced by what it would
        be about a higher average where that makes what was seen of its pages more likely.
        """
        some = rows[:: -(-rows.size // _SAMPLE)]
        gains = np.zeros((self.laws.shape[0], self._scales.shape[0]))
        n_seen = 0
        for start in range(0, some.size, _AT_ONCE):
            part = some[start : start + _AT_ONCE]
            seen, law = self.evidence[part, 0].astype(np.float64), self.law[part]
            own = np.einsum("pj,pj->p", seen, self.laws[law]) + _LEAST_SHARE
            np.add.at(gains, law, np.log((seen @ self._scales.T + _LEAST_SHARE) / own[:, None]))
            n_seen += int(np.count_nonzero(np.ptp(seen, axis=1)))
        least = _LEAST_GAIN + _DOUBT * np.arange(gains.shape[1])
        # All groups together may show what each has seen too little of; but not a handful of pages,
        # which may have been looked at again because they change.
        common = int((gains.sum(axis=0) - least).argmax())
        together = gains[:, common].sum() > least[common]
        together &= n_seen >= _MANY
        best = (gains - least).argmax(axis=1)
        alone = (gains - least).max(axis=1) > 0.0
        best = np.where(alone, best, np.where(together & (gains[:, common] >= 0.0), common, 0))
        higher = np.flatnonzero(best > 0)
        self._scale_of[higher] = best[higher]
        self.laws[higher] = _single(self._scales[best[higher]])

    def intervals(self, rows: Integers, prices: Vector, start: Vector, bounds: Vector) -> Vector:
        """Age at which a visit of each page is worth its price per weight.

        Parameters
        ----------
        rows : pages
        prices : shape (rows,), in time; infinite: never
        start : shape (rows,), an age near the answer, or any
        bounds : grain, shortest and longest interval, and patience with pages in doubt
        """
        out = np.empty(rows.size)
        self._loops(rows.size).fill_intervals(rows, prices, start, self.arrays(), bounds, out)
        return out

    def rates(self, rows: Integers) -> tuple[Vector, Vector]:
        """Posterior mean of each rate, 1/time, and the standard error of its logarithm."""
        mean, square = np.empty((2, rows.size))
        self._loops(rows.size).fill_moments(rows, self.arrays(), mean, square)
        return mean, np.sqrt(np.log(np.maximum(square / (mean * mean), 1.0 + 1e-12)))

    def worths(self, rows: Integers, ages: Vector, bounds: Vector) -> Vector:
        """Return what a visit of each page is worth at its age, weight one, in time.

        Parameters
        ----------
        rows : pages
        ages : shape (rows,), time since the last visit, >= 0
        bounds : see :mod:`recrawl.kernels.revisits`; only the first is used
        """
        out = np.empty(rows.size)
        self._loops(rows.size).fill_worth(rows, ages, self.arrays(), bounds, out)
        return out

    def chances(self, rows: Integers) -> Vector:
        """Posterior chance of each rate, shape (rows, rates)."""
        evidence = self.evidence[rows].astype(np.float64)
        weighed = np.einsum("h,phr->pr", self.shares, evidence) * self.laws[self.law[rows]]
        return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))

    def freshness(self, rows: Integers, crawl_rates: Vector) -> Vector:
        r"""Share of time that even visits keep each page fresh, by what is believed at present.

        Parameters
        ----------
        rows : pages
        crawl_rates : shape (rows,), 1/time, > 0

        Notes
        -----
        :math:`\sum_j p_j (1 - e^{-\lambda_j / r}) r / \lambda_j`, which is more than at the average
        rate: freshness is convex in the rate of change. O(rows * rates).
        """
        out = np.empty(rows.size)
        self._loops(rows.size).fill_freshness(rows, self.arrays(), crawl_rates, out)
        return out


def _single(laws: Vector) -> Singles:
    return np.maximum(laws, _LEAST_SHARE).astype(np.float32)


def _parents(levels: Sequence[Integers]) -> list[Integers]:
    """The group around each group, for each level but the first."""
    found = []
    for coarse, fine in pairwise(levels):
        around = np.zeros(int(fine.max(initial=0)) + 1, np.int64)
        around[fine] = coarse
        found.append(around)
    return found


def _laws(tally: Vector, parents: list[Integers], vague: Vector) -> Vector:
    """Shares of rates in each finest group, from the sums over its pages."""
    tallies = [tally]
    for around in reversed(parents):
        above = np.zeros((int(around.max(initial=0)) + 1, tally.shape[1]))
        np.add.at(above, around, tallies[0])
        tallies.insert(0, above)
    law = tallies[0] + _VAGUE_PAGES * vague
    law /= law.sum(axis=1, keepdims=True)
    for around, own in zip(parents, tallies[1:], strict=True):
        law = own + _PARENT_PAGES * law[around]
        law /= law.sum(axis=1, keepdims=True)
    return np.asarray(law)


def long_run_rate(
    n_visits: Vector, n_changed: Vector, visit_rate: float, stabiliser: float = 1.0
) -> Vector:
    r"""Change rate from counts alone, where visits form a Poisson process.

    Parameters
    ----------
    n_visits, n_changed : shape (n,), 0 <= n_changed <= n_visits
    visit_rate : p, 1/time, > 0
    stabiliser : c, > 0; keeps the estimate finite where every visit found a change

    Notes
    -----
    :math:`p X / (n + c - X)`, consistent by the law of large numbers, one counter a page.

    References
    ----------
    K. Avrachenkov, K. Patil, G. Thoppe, "Online algorithms for estimating change rates of web
    pages", 2020.
    """
    if not (visit_rate > 0 and stabiliser > 0):
        raise InvalidModel("visit_rate and stabiliser must be > 0")
    return np.asarray(visit_rate * n_changed / (n_visits + stabiliser - n_changed))
