"""Expected cost and delay of a schedule, and its cost on recorded events."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.probing.model import ProbedSource
from recrawl.probing.profile import Profile


@dataclass(frozen=True, slots=True)
class ProbeMeasures:
    """Expected measures of a schedule over one period.

    Parameters
    ----------
    cost : expected cost, importance times time
    updates : expected updates
    delay : expected time from an update to the probe that sees it, time
    seen_within : time -> share of updates that a probe sees within that time
    """

    cost: float
    updates: float
    delay: float
    seen_within: dict[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class ActualCost:
    """Cost of a schedule on recorded events.

    Parameters
    ----------
    costs : shape (m,), cost of each event until the probe that saw it
    delays : shape (m,), time
    """

    costs: Vector
    delays: Vector

    @property
    def total(self) -> float:
        """Cost of all events."""
        return float(self.costs.sum())


def check_schedule(source: ProbedSource, probes: ArrayLike) -> Vector:
    """Return probe times as an array after checking that they make a schedule.

    Parameters
    ----------
    source : gives the period T and the gap
    probes : shape (n,), times, increasing, the last at T; a copy is returned

    Raises
    ------
    InvalidModel
        If they fall, come sooner than the source's gap after 0 or one another, or do not end at T.
    """
    at = np.array(probes, dtype=np.float64)
    slack = 1e-9 * source.period
    if at.ndim != 1 or at.size == 0 or not np.all(np.isfinite(at)):
        raise InvalidModel("probes must be a vector of at least one finite time")
    if abs(at[-1] - source.period) > slack:
        raise InvalidModel(
            f"the last probe must be at the end of the period, {source.period:g}, got {at[-1]:g}"
        )
    at[-1] = source.period
    steps = np.diff(np.concatenate([[0.0], at]))
    if np.any(steps < source.gap - slack):
        number = int(np.argmin(steps))
        raise InvalidModel(
            f"probe {number + 1} at {at[number]:g} comes {steps[number]:g} after the one before; "
            f"the least is {source.gap:g}"
        )
    return at


def evaluate_schedule(
    source: ProbedSource, probes: ArrayLike, within: ArrayLike = ()
) -> ProbeMeasures:
    r"""Expected cost, mean delay and shares seen within given times; exact.

    Parameters
    ----------
    source : the model
    probes : shape (n,), times, increasing, the last at T
    within : times for which the share of updates seen by then is wanted

    Notes
    -----
    The delay is the cost at importance 1 over the expected updates. The share seen within d is
    :math:`\sum_i \Lambda(\max(p_{i-1}, p_i - d), p_i) / \Lambda(0, T)`. O((n + pieces) k) for k
    times.
    """
    at = check_schedule(source, probes)
    plain = ProbedSource(source.intensity, Profile.constant(1.0, source.period))
    before = np.concatenate([[0.0], at[:-1]])
    seen = {}
    for limit in np.atleast_1d(np.asarray(within, dtype=np.float64)):
        late = np.maximum(before, at - limit)
        share = np.sum(source.intensity.integral(at[:-1])) + source.updates
        share -= np.sum(source.intensity.integral(np.minimum(late, source.period)))
        seen[float(limit)] = float(np.clip(share / source.updates, 0.0, 1.0))
    return ProbeMeasures(source.cost(at), source.updates, plain.cost(at) / source.updates, seen)


def evaluate_events(source: ProbedSource, probes: ArrayLike, events: ArrayLike) -> ActualCost:
    """Cost of a schedule, repeated every period, on recorded events.

    Parameters
    ----------
    source : gives period and importance; its intensity is not used
    probes : shape (n,), times, increasing, the last at T
    events : shape (m,), times since the start of a period, >= 0, beyond T too; any order

    Notes
    -----
    An event at the very time of a probe is seen by it. O((m + n) log n).
    """
    at = check_schedule(source, probes)
    times = np.asarray(events, dtype=np.float64)
    if times.size and not (np.all(np.isfinite(times)) and times.min() >= 0):
        raise InvalidModel("events must be finite times >= 0 since the start of a period")
    phase = times % source.period
    seen = at[np.minimum(np.searchsorted(at, phase, side="left"), at.size - 1)]
    worth = source.importance
    whole = np.where(seen >= source.period, worth.total, worth.integral(seen % source.period))
    return ActualCost(whole - worth.integral(phase), seen - phase)
