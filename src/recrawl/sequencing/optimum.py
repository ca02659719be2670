"""The best cycle there is, for few pages: a minimum mean cycle, with the proof that it is one."""

from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.kernels.distance_graph import count_states, find_best_cycle
from recrawl.sequencing.bounds import bound_table_gaps
from recrawl.sequencing.costs import AgeingCosts, DistanceCosts, TabulatedCosts
from recrawl.sequencing.evaluation import evaluate_cycle


@dataclass(frozen=True, eq=False)
class BestCycle:
    """A cycle and what is known about it.

    Parameters
    ----------
    sequence : shape (K,), page numbers
    cost : exact average cost of repeating it
    bound : no policy whatever costs less
    is_exact : the two agree to rounding, so the cycle is optimal among all policies
    least_reduced_cost : of all edges of the graph, 0 up to rounding: the certificate of the bound
    never_visited : pages that the cycle leaves out, which then are best never visited
    caps : shape (n,), ages that were told apart
    n_states, rounds : size of the graph, and policies that were tried
    """

    sequence: Integers
    cost: float
    bound: float
    is_exact: bool
    least_reduced_cost: float
    never_visited: Integers
    caps: Integers
    n_states: int
    rounds: int


def solve_cycle(
    costs: DistanceCosts,
    *,
    max_states: int = 20_000_000,
    caps: Integers | None = None,
    max_moves: float = 1e9,
) -> BestCycle:
    r"""Find the periodic policy of least average cost over all policies.

    Parameters
    ----------
    costs : convex costs of n pages or servers, n >= 2
    max_states : limit on the size of the graph; each takes 21 bytes
    caps : shape (n,), >= 3, ages to start with, or None for 1.6 gaps of the bound
    max_moves : limit on the work, in moves that are looked at; the default takes half a minute

    Returns
    -------
    BestCycle
        Exact where ``is_exact``; otherwise the best cycle that was found and a bound below it,
        because larger ages would not fit into ``max_states``, or ``max_moves`` were made.

    Raises
    ------
    InvalidModel
        When the graph of n pages cannot fit at all.

    Notes
    -----
    Theorem 3.1 of Altman et al. says that some cycle is optimal; this finds it, as the minimum mean
    cycle of the graph of ages (:mod:`recrawl.kernels.distance_graph`) by Howard's method. Ages
    from a cap on are one state that goes on costing what its last slot cost, which by convexity is
    never too much: so the least mean is a lower bound for all policies, whatever the caps, and no
    distance beyond cap + 1 in the cycle proves it attained. Potentials with reduced costs >= 0 on
    all edges prove the mean least. Where a cap binds the caps that bind are raised. O(states n^2)
    a round.

    References
    ----------
    J. Cochet-Terrasson et al., "Numerical computation of spectral elements in max-plus algebra",
    IFAC Conference on System Structure and Control, 1998 (Howard's method).
    """
    if costs.n_pages < 2:
        raise InvalidModel("an order needs at least 2 pages")
    longest = 4096
    floor = bound_table_gaps(costs, longest)
    reach = costs.tabulate(longest).shape[1] - 1
    if caps is None:
        finite = floor.gaps[np.isfinite(floor.gaps)]
        reached = np.where(np.isfinite(floor.gaps), floor.gaps, finite.max(initial=2.0))
        caps = np.ceil(1.6 * reached).astype(np.int64) + 2
    caps = np.minimum(np.maximum(caps, 3), reach)
    found: BestCycle | None = None
    while True:
        size = _count(caps)
        if size > max_states and found is None:
            raise InvalidModel(
                f"the graph of ages of {costs.n_pages} pages has {size:,} states or more, over "
                f"max_states, {max_states:,}: too many pages, or too unequal, to be exact"
            )
        if found is not None and (size > max_states or max_moves <= 0):
            return found
        one = _solve(costs, caps, max_moves)
        max_moves -= float(one.rounds + 2) * one.n_states * costs.n_pages
        found = _better(one, found, floor.cost)
        raised = _raise_caps(costs, one, reach)
        if found.is_exact or np.array_equal(raised, caps):
            return found
        caps = raised


def _better(one: BestCycle, other: BestCycle | None, floor: float) -> BestCycle:
    """Join what is known: the cheaper cycle, the higher bound."""
    best = one if other is None or one.cost <= other.cost else other
    bound = max(one.bound, floor, -np.inf if other is None else other.bound)
    return replace(best, bound=min(bound, best.cost), is_exact=one.is_exact)


def _count(caps: Integers) -> int:
    sizes = [int(cap) - 1 for cap in caps]
    product = 1
    for size in sizes:
        product *= size
    return sum(product // size for size in sizes)


def _solve(costs: DistanceCosts, caps: Integers, max_moves: float) -> BestCycle:
    n, width = costs.n_pages, int(caps.max()) + 1
    lines, bent = _without_lines(costs)
    table = bent.tabulate(width)
    steps = np.arange(1, width)
    rise = np.zeros((n, width))
    rise[:, 1:] = np.diff(table, axis=1)
    index = np.full((n, width), -np.inf)
    index[:, 1:] = steps * rise[:, 1:] - table[:, :-1]
    strides, offsets = np.zeros((n, n), dtype=np.int64), np.zeros(n, dtype=np.int64)
    n_states = count_states(caps, strides, offsets)
    tolerance = 1e-14 * float(np.abs(table[:, : int(caps.min())]).max())
    limit = int(max_moves // (n_states * n)) + 2
    mean, fall, sequence, rounds = find_best_cycle(
        caps, strides, offsets, n_states, table[:, 0].copy(), rise, index, tolerance, limit
    )
    cost = evaluate_cycle(costs, sequence).cost
    unused = np.flatnonzero(np.bincount(sequence, minlength=n) == 0)
    bound = min(float(mean - fall) + lines, cost)
    return BestCycle(
        sequence=sequence,
        cost=cost,
        bound=bound,
        is_exact=cost - bound <= 1e-11 * max(abs(cost), float(np.abs(table[:, 0]).max())),
        least_reduced_cost=-fall,
        never_visited=unused,
        caps=caps,
        n_states=n_states,
        rounds=rounds,
    )


def _without_lines(costs: DistanceCosts) -> tuple[float, DistanceCosts]:
    """Take out what every order costs alike: the distances of a page fill the time.

    Only what differs among orders is then added up, and keeps its digits.
    """
    if isinstance(costs, AgeingCosts):
        lines = float(costs.slopes.sum()) + costs.per_access
        return lines, replace(costs, slopes=np.zeros(costs.n_pages), per_access=0.0)
    if isinstance(costs, TabulatedCosts) and np.all(np.isfinite(costs.slopes)):
        steps = np.arange(1, costs.table.shape[1] + 1)
        table = costs.table - costs.slopes[:, None] * steps
        return float(costs.slopes.sum()), replace(
            costs, table=table, slopes=np.zeros(costs.n_pages)
        )
    return 0.0, costs


def _raise_caps(costs: DistanceCosts, found: BestCycle, reach: int) -> Integers:
    """Raise the caps that the cycle passes, by half; all of them where none does."""
    order, caps = found.sequence, found.caps
    longest = np.zeros(costs.n_pages, dtype=np.int64)
    for page in range(costs.n_pages):
        slots = np.flatnonzero(order == page)
        if slots.size:
            longest[page] = np.diff(np.append(slots, slots[0] + order.size)).max()
    binding = (longest > caps + 1) | (longest == 0)
    raised = np.where(
        binding if np.any(binding) else True, np.maximum(3 * caps // 2, longest), caps
    )
    return np.minimum(raised, reach).astype(np.int64)
