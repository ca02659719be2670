"""Steps of :mod:`recrawl.kernels.revisits` for many pages at once, in numpy.

For a crawl and for tables of everyday size: it needs no compiler, and 10,000 pages take some
hundredths of a second. The functions, and what they take, are those of the same names there, and
agree to about 1e-6: there, chances are read from tables in single precision.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np

from recrawl.kernels import group_clocks
from recrawl.kernels.arrays import Flags, Integers, Singles, Vector
from recrawl.kernels.compile import interpreted
from recrawl.kernels.lanes import LANES

Belief = tuple[Singles, Singles, Integers, Vector, Vector, Vector]

_CHUNK: Final = 256  # pages at a time, so that what is between stays in the cache
_STEPS: Final = 8  # ages in each octave
_LOWEST, _OCTAVES = -36, 56  # powers of two of the slowest rate times an age
_LEAST: Final = 1e-12  # evidence never tells more against a rate than this
_NEXT_TO_NOTHING: Final = 1e-30
_DOUBT: Final = (1.0, 8.0, 0.2)  # least and greatest shape of a page in doubt, share of the price
_TWOS: Final = np.asarray(2.0 ** np.arange(LANES))
_AGES: Final = np.asarray(2.0 ** (_LOWEST + np.arange(_STEPS * _OCTAVES) / _STEPS))
_X: Final = _AGES[:, None] * _TWOS  # rate times age, shape (ages, rates)
_FRESH: Final = np.asarray(-np.expm1(-_X) / _X)
_SPENT: Final = np.asarray(-np.expm1(-_X))
_WORTH: Final = np.where(_X > 1e-3, _FRESH - np.exp(-_X), _X * (0.5 - _X / 3.0))


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, n, _CHUNK))


def _believe(rows: Integers, belief: Belief) -> tuple[Vector, Vector]:
    """Chances of each page's rates at present, and those of its paces of forgetting."""
    evidence, laws, law, _, _, shares = belief
    parts = shares[:, None] * evidence[rows] * laws[law[rows]][:, None, :]
    parts /= parts.sum(axis=(1, 2))[:, None, None]
    return np.asarray(parts.sum(axis=1)), np.asarray(parts.sum(axis=2))


def fill_moments(rows: Integers, belief: Belief, mean: Vector, square: Vector) -> None:
    """Write the first two moments of each page's rate."""
    slowest = belief[3][0]
    for chunk in _chunks(rows.size):
        now, _ = _believe(rows[chunk], belief)
        mean[chunk] = slowest * (now @ _TWOS)
        square[chunk] = slowest * slowest * (now @ (_TWOS * _TWOS))


def fill_freshness(rows: Integers, belief: Belief, crawl_rates: Vector, out: Vector) -> None:
    """Write how fresh even visits keep each page, averaged over what its rate may be."""
    for chunk in _chunks(rows.size):
        now, _ = _believe(rows[chunk], belief)
        y = belief[3] / crawl_rates[chunk, None]
        out[chunk] = (now * (-np.expm1(-y) / y)).sum(axis=1)


def tally_rates(rows: Integers, belief: Belief, tally: Vector, classes: Vector) -> None:
    """Add each page's chances of rates to its group, and of paces of forgetting to all.

    Half of what a page adds is its rate over its whole life, half its rate at present.
    """
    evidence, laws, law = belief[:3]
    for chunk in _chunks(rows.size):
        own = rows[chunk]
        now, paces = _believe(own, belief)
        ever = laws[law[own]] * evidence[own, 0].astype(np.float64)
        ever /= ever.sum(axis=1, keepdims=True) + _NEXT_TO_NOTHING
        np.add.at(tally, law[own], 0.5 * (now + ever))
        classes += paces.sum(axis=0)


def observe_visits(
    page: Integers,
    elapsed: Vector,
    changed: Flags,
    lapse: Vector,
    belief: Belief,
    predicted: Vector,
) -> None:
    """Take visits into account, each page's in the order of time."""
    if not page.size:
        return
    order = np.argsort(page, kind="stable")
    ahead = np.arange(page.size) - np.searchsorted(page[order], page[order])
    turns = order[np.argsort(ahead, kind="stable")]  # first visits of all, then second ones
    ends = np.cumsum(np.bincount(ahead))
    for start, stop in zip(np.append(0, ends[:-1]), ends, strict=True):
        for chunk in _chunks(int(stop - start)):
            v = turns[start:stop][chunk]
            given = _absorb(page[v], elapsed[v], changed[v], lapse[v], belief)
            if predicted.size:
                predicted[v] = given


def _absorb(
    page: Integers, elapsed: Vector, changed: Flags, lapse: Vector, belief: Belief
) -> Vector:
    """Take one visit of each of these pages into account; the chance that it had been given."""
    evidence, laws, law, rates, ends, shares = belief
    x = np.clip(rates[0] * elapsed, 2.0**_LOWEST, 60.0)[:, None] * _TWOS
    chance = np.where(changed[:, None], -np.expm1(-x), np.exp(-x))
    own, seen = laws[law[page]].astype(np.float64), evidence[page].astype(np.float64)
    left = np.einsum("vj,vkj->vk", own * chance, seen)
    after, before = left @ shares, np.einsum("vj,vkj->vk", own, seen) @ shares
    scale = 1.0 / (after + _NEXT_TO_NOTHING)
    kept = np.exp(-ends * lapse[:, None])
    seen *= (kept * scale[:, None])[:, :, None] * chance[:, None, :]
    seen += ((1.0 - kept) * left * scale[:, None] + _LEAST)[:, :, None]
    evidence[page] = seen
    return np.asarray(after / before)


def fill_intervals(
    rows: Integers, prices: Vector, start: Vector, belief: Belief, bounds: Vector, out: Vector
) -> None:
    """Write the interval of each page at its own price.

    The worth of a visit at all ages is one product of matrices; ``start`` is not needed here.
    """
    grain, shortest, longest, doubt = bounds
    slowest = belief[3][0]
    first = min(
        max(int(np.searchsorted(_AGES, shortest * slowest, "right")) - 1, 0), _AGES.size - 2
    )
    last = max(int(np.searchsorted(_AGES, longest * slowest, "right")), first + 1)
    ages = slice(first, min(last, _AGES.size - 1) + 1)
    for chunk in _chunks(rows.size):
        now, paces = _believe(rows[chunk], belief)
        worth = _worths(rows[chunk], now, paces, belief, ages, grain)
        price = prices[chunk]
        found = _age_at(price, worth, ages) / slowest
        found = np.where(price < np.inf, np.clip(found, shortest, longest), longest)
        if doubt > 0.0:
            found = _look_sooner(found, price, now, worth, ages, bounds, slowest)
        out[chunk] = found


def fill_worth(rows: Integers, ages: Vector, belief: Belief, bounds: Vector, out: Vector) -> None:
    """Write what a visit of each page is worth at its age, weight one."""
    slowest, grain = belief[3][0], bounds[0]
    along = (np.log2(ages * slowest + 1e-300) - _LOWEST) * _STEPS
    along = np.clip(along, 0.0, _AGES.size - 1.001)
    for chunk in _chunks(rows.size):
        now, paces = _believe(rows[chunk], belief)
        k = along[chunk].astype(np.int64)
        below, above = (
            np.log(_worth_at(k + step, rows[chunk], now, paces, belief, grain)) for step in (0, 1)
        )
        out[chunk] = np.exp(below + (along[chunk] - k) * (above - below))


def _worth_at(
    k: Integers, rows: Integers, now: Vector, paces: Vector, belief: Belief, grain: float
) -> Vector:
    """Worth of a visit of each page at an age of its own, weight one; see :func:`_worths`."""
    slowest, ends = belief[3][0], belief[4]
    ages = _AGES[k] / slowest
    other = belief[1][belief[2][rows]].astype(np.float64) - now
    worth = (now * _WORTH[k]).sum(axis=1)
    if ends.size > 1:
        gain = np.where(other @ (1.0 / _TWOS) > 0.0, (other * _FRESH[k]).sum(axis=1), 0.0)
        anew = -np.expm1(-ends[1:] * ages[:, None])
        worth += (paces[:, 1:] * anew).sum(axis=1) * np.maximum(gain, 0.0)
    return np.asarray(worth * ages + 0.5 * grain * (now * _SPENT[k]).sum(axis=1) + 1e-300)


def tell_groups(
    page: Integers,
    since: Vector,
    at_instants: Vector,
    changed: Flags,
    silent: Vector,
    belief: Belief,
    clocks: group_clocks.Clocks,
) -> None:
    """Tell clocks of visits, in the order of time, by what is believed of the pages' own rates.

    Each visit is told by what the ones before it made of the clocks, so they take turns here, too:
    an eighth of a millisecond each.
    """
    aged, clocked = interpreted(group_clocks.aged), interpreted(group_clocks.clocked)
    tell, rely = interpreted(group_clocks.tell_clocks), interpreted(group_clocks.rely_on_clocks)
    turn = interpreted(group_clocks.turn)
    views: Any = tuple(
        memoryview(cast("Any", one)) for one in clocks
    )  # their numbers are the interpreter's own
    slowest, ages = float(belief[3][0]), np.empty((2, 1))
    for chunk in _chunks(page.size):
        known, _ = _believe(page[chunk], belief)
        told = (page, since, at_instants, changed, silent)
        visits = zip(*(one[chunk].tolist() for one in told), strict=True)
        for before, (i, was, now, found, share) in zip(known, visits, strict=True):
            turn(now, clocks)
            older = share * aged(i, was, now, views)
            ages[0], ages[1] = clocked(i, was, now, views), now - was
            quiet, calm = before * np.exp(-np.minimum(slowest * older * ages, 60.0) * _TWOS)
            stays, calms = float(quiet.sum()), float(calm.sum())
            hazard = share * slowest * float(quiet @ _TWOS) / (stays + _NEXT_TO_NOTHING)
            tell(i, was, now, found, hazard, stays, views)
            rely(1.0 - stays if found else stays, 1.0 - calms if found else calms, views)


def _worths(
    rows: Integers, now: Vector, paces: Vector, belief: Belief, ages: slice, grain: float
) -> Vector:
    """Worth of a visit at each age, weight one; shape (rows, ages).

    By then the rate may have been drawn anew: what has calmed down is worth more again.
    """
    slowest, ends = belief[3][0], belief[4]
    law = belief[1][belief[2][rows]].astype(np.float64)
    worth = now @ _WORTH[ages].T
    other = law - now
    calmer = np.flatnonzero(other @ (1.0 / _TWOS) > 0.0)
    if ends.size > 1 and calmer.size:
        anew = -np.expm1(-ends[1:, None] * (_AGES[ages] / slowest))
        gain = np.maximum(other[calmer] @ _FRESH[ages].T, 0.0)
        worth[calmer] += (paces[calmer, 1:] @ anew) * gain
    worth *= _AGES[ages] / slowest
    if grain > 0.0:
        worth += 0.5 * grain * (now @ _SPENT[ages].T)
    return np.asarray(worth + 1e-300)


def _age_at(price: Vector, worth: Vector, ages: slice) -> Vector:
    """Age at which the worth reaches the price, in units of the slowest rate.

    A straight line between the logarithms at two ages; the first or the last where it never does.
    """
    each = np.arange(price.size)
    k = np.clip((worth <= price[:, None]).sum(axis=1) - 1, 0, worth.shape[1] - 2)
    below, above = np.log(worth[each, k]), np.log(worth[each, k + 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(above > below, (np.log(price) - below) / (above - below), 1.0)
    return np.asarray(_AGES[ages][k] * 2.0 ** (np.clip(along, 0.0, 1.0) / _STEPS))


def _look_sooner(
    found: Vector,
    price: Vector,
    now: Vector,
    worth: Vector,
    ages: slice,
    bounds: Vector,
    slowest: float,
) -> Vector:
    """In doubt: look while the answer tells rates apart, if that is worth something."""
    _, shortest, longest, doubt = bounds
    mean = now @ _TWOS
    spread = now @ (_TWOS * _TWOS) - mean * mean
    k = ((np.log(doubt / mean) / np.log(2.0) - _LOWEST) * _STEPS).astype(np.int64) - ages.start
    k = np.clip(k, 0, worth.shape[1] - 1)
    soon = _AGES[ages][k] / slowest
    doubtful = (_DOUBT[0] * spread < mean * mean) & (mean * mean < _DOUBT[1] * spread)
    doubtful &= (found < 0.99 * longest) & (soon >= shortest) & (soon < found)
    doubtful &= worth[np.arange(price.size), k] >= _DOUBT[2] * price
    return np.where(doubtful, soon, found)
