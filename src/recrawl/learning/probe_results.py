"""The weekly pattern of updates from probes that tell only whether something was new."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.weekly_intensity import CANDIDATES, cell_labels

_STRENGTHS = (1.0, 4.0, 16.0)
_MODELS = (
    "constant",
    "weekdays and weekend",
    "blocks of 6 h, every day alike",
    "blocks of 3 h, every day alike",
    "blocks of 6 h, weekdays and weekend",
    "blocks of 3 h, weekdays and weekend",
    "blocks of 6 h, each day",
)


@dataclass(frozen=True, slots=True, eq=False)
class ProbedIntensity:
    """A weekly pattern from binary results.

    Parameters
    ----------
    rates : shape (168,), updates per unit of time in each hour of the week, > 0
    chosen : name of the model
    strength : how many expected events the prior weighs in each cell
    scores : model -> held-out log likelihood per probe above that of a constant rate, nats
    iterations, residual : of the last fit; the residual is the largest relative step left
    """

    rates: Vector
    chosen: str
    strength: float
    scores: dict[str, float]
    iterations: int
    residual: float


def estimate_from_probes(exposure: Vector, changed: Flags) -> ProbedIntensity:
    r"""Censored maximum likelihood with shrinkage, the model chosen by held-out likelihood.

    Parameters
    ----------
    exposure : shape (v, 168), time that each interval between probes spends in each hour of the
        week, on the source's clock
    changed : shape (v,), whether the probe at its end found something new

    Returns
    -------
    ProbedIntensity
        The unique maximum for the model chosen: the objective is strictly concave in the rates.

    Raises
    ------
    InvalidModel
        If no probe found anything, or all did: then only a bound on the rate could be told.
    NotConverged
        If Newton's method did not settle (never seen).

    Notes
    -----
    With x the exposure and r the rates, a probe finds something with probability
    :math:`1 - e^{-x \cdot r}`, however many updates there were. To the log likelihood a gamma
    prior adds :math:`k (\ln r - r / r_0)` for each cell. Five folds of consecutive probes are
    left out in turn. O(v c^2) for each Newton step with c cells.
    """
    if exposure.ndim != 2 or exposure.shape != (changed.size, 168):
        raise InvalidModel(f"exposure must have shape (probes, 168), got {exposure.shape}")
    if not changed.any() or changed.all():
        raise InvalidModel(
            "the probes found something always or never; probe "
            + ("more" if changed.any() else "less")
            + " often to learn a rate"
        )
    fold = np.arange(changed.size) * 5 // changed.size
    score = {}
    for name in _MODELS:
        cells = _cells(exposure, name)
        for strength in _STRENGTHS if name != "constant" else (1.0,):
            held = 0.0
            for left_out in range(5):
                rest, out = fold != left_out, fold == left_out
                if not np.any(changed[rest]) or np.all(changed[rest]):
                    continue
                rates, _, _ = _newton(cells[rest], changed[rest], strength)
                held += _likelihood(cells[out], changed[out], rates)
            score[name, strength] = held / changed.size
    chosen, strength = max(score, key=lambda key: score[key])
    cell_rates, iterations, residual = _newton(_cells(exposure, chosen), changed, strength)
    base = score["constant", 1.0]
    best = {
        name: max(value for (other, _), value in score.items() if other == name) - base
        for name in _MODELS
    }
    labels = _labels(chosen)
    return ProbedIntensity(cell_rates[labels], chosen, strength, best, iterations, residual)


def _labels(name: str) -> Integers:
    chain = CANDIDATES[name]
    return cell_labels(*chain[-1]) if chain else np.zeros(168, np.int64)


def _cells(exposure: Vector, name: str) -> Vector:
    labels = _labels(name)
    return np.asarray(exposure @ np.eye(int(labels.max()) + 1)[labels])


def _likelihood(cells: Vector, changed: Flags, rates: Vector) -> float:
    expected = np.maximum(cells @ rates, 1e-12)
    return float(np.sum(np.log(-np.expm1(-expected[changed]))) - np.sum(expected[~changed]))


def _newton(cells: Vector, changed: Flags, strength: float) -> tuple[Vector, int, float]:
    total = cells.sum()
    prior = -np.log1p(-changed.mean()) * changed.size / total  # as if all intervals were equal
    rates = np.full(cells.shape[1], prior)
    hit = cells[changed]
    quiet = cells[~changed].sum(axis=0) + strength / prior

    def objective(at: Vector) -> float:
        found = np.sum(np.log(-np.expm1(-np.maximum(hit @ at, 1e-12))))
        return float(found - quiet @ at + strength * np.sum(np.log(at)))

    value, largest = objective(rates), np.inf
    for iteration in range(1, 201):
        expected = np.maximum(hit @ rates, 1e-12)
        pull = 1.0 / np.expm1(np.minimum(expected, 700.0))
        gradient = hit.T @ pull - quiet + strength / rates
        curvature = (hit * (pull * (1.0 + pull))[:, None]).T @ hit + np.diag(strength / rates**2)
        step = np.linalg.solve(curvature, gradient) / rates
        largest = float(np.max(np.abs(step)))
        if largest < 1e-9:
            return rates, iteration, largest
        share = 1.0
        for _ in range(60):  # the objective is concave, so some part of the step improves it
            candidate = rates * np.maximum(1.0 + share * step, 0.1)
            after = objective(candidate)
            if after >= value - 1e-12 * abs(value):
                break
            share *= 0.5
        rates, value = candidate, after
    raise NotConverged("rates from probes", iterations=200, residual=largest)
