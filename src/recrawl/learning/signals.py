"""Quality of change signals: precision and recall of a source, learned from visits.

A sitemap's lastmod, a feed or a Last-Modified header claims that a page has changed. Sources differ
from truth to noise, so none is trusted: each is weighed by what it proved to be worth.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector

_SHAPE: Final = 0.5  # of the gamma law of change rates
_EXACT: Final = 1e-5  # of the logarithm of each number, by which the last step moved it at most
_STEPS: Final = 2_000
_SURE: Final = 0.999
_LEAP: Final = 30.0  # steps that one is lengthened to at most
_FURTHEST: Final = 5.0  # in the logarithm of each number


@dataclass(frozen=True, slots=True)
class SignalQuality:
    """A source of signals, as its visits show it.

    Parameters
    ----------
    precision : share of signals that stand for a change
    recall : share of changes that are signalled
    change_rate, signal_rate : per page, 1/time
    silent_rate : changes without a signal, 1/time
    log_odds : what one signal takes from the logarithm of the chance of being fresh, >= 0
    worth_time : each signal counts as so much more elapsed time
    log_odds_error : its standard error
    iterations, residual : of the iteration
    log_likelihood : of the visits, and of the prior of rates
    """

    precision: float
    recall: float
    change_rate: float
    signal_rate: float
    silent_rate: float
    log_odds: float
    worth_time: float
    log_odds_error: float
    iterations: int
    residual: float
    log_likelihood: float


def learn_signal_quality(
    elapsed: Vector,
    n_signals: Vector,
    changed: Flags,
    *,
    pages: Integers | None = None,
    unheard: Vector | float = 0.0,
    prior_visits: float = 1.0,
    prior_told: float = 0.5,
    precision: float | None = None,
) -> SignalQuality:
    r"""Learn how far a source's signals can be relied on.

    Parameters
    ----------
    elapsed : shape (v,), time between visits, > 0
    n_signals : shape (v,), signals between them, >= 0
    changed : shape (v,)
    pages : shape (v,), numbers of the pages that were visited; default: all change at one rate
    unheard : shape (v,), part of the time elapsed of which nobody heard what was signalled; what
        is below 0 or beyond that time counts as the end of it
    prior_visits : weight of the prior, that a signal says nothing, > 0
    prior_told : changes that were signalled, > 0, beside half a silent one, before any is known:
        what settles the recall where every visit followed a signal
    precision : in (0, 1), to be taken as given, so that likelihoods tell what visits say of it;
        default: it is learned

    Returns
    -------
    SignalQuality
        Where the posterior has a maximum.

    Raises
    ------
    InvalidModel
        A number is outside its domain, or there is no visit.
    NotConverged
        After 2,000 steps, as where next to nothing was heard.

    Notes
    -----
    A page changes at a rate :math:`\lambda` of its own, a share r of that is signalled, and of each
    page as many signals are false, at rate f. After time t with n signals, of which a part u was
    not heard, it is fresh with probability

    .. math:: \exp(-(1 - r) \lambda t - r \lambda u) (1 + r \lambda / f)^{-n}.

    The rates are gamma distributed, of shape 1/2. Expectation and maximization in turn find all:
    how many changes were silent, signalled or not heard of; then rates, recall and false signals.
    A page that is visited because of a signal tells nothing of silent changes, and one that is
    seldom visited changes seldom: with one rate for all, or with what is believed of each, the
    recall would be much too high. Steps are lengthened as in the squared method of Varadhan and
    Roland (2008). The probability is that of the model of noisy signals of Busa-Fekete et al.
    (2025), where precision is :math:`r \bar\lambda / (r \bar\lambda + f)`. O(visits) a step.
    """
    if not elapsed.size or not np.all(np.isfinite(elapsed) & (elapsed > 0)):
        raise InvalidModel("elapsed must be finite and > 0, of at least one visit")
    if not (0.0 < prior_visits < np.inf and 0.0 < prior_told < np.inf):
        raise InvalidModel(f"priors must be > 0, got {prior_visits:g} and {prior_told:g}")
    if not np.all(np.isfinite(n_signals) & (n_signals >= 0)):
        raise InvalidModel("n_signals must be finite and >= 0")
    missed = np.clip(np.broadcast_to(unheard, elapsed.shape), 0.0, elapsed)
    if not np.all(np.isfinite(missed)):
        raise InvalidModel("unheard must be finite")
    own = np.zeros(elapsed.size, np.int64)
    if pages is not None:
        ordered = np.sort(pages)
        own = np.searchsorted(ordered[np.append(True, ordered[1:] != ordered[:-1])], pages)
    if precision is not None and not 0.0 < precision < 1.0:
        raise InvalidModel(f"precision must lie in (0, 1), got {precision:g}")
    priors = prior_visits, prior_told
    known = _SignalledVisits(elapsed, missed, n_signals, changed, own, priors, precision)
    at, iteration, residual = known.guess(), 0, np.inf
    while not residual < _EXACT:
        if iteration >= _STEPS or np.isnan(residual):
            raise NotConverged("signal quality", iterations=iteration, residual=residual)
        iteration += 2
        once = known.step(at)
        twice = known.step(once)
        first, second = once - at, twice - 2.0 * once + at
        residual = float(np.max(np.abs(twice - once)))
        lengths = np.linalg.norm(first), max(float(np.linalg.norm(second)), 1e-150)
        leap = min(max(float(lengths[0]) / lengths[1], 1.0), _LEAP)
        further = np.clip(leap * (2.0 * first + leap * second), -_FURTHEST, _FURTHEST)
        at = twice if residual < _EXACT else at + further
    recall, false, rates = known.of(at)
    rate = float(rates.mean())
    share = recall * rate / (recall * rate + false)
    silent, log_odds = (1.0 - recall) * rate, float(np.log1p(recall * rate / false))
    return SignalQuality(
        precision=share,
        recall=recall,
        change_rate=rate,
        signal_rate=recall * rate + false,
        silent_rate=silent,
        log_odds=log_odds,
        worth_time=log_odds / silent,
        log_odds_error=known.log_odds_error(at, log_odds),
        iterations=iteration,
        residual=residual,
        log_likelihood=known.log_likelihood(at),
    )


def page_precisions(precisions: Vector, rates: Vector, sources: Integers) -> Vector:
    r"""Return the share of the signals of each page that stand for a change.

    Parameters
    ----------
    precisions : shape (n,), in [0, 1], share of all signals of the page's source
    rates : shape (n,), change rate of each page, 1/time, > 0
    sources : shape (n,), number of the source of each

    Notes
    -----
    As many are false of each page (as where a site is built anew): of one that changes seldom most
    are. With :math:`\bar\lambda` the mean rate of the source's pages it is
    :math:`q \lambda / (q \lambda + (1 - q) \bar\lambda)`, never surer than 0.999. O(n).
    """
    if not rates.size:
        return rates
    means = np.bincount(sources, rates) / np.maximum(np.bincount(sources), 1)
    true = np.minimum(precisions, _SURE) * rates
    false = (1.0 - np.minimum(precisions, _SURE)) * means[sources]
    return np.asarray(np.minimum(true / (true + false), _SURE))


class _SignalledVisits:
    """Visits, and how recall, false signals and rates of pages follow from each other.

    The numbers that are looked for are the log-odds of the recall, and logarithms of the rest.
    """

    def __init__(
        self,
        elapsed: Vector,
        missed: Vector,
        n: Vector,
        changed: Flags,
        pages: Integers,
        priors: tuple[float, float],
        precision: float | None,
    ) -> None:
        prior_visits, self._prior_told = priors
        self._precision = precision
        self._all = elapsed, missed, n, pages, changed
        self._n_pages = int(pages.max()) + 1
        self._known = np.bincount(pages, elapsed, self._n_pages)
        self._heard = float((elapsed - missed).sum() + prior_visits * elapsed.mean())
        self._n, self._prior = float(n.sum()), prior_visits
        self._rate = (float(np.count_nonzero(changed)) + 0.5) / float(elapsed.sum())
        self._changed = elapsed[changed], missed[changed], n[changed], pages[changed]

    def guess(self) -> Vector:
        """Return where to start: half of the changes signalled, a tenth of the signals false."""
        rate = np.log(self._rate)
        false = np.log((0.1 * self._n + self._prior) / self._heard)
        return np.concatenate([[0.0, false], np.full(self._n_pages, rate)])

    def of(self, at: Vector) -> tuple[float, float, Vector]:
        """Return recall, rate of false signals, and rates of pages."""
        recall, false = 1.0 / (1.0 + np.exp(-at[0])), np.exp(at[1])
        return float(recall), float(false), np.exp(at[2:])

    def _hazards(self, at: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return changes as expected: silent, unheard, by what was signalled; and if there is one.

        The last is one over the chance that there is one.
        """
        recall, false, rates = self.of(at)
        elapsed, missed, n, pages = self._changed
        own = rates[pages]
        silent, unheard = (1.0 - recall) * own * elapsed, recall * own * missed
        odds = recall * own / false
        hazard = np.maximum(silent + unheard + n * np.log1p(odds), 1e-300)
        return silent, unheard, n * odds / (1.0 + odds), 1.0 / -np.expm1(-hazard)

    def step(self, at: Vector) -> Vector:
        """Count changes as these numbers have it; return the likeliest numbers for the counts."""
        silent, unheard, told, given = self._hazards(at)
        silent, unheard, told = given * silent, given * unheard, given * told
        n_silent, n_told = silent.sum(), told.sum()
        # Half an imaginary page holds the mean where all visits found the same.
        spread = _SHAPE * (self._n_pages + 0.5) / (np.exp(at[2:]).sum() + 0.5 * self._rate)
        counts = np.bincount(self._changed[3], silent + unheard + told, self._n_pages)
        rates = np.log((_SHAPE + counts) / (spread + self._known))
        recall = np.log((n_told + unheard.sum() + self._prior_told) / (n_silent + 0.5))
        false = np.log((max(self._n - n_told, 0.0) + self._prior) / self._heard)
        if self._precision is not None:
            true = np.exp(rates).mean() / (1.0 + np.exp(-recall))
            false = np.log(true * (1.0 / self._precision - 1.0))
        return np.concatenate([[recall, false], rates])

    def log_likelihood(self, at: Vector) -> float:
        """Return the logarithm of the chance of what was seen and signalled, with these numbers."""
        recall, false, rates = self.of(at)
        elapsed, missed, n, pages, changed = self._all
        own = rates[pages]
        hazard = own * ((1.0 - recall) * elapsed + recall * missed)
        hazard += n * np.log1p(recall * own / false)
        found = np.where(changed, np.log(-np.expm1(-np.maximum(hazard, 1e-300))), -hazard)
        signals = recall * own + false
        told = n * np.log(signals) - signals * (elapsed - missed)
        spread = _SHAPE * (self._n_pages + 0.5) / (rates.sum() + 0.5 * self._rate)
        prior = _SHAPE * np.log(spread * rates) - spread * rates
        return float(found.sum() + told.sum() + prior.sum())

    def log_odds_error(self, at: Vector, log_odds: float) -> float:
        """Return the standard error of the log-odds of one signal."""
        silent, unheard, _, given = self._hazards(at)
        x = np.column_stack([silent + unheard, self._changed[2]])
        information = (x * (given * (given - 1.0))[:, None]).T @ x
        information += np.diag([0.5, 0.5 / max(log_odds, 1e-9) ** 2])
        return float(np.sqrt(np.linalg.inv(information)[1, 1]))
