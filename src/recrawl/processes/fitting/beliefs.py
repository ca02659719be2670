"""What is believed of change rates, learned visit by visit in constant memory, and forgotten.

Rates drift: a page has days, years and sleep. Each page therefore is believed in by several
memories at once, which forget at different half-lives, and a memory counts by how well it has
predicted this page and all pages so far.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.processes.fitting.gamma_priors import digamma, learn_gamma_priors

__all__ = ["RateBeliefs", "long_run_rate"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]


class RateBeliefs:
    r"""Gamma posteriors of many change rates, one for each page and memory.

    Parameters
    ----------
    n_pages : pages
    prior_rate, prior_shape : the prior's average, 1/time, and its shape, > 0, before any learning
    half_lives : of the memories, time > 0; infinite: never forgets

    Notes
    -----
    A visit after time t finds no change with probability
    :math:`p_0 = (\beta / (\beta + t))^\alpha`; then :math:`\beta` grows by t. A visit that finds
    one leaves a posterior that is no gamma law; the gamma law with its exact first two moments
    takes its place: :math:`E\Delta = \frac{\alpha}{\beta} \frac{1 - p_0^{1 + 1/\alpha}}{1 - p_0}`
    and alike. What visits told decays towards the prior by half in each half-life. O(memories) time
    for each visit and three numbers of memory for each page and half-life.
    """

    def __init__(
        self,
        n_pages: int,
        *,
        prior_rate: float,
        prior_shape: float = 0.5,
        half_lives: Sequence[float] = (np.inf,),
    ) -> None:
        for name, value in (("prior_rate", prior_rate), ("prior_shape", prior_shape)):
            if not (np.isfinite(value) and value > 0):
                raise InvalidModel(f"{name} must be finite and > 0, got {value!r}")
        if not half_lives or not all(one > 0 for one in half_lives):
            raise InvalidModel(f"half_lives must be > 0, at least one; got {list(half_lives)}")
        n_memories = len(half_lives)
        self._first = (prior_shape, prior_shape / prior_rate)
        self.events, self.exposure, self.score = np.zeros((3, n_pages, n_memories))
        self.shape = np.full(n_pages, prior_shape)
        self.time = np.full(n_pages, prior_shape / prior_rate)
        self.half_lives = np.array(half_lives, np.float64)
        self.log_shares = np.full(n_memories, -np.log(n_memories))

    def __len__(self) -> int:
        return self.shape.size

    def arrays(self) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector, Vector]:
        """Return what the kernels of :mod:`recrawl.kernels.revisits` call a belief."""
        return (
            self.events,
            self.exposure,
            self.score,
            self.shape,
            self.time,
            self.half_lives,
            self.log_shares,
        )

    def observe(self, page: Integers, elapsed: Vector, changed: NDArray[np.bool_]) -> None:
        """Take visits into account, each page's in the order of time.

        Parameters
        ----------
        page : shape (v,), 0 <= page < n_pages
        elapsed : shape (v,), time since the visit before, > 0
        changed : shape (v,)

        Raises
        ------
        InvalidModel
            A number is outside its domain.
        """
        from recrawl.kernels.revisits import observe_visits

        if page.size and not 0 <= page.min() <= page.max() < len(self):
            raise InvalidModel(f"page must lie in 0 .. {len(self) - 1}")
        if not np.all(np.isfinite(elapsed) & (elapsed > 0)):
            raise InvalidModel("elapsed must be finite and > 0")
        observe_visits(page, elapsed, changed, self.arrays())

    def forget_all(self, rows: Integers) -> None:
        """Make these pages as unknown as at first, but for their priors."""
        self.events[rows] = self.exposure[rows] = self.score[rows] = 0.0

    def grow(self, n_pages: int) -> None:
        """Add pages that nothing is known of."""
        more = n_pages - len(self)
        for name in ("events", "exposure", "score"):
            kept = getattr(self, name)
            setattr(self, name, np.vstack([kept, np.zeros((more, self.half_lives.size))]))
        self.shape = np.append(self.shape, np.full(more, self._first[0]))
        self.time = np.append(self.time, np.full(more, self._first[1]))

    def learn(
        self, rows: Integers, groups: Sequence[Integers] = (), *, fastest: float = np.inf
    ) -> None:
        """Learn priors and the shares of the memories from the pages in ``rows``.

        Parameters
        ----------
        rows : pages that exist
        groups : for each level from coarse to fine, the group of each of ``rows``
        fastest : what visits could tell from more at the most, 1/time: a page that is
            always found changed has no upper bound of its own, and must not drag the priors along
        """
        if not rows.size:
            return
        for _ in range(3):
            a = self.shape[rows] + self.events[rows, 0]
            b = self.time[rows] + self.exposure[rows, 0]
            means = np.minimum(a / b, fastest)
            log_means = digamma(a) - np.log(a / means)
            shapes, rates = learn_gamma_priors(means, log_means, groups)
            self.shape[rows], self.time[rows] = shapes, shapes / rates
        known = rows[np.any(self.score[rows] != 0.0, axis=1)]
        for _ in range(3):
            shares = self.shares(known)
            n = self.half_lives.size
            self.log_shares = np.log((shares.sum(axis=0) + 1.0) / (known.size + n))

    def shares(self, rows: Integers) -> Vector:
        """How much each memory counts for each page, shape (rows, memories)."""
        logs = self.score[rows] + self.log_shares
        shares = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predictive_scores(self) -> Vector:
        """Log likelihood of every visit as each memory predicted it, summed, shape (memories,)."""
        return np.asarray(self.score.sum(axis=0))

    @property
    def best_half_life(self) -> float:
        """The half-life that predicted all visits best."""
        return float(self.half_lives[np.argmax(self.predictive_scores())])

    def rates(self, rows: Integers) -> tuple[Vector, Vector]:
        """Posterior mean of each rate, 1/time, and the standard error of its logarithm."""
        shares = self.shares(rows)
        a = self.shape[rows, None] + self.events[rows]
        b = self.time[rows, None] + self.exposure[rows]
        mean = np.sum(shares * a / b, axis=1)
        square = np.sum(shares * a * (a + 1.0) / (b * b), axis=1)
        return mean, np.sqrt(np.log(np.maximum(square / (mean * mean), 1.0 + 1e-12)))


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
