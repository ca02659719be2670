"""Probes that share a trip: sources near each other, where going there costs more than looking.

The sources of one place are probed on trips. A trip has a setup cost however many of them are
probed (a connection, a log-in, a start of a machine), each probe one of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Vector
from recrawl.probing.model import ProbedSource

_MOST_POINTS: Final = 2_000
_ASCENTS: Final = 400
_CLOSE: Final = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class TripPlan:
    """Times of trips, and what to probe on each.

    Parameters
    ----------
    trips : shape (m,), times, the last one the end of the period
    probed : shape (m, J), the sources probed on each trip; all of them on the last
    cost : obsolescence, trips and probes of one period
    bound : no plan on the grid costs less
    """

    trips: Vector
    probed: Flags
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """Bound on the excess over the least cost, relative."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0


def plan_trips(
    sources: Sequence[ProbedSource],
    times: ArrayLike,
    trip_cost: float,
    probe_costs: ArrayLike = 0.0,
) -> TripPlan:
    r"""Find trips of least cost to sources that are near each other.

    Parameters
    ----------
    sources : J of them, of one period and without gaps; costs are in units of their obsolescence
    times : shape (N + 1,), the grid, from 0 to the period
    trip_cost : S, of a trip whatever is probed, >= 0
    probe_costs : of a probe of each source, or one for all, >= 0

    Returns
    -------
    TripPlan
        With a certified gap: the best of all where it is 0.

    Notes
    -----
    Without a cost of single probes all are probed on every trip, and one dynamic programme over the
    sum of their costs is exact. Otherwise which sources join is hard (it is joint replenishment).
    Bound: if the setup of a trip at t is split among the sources, :math:`\sum_j s_j(t) = S`, each
    solved alone at probe prices :math:`c_j + s_j(t)`, all together cost no more than any plan does:
    a trip pays S, its sources at most their parts. The split is improved by subgradients. Plan:
    the trips of that and of the programme for all, then trips added, dropped and moved while that
    helps; given the trips each source's best probes are exact. O(J N^2) for each split.
    """
    at, prices = _checked(sources, times, trip_cost, probe_costs)
    between = np.stack([_interval_costs(source, at) for source in sources])
    n = at.size - 1
    bound, splits = _ascend(between, prices, trip_cost)
    together = _solve(between.sum(0)[None], np.full((1, n), trip_cost + prices.sum()))[1][0]
    starts = [together] if not prices.any() else [together, splits.any(axis=0)]
    if not prices.any():
        bound = max(bound, _given(between, prices, trip_cost, together)[0])
    best = min((_improve(between, prices, trip_cost, one) for one in starts), key=lambda p: p[0])
    cost, probed = best
    used = probed.any(axis=0)
    return TripPlan(at[1:][used], probed[:, used].T, cost, min(bound, cost))


def _checked(
    sources: Sequence[ProbedSource], times: ArrayLike, trip_cost: float, probe_costs: ArrayLike
) -> tuple[Vector, Vector]:
    at = np.asarray(times, dtype=np.float64)
    if not sources:
        raise InvalidModel("sources: none are given, at least 1 is needed")
    if at.ndim != 1 or not 2 <= at.size <= _MOST_POINTS or np.any(np.diff(at) <= 0):
        raise InvalidModel(f"times must be a vector of 2 to {_MOST_POINTS} increasing times")
    for number, source in enumerate(sources):
        if source.gap > 0:
            raise InvalidModel(f"source {number} has a gap of {source.gap:g}; trips know of none")
        if at[0] != 0 or abs(at[-1] - source.period) > _CLOSE * source.period:
            raise InvalidModel(
                f"times go from {at[0]:g} to {at[-1]:g}, but the period of source {number} from 0 "
                f"to {source.period:g}"
            )
    prices = np.broadcast_to(np.asarray(probe_costs, dtype=np.float64), len(sources))
    if not (np.isfinite(trip_cost) and trip_cost >= 0):
        raise InvalidModel(f"trip_cost must be finite and >= 0, got {trip_cost!r}")
    if not np.all(np.isfinite(prices) & (prices >= 0)):
        raise InvalidModel(f"probe_costs must be finite and >= 0, got {prices.tolist()}")
    return at, prices


def _interval_costs(source: ProbedSource, at: Vector) -> Vector:
    """Return C of all pairs of points, infinite from later to earlier ones, by Lemma 3."""
    updates, worth = source.integrals(at)
    table = np.full((at.size, at.size), np.inf)
    np.fill_diagonal(table, 0.0)
    for j in range(1, at.size):
        step = source.interval_cost(float(at[j - 1]), float(at[j]))
        before = table[:j, j - 1] + (updates[j - 1] - updates[:j]) * (worth[j] - worth[j - 1])
        table[:j, j] = before + step
    np.fill_diagonal(table, np.inf)
    return table


def _solve(between: Vector, prices: Vector) -> tuple[Vector, Flags]:
    """Return least costs (J,) of paths from the first point to the last, and where they probe.

    ``prices`` (J, N) are those of points 1 to N; infinite where a point may not be used.
    """
    n_sources, n = prices.shape
    least = np.zeros((n_sources, n + 1))
    came = np.zeros((n_sources, n + 1), np.int64)
    rows = np.arange(n_sources)
    for j in range(1, n + 1):
        options = least[:, :j] + between[:, :j, j]
        came[:, j] = np.argmin(options, axis=1)
        least[:, j] = options[rows, came[:, j]] + prices[:, j - 1]
    probed, point = np.zeros((n_sources, n + 1), np.bool_), np.full(n_sources, n)
    while np.any(point > 0):
        probed[rows, point] = True
        point = came[rows, point]
    return least[:, -1], probed[:, 1:]


def _given(between: Vector, prices: Vector, trip_cost: float, trips: Flags) -> tuple[float, Flags]:
    """Return the cost and the probes of the best plan with these trips; those unused are free."""
    places = np.append(0, np.flatnonzero(trips) + 1)
    some = between[:, places[:, None], places[None, :]]
    costs, found = _solve(some, np.repeat(prices[:, None], places.size - 1, axis=1))
    probed = np.zeros((prices.size, trips.size), np.bool_)
    probed[:, places[1:] - 1] = found
    return float(costs.sum() + trip_cost * np.count_nonzero(probed.any(axis=0))), probed


def _ascend(between: Vector, prices: Vector, trip_cost: float) -> tuple[float, Flags]:
    """Return the best bound over splits of the setup cost, and the probes at that split."""
    n_sources, n = prices.size, between.shape[1] - 1
    split = np.full((n_sources, n), trip_cost / n_sources)
    best, kept, step = -np.inf, np.zeros((n_sources, n), np.bool_), 0.5 * trip_cost
    stalled = 0
    for _ in range(_ASCENTS if n_sources > 1 and trip_cost > 0 else 1):
        costs, probed = _solve(between, prices[:, None] + split)
        value = float(costs.sum())
        if value > best:
            best, kept, stalled = value, probed, 0
        else:
            stalled += 1
            if stalled % 10 == 0:
                step *= 0.7
        shared = probed.any(axis=0)  # where nobody probes no split is better than another
        moved = split + step * np.where(shared, probed, 0.0)
        split = _onto_simplex(moved, trip_cost)
    return best, kept


def _onto_simplex(points: Vector, total: float) -> Vector:
    """Return the nearest columns that are >= 0 and sum to a total."""
    falling = -np.sort(-points, axis=0)
    over = (np.cumsum(falling, axis=0) - total) / np.arange(1, len(points) + 1)[:, None]
    last = np.count_nonzero(falling > over, axis=0) - 1
    return np.asarray(np.maximum(points - over[last, np.arange(points.shape[1])], 0.0))


def _improve(
    between: Vector, prices: Vector, trip_cost: float, trips: Flags
) -> tuple[float, Flags]:
    """Add, drop and move single trips while that lowers the cost."""
    trips = trips.copy()
    trips[-1] = True
    best = _given(between, prices, trip_cost, trips)
    helped = True
    while helped:
        helped = False
        for place in range(trips.size - 1):
            tries = [trips.copy()]
            tries[0][place] ^= True
            if trips[place]:
                for other in (place - 1, place + 1):
                    if 0 <= other < trips.size - 1 and not trips[other]:
                        moved = tries[0].copy()
                        moved[other] = True
                        tries.append(moved)
            for tried in tries:
                found = _given(between, prices, trip_cost, tried)
                if found[0] < best[0] * (1 - _CLOSE):
                    best, trips, helped = found, np.asarray(found[1].any(axis=0)), True
    return best
