"""Budgets that nest: a cap per host, per site or any coarser group, and one for everything.

The price of a page is the largest on its path from the root: each node that would spend more than
its cap at the price it inherits raises the price for everything below it, until it spends its cap.
So the levels are solved once, from the root down, and never again (no iteration between levels).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.freshness.prices import Crossing, search_prices
from recrawl.kernels.arrays import Flags, Integers, Vector

__all__ = ["Limit", "Prices", "Tree", "grow_tree", "solve_tree"]

LeafDemand: TypeAlias = Callable[[Vector, Flags], Vector]

_SLACK = 1e-12  # a floor may exceed its cap by rounding


@dataclass(frozen=True, eq=False)
class Limit:
    """Caps of the groups of one coarser level, such as the sites that hosts belong to.

    Parameters
    ----------
    groups : shape (n_members,), integers in 0 .. n_groups - 1
        Group of each node of the next finer level (of each host, for the first limit).
    caps : shape (n_groups,), 1/time, >= 0, inf for none
        Greatest cost-weighted crawl rate of each group.
    """

    groups: Integers
    caps: Vector

    def __post_init__(self) -> None:
        groups, caps = np.asarray(self.groups), np.asarray(self.caps, dtype=np.float64)
        if groups.ndim != 1 or caps.ndim != 1 or not np.issubdtype(groups.dtype, np.integer):
            raise InvalidModel("groups must be a vector of integers, caps a vector")
        if groups.size and not 0 <= groups.min() <= groups.max() < caps.size:
            raise InvalidModel(f"groups must lie in 0 .. {caps.size - 1}, one for each cap")
        object.__setattr__(self, "groups", groups.astype(np.int64))
        object.__setattr__(self, "caps", caps)


@dataclass(frozen=True, eq=False)
class Tree:
    """Levels of caps from the root to the leaves (hosts, or one leaf when there are none).

    ``caps[l]`` are those of level l, ``parents[l]`` the node of level l - 1 above each of them, and
    ``ancestors[l]`` the node of level l above each leaf.
    """

    caps: tuple[Vector, ...]
    parents: tuple[Integers, ...]
    ancestors: tuple[Integers, ...]
    names: tuple[str, ...]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.caps[-1].size

    def gather(self, load: Vector, level: int) -> Vector:
        """Add up the loads of a level below the nodes of the one above."""
        size = self.caps[level - 1].size
        return np.bincount(self.parents[level], weights=load, minlength=size).astype(np.float64)

    def roll_up(self, leaf_load: Vector, level: int) -> Vector:
        """Demand of the nodes of a level when everything finer keeps its caps."""
        load = leaf_load
        for finer in range(len(self.caps) - 1, level, -1):
            kept = np.minimum(load, self.caps[finer])
            load = self.gather(kept, finer)
        return load


@dataclass(frozen=True, eq=False)
class Prices:
    """The price that each leaf pays, and how it comes about.

    ``low``, ``high`` and ``share`` are per leaf (see :class:`recrawl.freshness.prices.Crossing`);
    ``of_level[l]`` is the price that holds at the nodes of level l, never below that of the level
    above.
    """

    low: Vector
    high: Vector
    share: Vector
    of_level: tuple[Vector, ...]
    passes: int


def grow_tree(
    budget: float, n_hosts: int, host_caps: ArrayLike | None, limits: Sequence[Limit] = ()
) -> Tree:
    """Check the caps and lay them out level by level.

    Parameters
    ----------
    budget : 1/time, > 0, finite; greatest cost-weighted crawl rate of all pages
    n_hosts : hosts that the pages have; 0: none, and then nothing but the budget can be given
    host_caps : shape (n_hosts,) or more, 1/time, >= 0, inf for none; None: no host has one
    limits : from the finest level up, the first over the hosts

    Raises
    ------
    InvalidModel
        When a cap or the budget is outside its domain, or the sizes do not fit.
    """
    if not (np.isfinite(budget) and budget > 0):
        raise InvalidModel(f"budget must be finite and > 0, got {budget:g}")
    root = np.array([budget], dtype=np.float64)
    if host_caps is None and not limits:
        zero = np.zeros(1, dtype=np.int64)
        return Tree((root,), (zero,), (zero,), ("budget",))
    if n_hosts == 0:
        raise InvalidModel("host_caps are given, but the pages have no hosts")
    finest = np.full(n_hosts, np.inf) if host_caps is None else np.asarray(host_caps, dtype=float)
    if finest.ndim != 1 or finest.size < n_hosts:
        raise InvalidModel(f"host_caps has shape {finest.shape} for {n_hosts} hosts")
    caps, names, upward = [finest], ["host"], []
    for number, limit in enumerate(limits):
        if limit.groups.size != caps[-1].size:
            raise InvalidModel(
                f"limits[{number}].groups has {limit.groups.size} values for {caps[-1].size} "
                f"{names[-1]}s"
            )
        upward.append(limit.groups)
        caps.append(limit.caps)
        names.append("site" if number == 0 else f"group of level {number}")
    for name, values in zip(names, caps, strict=True):
        bad = np.flatnonzero(~(values >= 0))
        if bad.size:
            raise InvalidModel(f"cap of {name} {bad[0]} is {values[bad[0]]:g}, must be >= 0")
    upward.append(np.zeros(caps[-1].size, dtype=np.int64))
    ancestors = [np.arange(finest.size)]
    for groups in upward:
        ancestors.append(groups[ancestors[-1]])
    zero = np.zeros(1, dtype=np.int64)
    return Tree(
        (root, *reversed(caps)),
        (zero, *reversed(upward)),
        tuple(reversed(ancestors)),
        ("budget", *reversed(names)),
    )


def check_floors(
    tree: Tree, floors: Vector, label: Callable[[str, int], str], show: Callable[[float], str]
) -> None:
    """Refuse minimum rates that a cap or the budget cannot pay.

    Parameters
    ----------
    tree : the caps
    floors : least demand of each leaf
    label : (name of the level, number) -> what to call a cap
    show : how to write a rate

    Raises
    ------
    InvalidModel
        Naming the first node that is exceeded, and by how much.
    """
    load = floors
    for level in range(len(tree.caps) - 1, -1, -1):
        excess = load - tree.caps[level] * (1 + _SLACK)
        if np.any(excess > 0):
            node = int(np.argmax(excess > 0))
            cap = tree.caps[level][node]
            raise InvalidModel(
                f"minimum rates ask for {show(load[node])} of {label(tree.names[level], node)}, "
                f"{show(load[node] - cap)} more than its {show(cap)}"
            )
        if level:
            load = tree.gather(load, level)


def solve_tree(
    tree: Tree,
    demand: LeafDemand,
    ends: tuple[Vector, Vector],
    start: float,
    elasticity: float = 0.5,
) -> Prices:
    """Find all prices, from the root down.

    Parameters
    ----------
    tree : the caps
    demand : prices of the leaves, mask of those that matter -> demand of the leaves
    ends : demand of the leaves at an infinite price and at price zero
    start : first price to try at the root

    Returns
    -------
    Prices
        Every node spends its cap to 1e-13, or less at the price it inherits.
    """
    n = tree.n_leaves
    low, high, share = np.zeros(n), np.zeros(n), np.ones(n)
    floors, unlimited = ends
    loads = (unlimited.copy(), unlimited.copy())
    of_level: list[Vector] = []
    passes = 0
    for level, caps in enumerate(tree.caps):
        above = tree.ancestors[level]
        m = caps.size
        # what the node would spend at both ends of the price that it inherits
        spend_low, spend_high = tree.roll_up(loads[0], level), tree.roll_up(loads[1], level)
        node_low, node_high, node_share = (_to_nodes(v, above, m) for v in (low, high, share))
        price = node_high.copy()
        straddles = (spend_low > caps) & (spend_high <= caps) & (node_low < node_high)
        if np.any(straddles):
            with np.errstate(all="ignore"):
                target = node_share * caps + (1 - node_share) * spend_high
                own = (target - spend_high) / (spend_low - spend_high)
            node_share = np.where(straddles, np.clip(np.nan_to_num(own), 0, 1), node_share)
        binding = spend_high > caps
        if np.any(binding):
            guess = (high, tree.roll_up(floors, level), start, elasticity)
            found = _solve_level(tree, level, binding, demand, loads, guess)
            passes += found.passes
            node_low = np.where(binding, found.low, node_low)
            node_high = np.where(binding, found.high, node_high)
            node_share = np.where(binding, found.share, node_share)
            price = np.where(binding, node_high, price)
        low, high, share = node_low[above], node_high[above], node_share[above]
        of_level.append(price)
    return Prices(low, high, share, tuple(of_level), passes)


def _to_nodes(leaf_values: Vector, above: Integers, m: int) -> Vector:
    """Read a value that all leaves below a node share."""
    nodes = np.zeros(m)
    nodes[above] = leaf_values
    return nodes


def _solve_level(
    tree: Tree,
    level: int,
    binding: Flags,
    demand: LeafDemand,
    loads: tuple[Vector, Vector],
    guess: tuple[Vector, Vector, float, float],
) -> Crossing:
    """Raise the price of the nodes that overspend until each spends its cap."""
    inherited, floors, start, elasticity = guess
    above = tree.ancestors[level]
    busy = np.flatnonzero(binding)
    position = np.full(binding.size, -1)
    position[busy] = np.arange(busy.size)
    leaf_position = position[above]
    reached = leaf_position >= 0

    def node_demand(prices: Vector, unsettled: Flags) -> tuple[Vector, Vector]:
        leaf_prices = np.where(reached, prices[leaf_position], inherited)
        leaf_load = demand(leaf_prices, leaves(unsettled))
        return tree.roll_up(leaf_load, level)[busy], leaf_load

    def leaves(mask: Flags) -> Flags:
        below: Flags = reached & mask[leaf_position]
        return below

    first = _to_nodes(inherited, above, binding.size)[busy]
    crossing = search_prices(
        node_demand,
        tree.caps[level][busy],
        np.where(first > 0, first * 1.25, start),
        floors[busy],
        elasticity=elasticity,
        leaves=leaves,
        ends=loads,
    )
    low, high, share = np.zeros(binding.size), np.zeros(binding.size), np.ones(binding.size)
    low[busy], high[busy], share[busy] = crossing.low, crossing.high, crossing.share
    return Crossing(low, high, share, crossing.passes)
