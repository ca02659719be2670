"""Passes over the pages: the only place where a plan touches all of them.

The pages come as parts that can be read again and again: slices of arrays in memory, or what a
reader takes from a file piece by piece. Each pass adds up demand at given prices; partial sums are
always joined in the order of the parts, so the number of threads changes no digit.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.freshness.limits import Prices, Tree, check_floors, solve_tree
from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.freshness.refinement import refine_price
from recrawl.freshness.summary import DemandSummary
from recrawl.freshness.threads import Elsewhere, in_order
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.kernels.classes import add_to_classes
from recrawl.kernels.gaps import CLOSED_SQUARE, add_demand, write_rates

PART = 1 << 19  # pages of one part in memory: enough to hide the cost of a call
_MANY = 1 << 16  # pages from which on it pays to refine the price before the search
_SAMPLE = 1 << 20  # pages enough for a price that is good to a percent
_GATHERED = 1 << 21  # at most so many pages are copied to finish the hosts that are slow to settle


class Passes:
    """The passes of one solve.

    Parameters
    ----------
    objective : what a visit is worth
    parts : the pages, readable any number of times; parts elsewhere know no hosts
    tree : the caps
    threads : how many parts to work on at once
    rates : where to put the rates on the way, if all pages are in memory in one piece
    name_node : (name of the level, number) -> how people call a cap
    show_rate : how people write a rate
    """

    def __init__(
        self,
        objective: Objective,
        parts: Iterable[Pages] | Elsewhere[Pages],
        tree: Tree,
        *,
        threads: int = 1,
        rates: Vector | None = None,
        name_node: Callable[[str, int], str] | None = None,
        show_rate: Callable[[float], str] = "{:g}".format,
    ) -> None:
        self._objective = objective
        self._parts = parts
        self._tree = tree
        self._threads = threads
        self._rates = rates
        self._name_node = name_node or _name_node
        self._show_rate = show_rate
        self._gathered: tuple[Flags, Pages | None] | None = None
        self._sizes = np.zeros(tree.n_leaves, dtype=np.int64)
        self._refines = (
            rates is not None
            and not isinstance(parts, Elsewhere)
            and _can_refine(objective, parts, tree, rates.size)
        )
        self._stride = 1
        if rates is not None and self._refines and objective.form == CLOSED_SQUARE:
            self._stride = max(1, min(rates.size // _SAMPLE, 64))
        self.n_pages = 0
        self.n_passes = 0
        self.written = np.nan  # the price at which ``rates`` were written last

    def find_prices(self) -> Prices:
        """Survey the pages, then solve from the root of the tree down.

        Raises
        ------
        InvalidModel
            When there are no pages, no weights, or floors that cannot be paid.
        """
        budget = float(self._tree.caps[0][0])
        found = self._survey()
        if self.n_pages == 0:
            raise InvalidModel("0 pages, at least 1 is needed")
        if found.weight <= 0:
            raise InvalidModel("weights: at least one must be > 0")
        floors, unlimited = found.floors, found.unlimited
        check_floors(self._tree, floors, self._name_node, self._show_rate)
        start, elasticity = DemandSummary(self._objective, found.classes).estimate_price(budget)
        refining = 0
        if self._refines and not isinstance(self._parts, Elsewhere):
            guess = (start, elasticity)
            start, refining = refine_price(
                self._objective, self._parts, budget, guess, self._threads
            )
        prices = solve_tree(self._tree, self.demand, (floors, unlimited), start, elasticity)
        return replace(prices, passes=prices.passes + refining)

    def _survey(self) -> "_Survey":
        """Read once: summary, a positive weight if any, demand at an infinite price and at none."""
        work = _SurveyPart(self._objective, self._tree.n_leaves, self._stride)
        if isinstance(self._parts, Elsewhere):
            found = self._parts.total(work)
        else:
            found = work.nothing()
            for part in self._parts:
                work.add(found, part)
        self.n_pages, self._sizes = found.n_pages, found.sizes
        found.classes[:] *= found.n_pages / max(found.n_taken, 1)
        return found

    def demand(self, leaf_prices: Vector, open_leaves: Flags | None = None) -> Vector:
        """Add up what the pages ask at these prices; only ``open_leaves`` need be right.

        With one leaf the second pass is nearly always the last, and the first where the price was
        refined, so from then on the rates are written on the way where they fit into memory.
        """
        self.n_passes += 1
        last = 1 if self._refines else 2
        if self._rates is not None and self.n_passes >= last and leaf_prices.size == 1:
            return self.write(self._rates, leaf_prices, leaf_prices, np.ones(1))
        if (
            self._tree.n_leaves > 1
            and open_leaves is not None
            and (pages := self._gather(open_leaves)) is not None
        ):
            return _Demand(self._objective, leaf_prices)(pages)
        work = _Demand(self._objective, leaf_prices)
        return self._total(in_order(work, self._parts, self._threads))

    def write(self, rates: Vector, low: Vector, high: Vector, share: Vector) -> Vector:
        """Write the rates of all pages and return the loads of the leaves."""

        def one(numbered: tuple[int, Pages]) -> Vector:
            start, part = numbered
            loads = np.zeros(self._tree.n_leaves)
            block = rates[start : start + len(part)]
            columns, ends = part.columns(), (low, high, share)
            leaves = _leaves(part, self._tree.n_leaves)
            write_rates(self._objective.law, columns, leaves, ends, block, loads)
            return loads

        self.written = float(low[0]) if low.size == 1 and low[0] == high[0] else np.nan
        assert not isinstance(self._parts, Elsewhere)  # there is no array of rates for those
        return self._total(in_order(one, _numbered(self._parts), self._threads))

    def _total(self, loads: Iterable[Vector]) -> Vector:
        total = np.zeros(self._tree.n_leaves)
        for load in loads:
            total += load
        return total

    def _gather(self, open_leaves: Flags) -> Pages | None:
        """Copy the pages of the open leaves once they are few, and again when fewer."""
        wanted = int(self._sizes[open_leaves].sum())
        held = self._gathered
        covered = held is not None and not np.any(open_leaves & ~held[0])
        if held is not None and covered:
            pages = held[1]
            if pages is None or wanted > len(pages) // 4:
                return pages
            parts: Iterable[Pages] = [pages]
        elif isinstance(self._parts, Elsewhere):
            return None
        elif wanted <= min(self.n_pages // 4, _GATHERED):
            parts = self._parts
        else:
            return None
        pages = Pages.join(
            [part.part(np.flatnonzero(open_leaves[part.leaves()])) for part in parts]
        )
        self._gathered = (open_leaves.copy(), pages)
        return pages


@dataclass
class _Survey:
    """Summary of one pass over pages; surveys add."""

    classes: Vector
    floors: Vector
    unlimited: Vector
    sizes: Integers
    n_pages: int = 0
    n_taken: int = 0
    weight: float = 0.0

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(
            self.classes + other.classes,
            self.floors + other.floors,
            self.unlimited + other.unlimited,
            self.sizes + other.sizes,
            self.n_pages + other.n_pages,
            self.n_taken + other.n_taken,
            self.weight or other.weight,
        )


@dataclass(frozen=True)
class _SurveyPart:
    """Looks at one part."""

    objective: Objective
    n_leaves: int
    stride: int

    def __call__(self, part: Pages) -> _Survey:
        found = self.nothing()
        self.add(found, part)
        return found

    def nothing(self) -> _Survey:
        """Return the survey of no pages."""
        n = self.n_leaves
        classes = DemandSummary.empty(self.objective).classes
        return _Survey(classes, np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))

    def add(self, found: _Survey, part: Pages) -> None:
        """Take in one part."""
        n = self.n_leaves
        change, weights, cost, _, _ = part.columns()
        power = self.objective.power
        found.n_taken += add_to_classes(power, change, weights, cost, found.classes, self.stride)
        if not found.weight:  # it only matters whether there is any; the certificate adds them up
            found.weight = float(weights[: len(part)].max())
        found.n_pages += len(part)
        if part.min_rates is not None:
            found.floors += _Demand(self.objective, np.full(n, np.inf))(part)
        if n > 1:
            found.sizes += np.bincount(part.leaves(), minlength=n)
        if n > 1 or part.max_rates is not None:
            found.unlimited += _Demand(self.objective, np.zeros(n))(part)
        elif np.isfinite(found.unlimited[0]):  # without a pass: all or nothing beyond the least
            free = part.weights is None or np.any((change > 0) & (part.weights > 0))
            if free and np.any(change):
                found.unlimited[0] = np.inf
            elif part.min_rates is not None:
                found.unlimited += _Demand(self.objective, np.full(n, np.inf))(part)


@dataclass(frozen=True, eq=False)
class _Demand:
    """Adds up what a part asks for at given prices."""

    objective: Objective
    prices: Vector

    def __call__(self, part: Pages) -> Vector:
        n = self.prices.size
        loads = np.zeros(n)
        add_demand(self.objective.law, part.columns(), _leaves(part, n), self.prices, loads)
        return loads


_ONE_LEAF = np.zeros(1, dtype=np.int64)


def _leaves(part: Pages, n_leaves: int) -> Integers:
    return part.leaves() if n_leaves > 1 else _ONE_LEAF


def _can_refine(objective: Objective, parts: Iterable[Pages], tree: Tree, n: int) -> bool:
    """Whether the price of many pages without bounds can be made exact before the search."""
    if tree.n_leaves > 1 or not objective.is_bounded or n < _MANY:
        return False
    return all(part.min_rates is None and part.max_rates is None for part in parts)


def _numbered(parts: Iterable[Pages]) -> Iterator[tuple[int, Pages]]:
    start = 0
    for part in parts:
        yield start, part
        start += len(part)


def _name_node(level: str, node: int) -> str:
    return "the budget" if level == "budget" else f"the cap of {level} {node}"
