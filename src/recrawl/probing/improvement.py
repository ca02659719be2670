"""Local improvement of a schedule in continuous time: Algorithm 10, and moves of blocks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_cost import improve_by_moves
from recrawl.probing.model import ProbedSource
from recrawl.probing.schedule import check_schedule

_MOST_MOVES = 10_000_000
_MOST_BLOCKS = 10_000
_TIGHT = 1e-9  # of the gap, by which two probes are as close as they may be


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


def improve_blocks(source: ProbedSource, probes: ArrayLike) -> ImprovedSchedule:
    r"""Move single probes and whole blocks that the gap holds together, while that lowers the cost.

    Parameters
    ----------
    source : the model, with its gap
    probes : shape (n,), a schedule with that gap; unchanged

    Returns
    -------
    ImprovedSchedule
        Never dearer than that of :func:`improve_schedule`, which jams where neighbours are as close
        as they may be: none can move without the others. Without a gap it is the same.

    Notes
    -----
    Of a block, its first m probes may move down by the same offset, or its last m up: fractions 1,
    1/2, ..., 1/512 of the room there is. The best of these moves is made, and Algorithm 10 goes on.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Section 4 (the moves, which
    the paper names and does not make).
    """
    found = improve_schedule(source, probes)
    iota = max(1e-9 * found.cost, 1e-14 * source.importance.total * source.updates)
    for blocks in range(_MOST_BLOCKS if source.gap > 0 else 0):
        moves = list(_block_moves(source, found.probes))
        costs = [source.cost(moved) for moved in moves]
        if not moves or min(costs) > found.cost - iota:
            break
        after = improve_schedule(source, moves[int(np.argmin(costs))])
        found = ImprovedSchedule(after.probes, after.cost, found.moves + after.moves + 1)
        if blocks == _MOST_BLOCKS - 1:
            raise NotConverged("moves of blocks", iterations=_MOST_BLOCKS, residual=iota)
    return found


def _block_moves(source: ProbedSource, probes: Vector) -> Iterator[Vector]:
    """Yield schedules in which a part of a block has moved; the last probe stays where it is."""
    path = np.concatenate([[0.0], probes])
    is_tight = np.diff(path) <= source.gap * (1 + _TIGHT)
    n, first = probes.size, 1
    while first < n:
        last = first
        while last + 1 < n and is_tight[last]:
            last += 1
        for way, room in (
            (-1.0, path[first] - path[first - 1] - source.gap),
            (1.0, path[last + 1] - path[last] - source.gap),
        ):
            if last == first or room <= _TIGHT * source.gap:
                continue
            for many in range(2, last - first + 2):
                part = slice(first, first + many) if way < 0 else slice(last + 1 - many, last + 1)
                for halvings in range(10):
                    moved = path.copy()
                    moved[part] += way * room * 0.5**halvings
                    yield moved[1:]
        first = last + 1
