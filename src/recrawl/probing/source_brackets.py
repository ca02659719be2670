"""Brackets of many sources by the prices tried so far, and which price to try next."""

from dataclasses import dataclass

import numpy as np

from recrawl.kernels.arrays import Flags, Integers, Vector


@dataclass(eq=False)
class Brackets:
    """For each source what the prices tried so far say: (low, high) counts and costs."""

    low: Integers
    high: Integers
    low_costs: Vector
    high_costs: Vector
    is_linear: Flags  # the cost is known to be linear from low to high


def narrow(
    bracket: Brackets,
    now: Integers,
    costs: Vector,
    ends: tuple[Flags, Flags],
) -> None:
    """Move one end of each bracket to what a price told; a known cost is never forgotten.

    Parameters
    ----------
    bracket : of n sources, is changed
    now : shape (n,), probes at the price, within the bracket
    costs : shape (n,), their costs; NaN where not known
    ends : (to_low, to_high), shape (n,), whose low and whose high end moves
    """
    to_low, to_high = ends
    forget = to_low & ((now != bracket.low) | ~np.isnan(costs))
    bracket.low_costs = np.where(forget, costs, bracket.low_costs)
    bracket.low = np.where(to_low, now, bracket.low)
    forget = to_high & ((now != bracket.high) | ~np.isnan(costs))
    bracket.high_costs = np.where(forget, costs, bracket.high_costs)
    bracket.high = np.where(to_high, now, bracket.high)


def chord_price(
    bracket: Brackets,
    wide: Flags,
    members: Integers,
    prices: tuple[Vector, Vector, Vector],
) -> Vector:
    """The mean gain of a probe over the brackets still wide, where it is between the prices.

    Parameters
    ----------
    bracket : of n sources
    wide : shape (n,), whose gain counts, if the costs at both ends are known
    members : shape (n,), group of each source, 0 <= group < g
    prices : (guess, low, high), shape (g,), of a probe; the guess stays where no mean is between
    """
    guess, low, high = prices
    gains = bracket.low_costs - bracket.high_costs
    use = wide & np.isfinite(gains)
    total = np.bincount(members[use], gains[use], guess.size)
    probes = np.bincount(members[use], (bracket.high - bracket.low)[use], guess.size)
    mean = total / np.maximum(probes, 1)
    return np.where((probes > 0) & (mean > low) & (mean < high), mean, guess)


def is_tied(
    bracket: Brackets,
    counts: Integers,
    costs: Vector,
    prices: Vector,
    strength: Vector,
) -> Flags:
    """Whether both ends of a bracket are optimal at this price, so that all between tie.

    Parameters
    ----------
    bracket : of n sources
    counts, costs : shape (n,), probes of an optimum at the price, and their cost
    prices : shape (n,), of a probe
    strength : shape (n,), its square is a cost that ties are measured by (to 1e-11)
    """
    scale = 1e-11 * (strength**2 + np.abs(prices) * counts)
    best = costs + prices * counts
    at_low = bracket.low_costs + prices * bracket.low
    at_high = bracket.high_costs + prices * bracket.high
    return np.asarray((np.abs(at_low - best) <= scale) & (np.abs(at_high - best) <= scale))


def next_price(
    rounds: int,
    budgets: Integers,
    prices: tuple[Vector, Vector],
    spent: tuple[Integers, Integers],
) -> Vector:
    """Between the prices known, where the spending would be the budget if it fell as a power.

    Parameters
    ----------
    rounds : number of the round; every fourth takes the geometric mean
    budgets : shape (g,), probes of each group, > 0
    prices : (low, high), shape (g,), >= 0, the high one infinite while none is known
    spent : (few, many), shape (g,), probes at the high and at the low price
    """
    low, high = prices
    few, many = (np.maximum(part, 1).astype(float) for part in spent)
    known = np.isfinite(high) & (low > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(many / budgets) / np.log(many / few)
        share = np.where(np.isfinite(share), np.clip(share, 0.02, 0.98), 0.5)
        share = np.where(rounds % 4 == 0, 0.5, share)
        between = low * (high / low) ** share
    opened = np.where(np.isfinite(high), high * 0.5, np.maximum(low, 1e-300) * 2.0)
    return np.where(known, between, opened)
