"""The best control of the bursty buffer: thresholds, any map, and what more could be had."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.full_information import FullInformation, solve_full_information
from recrawl.fleet.bursty.generator import MOST_DENSE
from recrawl.fleet.bursty.measures import (
    BufferMeasures,
    evaluate_map,
    fates,
    solve_law,
    sum_up,
    weigh,
)
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.fleet.bursty.search import (
    MOST_BLOCKS,
    MapTable,
    blocks_of_thresholds,
    list_maps,
    list_thresholds,
)
from recrawl.fleet.bursty.sojourn import chances_of_service
from recrawl.kernels.arrays import Counts

_MOST_MODES_OF_SUBSETS = 8
_MOST_SINGLE_SWITCHES = 400


@dataclass(frozen=True, slots=True)
class SubsetOptimum:
    """The best threshold rule that begins and ends with given numbers of robots.

    Parameters
    ----------
    robots : numbers allowed, decreasing; the first and the last are used, inner ones may not be
    thresholds : one less: last number of pages of each but the last
    cost : its J
    """

    robots: tuple[int, ...]
    thresholds: tuple[int, ...]
    cost: float


@dataclass(frozen=True, eq=False)
class BurstyOptimum:
    """The best control, beside what is simpler and what is more.

    Parameters
    ----------
    best : the best map found, of any kind
    thresholds : the best in which robots never increase with the number of pages
    fixed : measures of each number of robots kept all the time
    subsets : the best threshold rule for each set of numbers of robots, where all were listed
    all_thresholds, all_maps : whether the optimum among them is proven, by enumeration; if not,
        it is a local optimum (no single switch, no shift of boundaries improves it)
    full_information : what a control could reach that sees all phases, where it can be computed
    """

    best: BufferMeasures
    thresholds: BufferMeasures
    fixed: Mapping[int, BufferMeasures]
    subsets: tuple[SubsetOptimum, ...]
    all_thresholds: bool
    all_maps: bool
    full_information: FullInformation | None


def solve_bursty(
    model: BurstyBuffer,
    *,
    most_blocks: int = MOST_BLOCKS,
    maps: bool = True,
    full_information: bool = True,
) -> BurstyOptimum:
    """Find the map from pages to robots of least cost J.

    Parameters
    ----------
    model : the buffer and its costs
    most_blocks : enumerate within so many block operations; beyond, search locally
    maps : also look among maps that are no threshold rules
    full_information : also compute what a control that sees everything could reach

    Returns
    -------
    BurstyOptimum
        Proven where ``all_thresholds`` and ``all_maps`` say so.

    Notes
    -----
    All threshold rules in C(L + R, R) block operations (L numbers of pages, R modes), all maps in
    about R^L (R - 1)/R. Where that is too much: the best rule of two modes as a start, then
    single switches and shifts of one or two boundaries while they improve.
    """
    fixed = {r: evaluate_map(model, (r,) * model.levels) for r in model.robots}
    table = _listed(lambda: list_thresholds(model, most_blocks=most_blocks))
    if table is not None:
        rule = table.robots_by_length(int(np.argmin(table.costs())))
    else:
        rule = improve_map(model, _pairs(model, fixed, most_blocks), monotone=True)
    subsets = () if table is None else best_by_subset(table)
    every = _listed(lambda: list_maps(model, most_blocks=most_blocks)) if maps else None
    if every is not None:
        free = every.robots_by_length(int(np.argmin(every.costs())))
    else:
        free = improve_map(model, rule, monotone=False) if maps else rule
    thresholds = evaluate_map(model, rule)
    best = evaluate_map(model, free)
    if thresholds.cost <= best.cost * (1 + 1e-12):
        best = thresholds
    yardstick = None
    if full_information and model.states <= MOST_DENSE // 2:
        yardstick = solve_full_information(model)
    return BurstyOptimum(
        best, thresholds, fixed, subsets, table is not None, every is not None, yardstick
    )


def _listed(make: Callable[[], MapTable]) -> MapTable | None:
    try:
        return make()
    except InvalidModel:  # too many; the caller searches instead
        return None


def _pairs(
    model: BurstyBuffer, fixed: Mapping[int, BufferMeasures], most_blocks: int
) -> tuple[int, ...]:
    """Return the best rule with two modes, or the best fixed number where even that is too much."""
    robots = min(fixed, key=lambda r: fixed[r].cost)
    best, cost = (robots,) * model.levels, fixed[robots].cost
    if model.phases[2] > 1 or blocks_of_thresholds(model, 2) > most_blocks:
        return best
    for pair in combinations(range(len(model.robots)), 2):
        table = list_thresholds(model, pair, most_blocks=most_blocks)
        costs = table.costs()
        if costs.min() < cost:
            cost, best = float(costs.min()), table.robots_by_length(int(costs.argmin()))
    return best


def best_by_subset(table: MapTable) -> tuple[SubsetOptimum, ...]:
    """Return the best threshold rule for each set of numbers of robots (as the paper's Table 1).

    Sets of all sizes where there are at most 8 modes, otherwise of one and two.
    """
    labels = table.model.robots
    used = table.levels_by_mode > 0
    mask = used @ (1 << np.arange(len(labels)))
    costs = table.costs()
    order = np.lexsort((costs, mask))
    first = np.unique(mask[order], return_index=True)[1]
    best = {int(mask[order[k]]): int(order[k]) for k in first}
    sizes = range(1, (len(labels) if len(labels) <= _MOST_MODES_OF_SUBSETS else 2) + 1)
    found = []
    for size in sizes:
        for subset in combinations(range(len(labels)), size):
            number = min(_within(best, subset), key=lambda k: costs[k], default=None)
            if number is None:
                continue
            counts = table.levels_by_mode[number, list(subset[::-1])]
            last = np.cumsum(counts)[:-1] - 1
            names = tuple(labels[k] for k in subset[::-1])
            found.append(SubsetOptimum(names, tuple(map(int, last)), float(costs[number])))
    return tuple(found)


def _within(best: Mapping[int, int], subset: tuple[int, ...]) -> Iterator[int]:
    """Run over the best maps of the sets within ``subset`` that share its ends."""
    ends = (1 << subset[0]) | (1 << subset[-1])
    inner = subset[1:-1]
    for size in range(len(inner) + 1):
        for extra in combinations(inner, size):
            mask = ends | sum(1 << k for k in extra)
            if mask in best:
                yield best[mask]


def improve_map(
    model: BurstyBuffer, robots_by_length: Sequence[int], *, monotone: bool = False
) -> tuple[int, ...]:
    """Improve a map until no move does: a local optimum.

    Parameters
    ----------
    monotone : keep to maps in which robots never increase with the number of pages

    Notes
    -----
    Moves: each boundary between stretches of one mode shifted by 1, 2, 4, ... or merged away, two
    neighbouring boundaries shifted by one together, and (up to 400 of them) single numbers of
    pages switched to any mode. Each move is evaluated exactly. Levels share one decision whatever
    the phases, so this is no Markov decision process and a local optimum need not be global:
    with it 38 of 40 random instances reached the optimum of exhaustive search.
    """
    costs: dict[bytes, float] = {}
    chances = chances_of_service(model)

    def cost(modes: Counts) -> float:
        key = modes.tobytes()
        if key not in costs:
            law = solve_law(model, modes, tolerance=1e-12)
            sums = sum_up(model, modes, law, *fates(model, law, chances))
            costs[key] = float(weigh(sums[None, :], model.costs)[0])
        return costs[key]

    here = model.modes(robots_by_length)
    value, improved = cost(here), True
    while improved:
        improved = False
        for there in _moves(here, len(model.robots)):
            if monotone and np.any(np.diff(there) > 0):
                continue
            if cost(there) < value * (1 - 1e-12):
                here, value, improved = there, cost(there), True
                break
    return tuple(model.robots[mode] for mode in here)


def _moves(modes: Counts, options: int) -> Iterator[Counts]:
    bounds = np.flatnonzero(np.diff(modes)) + 1  # first pages of each stretch but the first
    edges = [0, *map(int, bounds), modes.size]
    yield from _shifts(modes, edges)
    yield from _switches(modes, edges, options)


def _shifts(modes: Counts, edges: Sequence[int]) -> Iterator[Counts]:
    reach = [2**k for k in range(max(1, math.ceil(math.log2(modes.size))))]
    for number in range(1, len(edges) - 1):
        for shift in (sign * step for step in reach for sign in (1, -1)):
            yield _shifted(modes, edges, {number: shift})
    for number in range(1, len(edges) - 2):
        for one in (1, -1):
            for other in (1, -1):
                yield _shifted(modes, edges, {number: one, number + 1: other})


def _switches(modes: Counts, edges: Sequence[int], options: int) -> Iterator[Counts]:
    if modes.size * (options - 1) > _MOST_SINGLE_SWITCHES:
        places = sorted({0, modes.size - 1, *edges[1:-1], *(b - 1 for b in edges[1:-1])})
    else:
        places = list(range(modes.size))
    for place in places:
        for mode in range(options):
            if mode != modes[place]:
                there = modes.copy()
                there[place] = mode
                yield there
    for number in range(len(edges) - 1):  # a whole stretch
        for mode in range(options):
            there = modes.copy()
            there[edges[number] : edges[number + 1]] = mode
            yield there


def _shifted(modes: Counts, edges: Sequence[int], shifts: Mapping[int, int]) -> Counts:
    """Move boundaries; a stretch squeezed out is gone."""
    ends = [edge + shifts.get(number, 0) for number, edge in enumerate(edges)]
    ends = [min(max(end, 0), modes.size) for end in ends]
    out = modes.copy()
    for number in range(len(edges) - 1):
        out[ends[number] : max(ends[number + 1], ends[number])] = modes[edges[number]]
    return out


def count_maps(model: BurstyBuffer) -> tuple[int, int]:
    """Return how many threshold rules and how many maps there are."""
    r = len(model.robots)
    return math.comb(model.levels + r - 1, r - 1), r**model.levels
