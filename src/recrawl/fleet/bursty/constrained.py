"""The cheapest map within limits, with the price of each limit; and fronts of two criteria."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.bursty.search import MapTable
from recrawl.kernels.arrays import Counts, Matrix


@dataclass(frozen=True, eq=False)
class ConstrainedOptimum:
    """The cheapest map within limits.

    Parameters
    ----------
    number : the map, by its place in the table; None where no single map keeps the limits
    cost : its cost; NaN where there is none
    bound : least mean cost of any random choice among the maps that keeps the limits on average:
        no map within the limits costs less
    multipliers : by measure; by how much the bound falls for each unit by which its limit is
        relaxed, >= 0, and 0 for a limit that does not bind
    mixture : (share, map) pairs that reach the bound
    """

    number: int | None
    cost: float
    bound: float
    multipliers: Mapping[str, float]
    mixture: tuple[tuple[float, int], ...]


def solve_constrained(
    table: MapTable, limits: Mapping[str, float], *, objective: str = "cost"
) -> ConstrainedOptimum:
    """Minimise one measure of the maps in a table subject to upper limits on others.

    Parameters
    ----------
    table : the maps to choose from
    limits : measure -> largest value allowed; names as in :meth:`MapTable.measure`
    objective : measure to minimise

    Returns
    -------
    ConstrainedOptimum
        The map is the best in the table; bound and multipliers solve the linear program over
        mixtures of its maps exactly (up to rounding).

    Raises
    ------
    InvalidModel
        If no mixture keeps all limits; the message says what is the least that can be had.

    Notes
    -----
    The simplex method with a basis as large as there are limits, plus one; each step prices all
    maps: O(maps x limits). The multipliers are what the cost criterion's coefficients would have
    to be raised by for the unconstrained optimum to keep the limits.
    """
    if not limits:
        raise InvalidModel("limits: at least one is needed")
    names = list(limits)
    cost = table.measure(objective)
    used = np.stack([table.measure(name) for name in names])
    top = np.array([limits[name] for name in names], dtype=np.float64)
    for name, row, limit in zip(names, used, top, strict=True):
        if row.min() > limit:
            raise InvalidModel(
                f"limit {name} <= {limit:g}: no map keeps it, the least is {row.min():.6g}"
            )
    within = np.all(used <= top[:, None], axis=0)
    number = int(np.argmin(np.where(within, cost, np.inf))) if np.any(within) else None
    prices, value, shares = _mix(cost, used, top, names)
    return ConstrainedOptimum(
        number,
        float(cost[number]) if number is not None else float("nan"),
        value,
        dict(zip(names, map(float, prices), strict=True)),
        shares,
    )


def _mix(
    cost: Matrix, used: Matrix, top: Matrix, names: list[str]
) -> tuple[Matrix, float, tuple[tuple[float, int], ...]]:
    """Solve min c p, U p <= b, sum p = 1, p >= 0 by the simplex method."""
    rows, maps = used.shape
    scale = np.maximum(np.abs(used).max(axis=1), 1e-300)
    size = float(np.abs(cost).max()) or 1.0
    # Columns: maps, slacks, then one shortfall for each limit at a price nobody would pay.
    unit = np.eye(rows)
    columns = np.block(
        [[used / scale[:, None], unit, -unit], [np.ones((1, maps)), np.zeros((1, 2 * rows))]]
    )
    prices = np.concatenate([cost / size, np.zeros(rows), np.full(rows, 1e7)])
    right = np.append(top / scale, 1.0)
    start = int(np.argmin(np.maximum(used / scale[:, None] - right[:-1, None], 0).sum(axis=0)))
    over = columns[:-1, start] > right[:-1]
    basis = np.append(np.where(over, maps + rows, maps) + np.arange(rows), start)
    for _ in range(100 * (rows + 10)):
        inverse = np.linalg.inv(columns[:, basis])
        amounts = inverse @ right
        dual = prices[basis] @ inverse
        reduced = prices - dual @ columns
        entering = int(np.argmin(reduced))
        if reduced[entering] > -1e-11 - 1e-14 * np.abs(dual).max():
            break
        step = inverse @ columns[:, entering]
        ratios = np.divide(
            np.maximum(amounts, 0), step, out=np.full(rows + 1, np.inf), where=step > 1e-11
        )
        basis[int(np.argmin(ratios))] = entering
    else:
        raise NotConverged(
            "mixture of maps", iterations=100 * (rows + 10), residual=float(-reduced.min())
        )
    if np.any((basis >= maps + rows) & (amounts > 1e-9)):
        row = int(basis[(basis >= maps + rows) & (amounts > 1e-9)][0]) - maps - rows
        raise InvalidModel(
            f"limits {', '.join(f'{n} <= {t:g}' for n, t in zip(names, top, strict=True))}: no "
            f"map and no mixture of maps keeps all of them; relax {names[row]}"
        )
    picked = [
        (float(share), int(column))
        for share, column in zip(amounts, basis, strict=True)
        if column < maps and share > 1e-12
    ]
    value = float(sum(share * cost[column] for share, column in picked))
    return np.maximum(-dual[:-1], 0.0) * size / scale, value, tuple(picked)


def trade_off_front(table: MapTable, first: str, second: str) -> Counts:
    """Return the maps that no other map beats in both measures.

    In the order of the first measure; O(maps log maps).

    Parameters
    ----------
    table : the maps
    first, second : measures that are to be small, by name as in :meth:`MapTable.measure`
    """
    a, b = table.measure(first), table.measure(second)
    order = np.lexsort((b, a))
    least = np.minimum.accumulate(b[order])
    keep = np.append(True, b[order][1:] < least[:-1])
    return np.asarray(order[keep])
