"""The policies that the optimum is compared with."""

import numpy as np

from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_cost import find_threshold_schedule
from recrawl.probing.model import ProbedSource


def schedule_uniform(source: ProbedSource, n: int) -> Vector:
    """N probes evenly over the period, shape (n,).

    Parameters
    ----------
    source : gives the period T and the gap
    n : probes in one period, >= 1, at most T / gap
    """
    source.check_count(n)
    return np.asarray(np.arange(1, n + 1) * (source.period / n), dtype=np.float64)


def schedule_threshold(source: ProbedSource, n: int) -> Vector:
    """Probe when the expected cost since the last probe reaches a level, shape (n,).

    The level is the one at which probe n falls on T.

    Parameters
    ----------
    source : the model; its gap is not looked at
    n : probes in one period, >= 1

    References
    ----------
    A. Gal and J. Eckstein, "Managing periodically updated data in relational databases: a
    stochastic modeling approach", Journal of the ACM 48(6), 2001.
    """
    source.with_gap(0.0).check_count(n)
    total = source.cost([source.period])
    return find_threshold_schedule(source.cell_starts, source.cells, n, total)


def schedule_first_arrival(source: ProbedSource, n: int) -> Vector:
    """Probe when an update has become likely enough, whatever it costs, shape (n,).

    The likelihood is the one at which probe n falls on T, so every interval expects as many
    updates as any other.

    Parameters
    ----------
    source : the model; its gap is not looked at
    n : probes in one period, >= 1
    """
    source.with_gap(0.0).check_count(n)
    starts = source.cell_starts
    totals = np.append(source.before[0], source.updates)
    wanted = source.updates * np.arange(1, n) / n
    piece = np.searchsorted(totals[1:-1], wanted, side="left")
    rate, slope = source.cells[0, piece], source.cells[1, piece]
    missing = wanted - totals[piece]
    # rate u + slope u^2 / 2 = missing, in the form that does not cancel
    root = np.sqrt(np.maximum(rate**2 + 2.0 * slope * missing, 0.0))
    u = 2.0 * missing / np.maximum(rate + root, 1e-300)
    probes = np.minimum(starts[piece] + u, starts[piece + 1])
    return np.append(np.maximum.accumulate(probes), source.period)
