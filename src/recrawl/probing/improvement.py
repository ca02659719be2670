"""Local improvement of a schedule in continuous time (Algorithm 10)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.probe_cost import improve_by_moves
from recrawl.probing.model import ProbedSource
from recrawl.probing.profile import Vector
from recrawl.probing.schedule import check_schedule

__all__ = ["ImprovedSchedule", "improve_schedule"]

_MOST_MOVES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class ImprovedSchedule:
    """A schedule that no small move improves.

    Parameters
    ----------
    probes : shape (n,), times
    cost : expected cost of one period
    moves : moves made
    """

    probes: Vector
    cost: float
    moves: int


def improve_schedule(
    source: ProbedSource,
    probes: ArrayLike,
    *,
    first: float = 1 / 2,
    last: float = 1 / 512,
    reduction: float = 1 / 2,
    least_gain: float | None = None,
) -> ImprovedSchedule:
    r"""Move single probes towards their neighbours while that lowers the cost.

    Parameters
    ----------
    source : the model, with its gap
    probes : shape (n,), a schedule with that gap; unchanged
    first, last, reduction : mu_0, mu_* and rho of the paper, which uses 1/2, 1/512 and 1/2
    least_gain : iota, a move that gains less is not made; 1e-9 of the cost when left out

    Returns
    -------
    ImprovedSchedule
        Never dearer than ``probes``; a local optimum with respect to the moves only.

    Notes
    -----
    A move takes a probe at t between s and u a fraction mu of the way towards s + gap or u - gap.
    Since :math:`C(s,t) + C(t,u) = C(s,u) - \Lambda(s,t) A(t,u)`, its gain needs four integrals.
    The best of all 2(n - 1) moves is on top of a heap; O(log n) for each move made. The paper's
    listing says "minimizing" where the largest gain is meant.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Algorithm 10.
    """
    at = check_schedule(source, probes)
    if not (0 < last <= first <= 1 and 0 < reduction < 1):
        raise InvalidModel("must have 0 < last <= first <= 1 and 0 < reduction < 1")
    cost = source.cost(at)
    iota = 1e-9 * cost if least_gain is None else least_gain
    iota = max(iota, 1e-14 * source.importance.total * source.updates)
    path = np.concatenate([[0.0], at])
    moves = improve_by_moves(
        source.cell_starts,
        source.cells,
        source.before,
        path,
        source.gap,
        (first, last, reduction, iota),
        _MOST_MOVES,
    )
    if moves < 0:
        raise NotConverged("local improvement", iterations=_MOST_MOVES, residual=iota)
    return ImprovedSchedule(path[1:], source.cost(path[1:]), moves)
