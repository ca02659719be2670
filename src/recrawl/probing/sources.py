"""Many sources under one budget of probes, by a price."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.kernels.probe_grid import count_probes
from recrawl.probing.source_batch import SourceBatch
from recrawl.probing.source_brackets import (
    Brackets,
    chord_price,
    is_tied,
    narrow,
    next_price,
)
from recrawl.probing.source_passes import (
    Batches,
    ManySchedules,
    count_sources,
    on_threads,
    pieces_of,
    schedule_sources,
)

_ROUNDS = 200
_Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class ProbeAllocation:
    """Allocation of probes to sources.

    Parameters
    ----------
    counts : shape (n,), probes of each source in one period
    costs : shape (n,), their expected weighted costs
    price : what one more probe of the budget would buy, at least; 0 where the budget is not used up
    host_prices : host number -> price of its own, for hosts at their limit
    lower_bound : no allocation costs less (duality)
    rounds : prices tried
    """

    counts: Integers
    costs: Vector
    price: float
    host_prices: Mapping[int, float]
    lower_bound: float
    rounds: int

    @property
    def total_cost(self) -> float:
        """Expected weighted cost of all sources."""
        return float(self.costs.sum())

    @property
    def integrality_gap(self) -> float:
        """Cost above the lower bound, relative: what whole probes and ties leave open."""
        return max(self.total_cost - self.lower_bound, 0.0) / max(self.total_cost, 1e-300)


def allocate_probes(
    batches: Batches,
    budget: int,
    *,
    host_limits: Mapping[int, int] | None = None,
    threads: int = 1,
    progress: _Progress | None = None,
) -> ProbeAllocation:
    r"""Spread a budget of probes over sources so that the total expected cost is least.

    Parameters
    ----------
    batches : yields the sources, the same each time it is called; only a few batches are held
    budget : most probes of all sources in one period, >= the number of sources
    host_limits : host number -> most probes of its sources together
    threads : used at once
    progress : called with (round, sources whose number is not settled) after each price

    Returns
    -------
    ProbeAllocation
        Optimal: whole probes leave no gap, as each source's least cost is convex in its number
        of probes. ``lower_bound`` proves it.

    Raises
    ------
    InvalidModel
        If the budget or a host's limit is below the number of sources.
    NotConverged
        If 200 prices did not settle all sources (never seen).

    Notes
    -----
    At a price c every source alone minimises cost + c probes, one pass over its grid. Sources
    whose number is the same at both ends of the bracket of prices are not looked at again; when
    all others differ by one probe, their gains are sorted. Hosts at their limits are solved
    first, each with its own price, which then is a largest number for each of their sources:
    greedy solutions nest. O(n N) for each of about 8 prices, O(n) memory beside the batches held.
    """
    hosts, most, strength = _survey(batches)
    if budget < most.size:
        raise InvalidModel(
            f"a budget of {budget} probes is less than one for each of {most.size} sources, "
            "and every source is probed at the end of the period"
        )
    most = most.copy()
    host_prices: dict[int, float] = {}
    rounds = 0
    for_hosts = _limits(hosts, host_limits or {})
    if for_hosts is not None:
        group, limits, numbers = for_hosts
        counts, prices, rounds = _solve(batches, group, limits, most, strength, (threads, progress))
        inside = group >= 0
        most[inside] = np.minimum(most[inside], counts[inside])
        host_prices = {
            int(numbers[g]): float(prices[g]) for g in range(limits.size) if prices[g] > 0
        }
    group = np.zeros(most.size, np.int64)
    counts, found, more = _solve(
        batches, group, np.array([budget]), most, strength, (threads, progress)
    )
    price = float(found[0])
    return _certify(
        batches, counts, price, host_prices, (hosts, budget, host_limits or {}),
        (threads, rounds + more),
    )  # fmt: skip


def _survey(batches: Batches) -> tuple[Integers, Integers, Vector]:
    """Host, largest number of probes and strength of every source, in order."""
    hosts, most, strength = [], [], []
    cells = None
    for batch in batches():
        N = batch.updates.shape[1]
        if cells not in {None, N}:
            raise InvalidModel(f"all batches must have the same grid, got {cells} and {N} cells")
        cells = N
        hosts.append(batch.hosts)
        largest = 1 + (N - batch.gaps) // batch.gaps
        most.append(np.minimum(batch.most, largest))
        strength.append(
            np.sqrt(batch.weights) * np.sqrt(batch.updates * batch.importance).sum(axis=1)
        )
    if not hosts:
        raise InvalidModel("there is no source")
    return np.concatenate(hosts), np.concatenate(most), np.concatenate(strength)


def _limits(
    hosts: Integers, limits: Mapping[int, int]
) -> tuple[Integers, Integers, list[int]] | None:
    numbers = [host for host in limits if np.any(hosts == host)]
    if not numbers:
        return None
    position = {host: g for g, host in enumerate(numbers)}
    known, inverse = np.unique(hosts, return_inverse=True)
    group = np.array([position.get(int(host), -1) for host in known])[inverse]
    sizes = np.bincount(group[group >= 0], minlength=len(numbers))
    for g, host in enumerate(numbers):
        if limits[host] < sizes[g]:
            raise InvalidModel(
                f"host {host}: a limit of {limits[host]} probes is less than one for each of its "
                f"{sizes[g]} sources"
            )
    return group, np.array([limits[host] for host in numbers]), numbers


def _solve(
    batches: Batches,
    group: Integers,
    budgets: Integers,
    most: Integers,
    strength: Vector,
    work: tuple[int, _Progress | None],
) -> tuple[Integers, Vector, int]:
    """Counts, prices and rounds: each group spends its budget (group -1 is left out)."""
    threads, progress = work
    inside = group >= 0
    members = np.where(inside, group, 0)
    bracket = _widest(batches, inside, most, threads)
    done = _spent(bracket.high, inside, members, budgets.size) <= budgets
    settled = inside & done[members]
    bracket.low = np.where(settled, bracket.high, bracket.low)
    low, high = np.zeros(budgets.size), np.full(budgets.size, np.inf)
    guess = 0.5 * (np.bincount(members[inside], strength[inside], budgets.size) / budgets) ** 2
    unsettled = 0
    for rounds in range(1, _ROUNDS + 1):
        open_ = inside & (bracket.high > bracket.low) & ~done[members]
        unsettled = int(open_.sum())
        if progress is not None:
            progress(rounds, unsettled)
        wide = open_ & (bracket.high > bracket.low + 1) & ~bracket.is_linear
        if not np.any(wide | (open_ & np.isnan(bracket.low_costs))):
            break
        if rounds % 2 == 0:
            guess = chord_price(bracket, wide, members, (guess, low, high))
        counts, costs = count_sources(batches, guess[members], open_, threads)
        bracket.is_linear |= wide & is_tied(bracket, counts, costs, guess[members], strength)
        now = np.where(open_, np.clip(counts, bracket.low, bracket.high), bracket.low)
        costs = np.where(now == counts, costs, np.nan)
        dear = _spent(now, inside, members, budgets.size) <= budgets
        narrow(bracket, now, costs, (open_ & dear[members], open_ & ~dear[members]))
        high = np.where(dear, np.minimum(high, guess), high)
        low = np.where(dear, low, np.maximum(low, guess))
        spent = (
            _spent(bracket.low, inside, members, budgets.size),
            _spent(bracket.high, inside, members, budgets.size),
        )
        guess = next_price(rounds, budgets, (low, high), spent)
    else:
        raise NotConverged("probes of many sources", iterations=_ROUNDS, residual=float(unsettled))
    prices = np.where(done, 0.0, low)
    counts = _fill(batches, bracket, inside, members, (budgets, prices, done))
    return counts, prices, rounds


def _widest(batches: Batches, inside: Flags, most: Integers, threads: int) -> Brackets:
    """From one probe to as many as help: those at a price of 0, or the most allowed."""
    counts, costs = count_sources(batches, np.zeros(most.size), inside, threads)
    free = np.minimum(counts, most)
    return Brackets(
        low=np.ones(most.size, np.int64),
        high=np.where(inside, free, 1),
        low_costs=np.full(most.size, np.nan),
        high_costs=np.where(counts == free, costs, np.nan),
        is_linear=np.zeros(most.size, np.bool_),
    )


def _spent(
    counts: Integers,
    inside: Flags,
    members: Integers,
    n_groups: int,
) -> Integers:
    return np.bincount(members[inside], counts[inside], n_groups).astype(np.int64)


def _fill(
    batches: Batches,
    bracket: Brackets,
    inside: Flags,
    members: Integers,
    goal: tuple[Integers, Vector, Flags],
) -> Integers:
    """Give what is left of each budget to the sources that gain most from one more probe."""
    budgets, prices, done = goal
    counts = bracket.low.copy()
    open_ = np.flatnonzero(inside & (bracket.high > bracket.low) & ~done[members])
    steps = (bracket.high - bracket.low)[open_]
    gains = np.repeat(_gains(batches, bracket, open_) / steps, steps)
    takers = np.repeat(open_, steps)
    order = np.lexsort((-gains, members[takers]))
    ranked, gains = takers[order], gains[order]
    left = budgets - np.bincount(members[inside], counts[inside], budgets.size).astype(np.int64)
    firsts = np.searchsorted(members[ranked], np.arange(budgets.size + 1))
    for g, (first, last) in enumerate(pairwise(firsts)):
        if done[g]:
            continue
        np.add.at(counts, ranked[first : first + left[g]], 1)
        if last - first > left[g]:
            prices[g] = max(gains[first + left[g]], 0.0)  # the best probe not bought
        elif last > first:
            prices[g] = gains[last - 1]
    return counts


def _gains(batches: Batches, bracket: Brackets, open_: Integers) -> Vector:
    """Return the fall in cost over each open bracket, computed where no price told."""
    known = bracket.low_costs[open_] - bracket.high_costs[open_]
    missing = open_[np.isnan(known)]
    if missing.size:
        first = 0
        for batch in batches():
            here = missing[(missing >= first) & (missing < first + batch.size)] - first
            for s in here:
                one = batch.part(s, s + 1)
                costs = [
                    schedule_sources(one, np.array([number]), np.zeros(1)).costs[0]
                    for number in (bracket.low[first + s], bracket.high[first + s])
                ]
                known[np.searchsorted(open_, first + s)] = costs[0] - costs[1]
            first += batch.size
    return known


def schedule_batches(
    batches: Batches, allocation: ProbeAllocation, hosts: Mapping[int, float] | None = None
) -> Iterator[ManySchedules]:
    """Yield the optimal schedules of each batch for the numbers of probes allocated.

    Parameters
    ----------
    batches : as for :func:`allocate_probes`
    allocation : of the same sources in the same order
    hosts : host number -> price of its own, tried first if it is dearer; None: the allocation's
    """
    own = allocation.host_prices if hosts is None else hosts
    first = 0
    for batch in batches():
        part = slice(first, first + batch.size)
        prices = _prices_of(batch.hosts, allocation.price, own)
        yield schedule_sources(batch, allocation.counts[part], prices)
        first += batch.size


def _prices_of(hosts: Integers, price: float, own: Mapping[int, float]) -> Vector:
    prices = np.full(hosts.size, price)
    for host, dearer in own.items():
        prices[hosts == host] = max(price, dearer)
    return prices


def _certify(
    batches: Batches,
    counts: Integers,
    price: float,
    host_prices: Mapping[int, float],
    limits: tuple[Integers, int, Mapping[int, int]],
    work: tuple[int, int],
) -> ProbeAllocation:
    """Costs of the schedules, and the dual function at the prices as a lower bound."""
    threads, rounds = work
    _, budget, host_limits = limits
    exact = np.empty(counts.size)
    dual = np.empty(counts.size)
    own = {host: dearer for host, dearer in host_prices.items() if dearer > price}

    def one(job: tuple[SourceBatch, int]) -> None:
        batch, first = job
        part = slice(first, first + batch.size)
        prices = _prices_of(batch.hosts, price, own)
        found = schedule_sources(batch, counts[part], prices)
        exact[part] = found.costs
        best, value = np.empty(batch.size, np.int64), np.empty(batch.size)
        everyone = np.ones(batch.size, np.bool_)
        count_probes(
            batch.updates, batch.importance, batch.weights, batch.gaps,
            prices, everyone, best, value,
        )  # fmt: skip
        # A source at its own largest number pays what its last probe saves, if that is more.
        capped = counts[part] >= batch.most
        dual[part] = np.where(
            capped & (best > counts[part]),
            exact[part] + prices * counts[part],
            value + prices * best,
        )

    on_threads(one, pieces_of(batches, threads), threads)
    bound = float(dual.sum()) - price * budget
    for host, dearer in own.items():
        bound -= (dearer - price) * host_limits[host]
    return ProbeAllocation(
        counts, exact, price, host_prices, min(bound, float(exact.sum())), rounds
    )
