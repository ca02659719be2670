"""Beliefs about change rates, when they make a visit worth its price, and replays of history.

This module is longer than most: the replay calls the very loops by which the crawler learns and
decides, and kernels that call each other stand in one file.

A belief is a tuple of arrays: ``evidence``, of shape (pages, paces of forgetting, rates), is how
likely a page's visits are at each rate, up to a factor for each page; ``laws``, of shape (groups,
rates), are the shares of rates in each group, ``law`` is the group of each page; ``rates`` ascend
by factors of two; ``ends`` are the rates at which a page's change rate is drawn anew, and
``shares`` how many pages have each of these. ``bounds`` are four numbers: how coarse in time
changes can be seen at all, shortest interval, longest interval, and how long a page in doubt is
left alone, in units of its mean time between changes.

There are always as many rates as there are ``LANES``, so that what is known of a page's rates is
one value in registers, in single precision: what is summed is positive, and scaled at each visit.
"""

from math import exp, expm1, inf
from typing import Any

import numpy as np

from recrawl.kernels.arrays import Flags, Integers, Singles, Vector
from recrawl.kernels.compile import kernel, reordering_kernel
from recrawl.kernels.group_clocks import (
    Clocks,
    aged,
    aged_ahead,
    believed_time,
    clocked,
    rely_on_clocks,
    tell_clocks,
    turn,
)
from recrawl.kernels.lanes import LANES, at, fetch, hold, put, total, where

Belief = tuple[Singles, Singles, Integers, Vector, Vector, Vector]
Row = Any  # of as many numbers as there are rates, in registers
Terms = tuple[float, float, float, float, float, int, int]  # the bounds, 1 / slowest rate, steps
Anew = tuple[int, Singles, Singles]  # number of paces, where their chances and new rates stand
History = tuple[Integers, Vector, Vector, Vector]  # first change of each page, changes, born, gone
Copies = tuple[Vector, Integers, Integers]  # last visit, first change not seen, found to be gone
Queue = tuple[Integers, Vector, Integers]  # heap, due, counters
Limits = tuple[Integers, Vector, Vector, Vector]  # hosts, gaps, ready, dearer
Own = tuple[Vector, Vector, Vector, Vector]  # interval, last change seen, count, counted at
# signals, silent, quiet, recalls, when listings were read last, and logs of signals and unheard
Heard = tuple[Vector, Vector, Vector, Vector, Vector, Vector, Vector]

_IN_DOUBT = (1.0, 8.0, 0.2)  # least and greatest shape of such a page, share of the price
_LN2 = 0.6931471805599453
_STEPS = 8  # of an octave: two to the power of three
_STEP = _LN2 / _STEPS
_LOWEST = -36  # the slowest rate times an age, as a power of two: where the tables begin
_OCTAVES = 56
_CHUNK = 64  # pages that are added up in single precision
_ROWS = 64  # of the table of chances, in each octave
_LEAST = np.float32(1e-12)  # evidence never tells more against a rate than this
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_NEXT_TO_NOTHING = np.float32(1e-30)
_BRIEF = 1e-3  # share of an interval, that a change which was announced is known to
_TWOS = np.asarray(2.0 ** np.arange(LANES), np.float32)
_HALVES = np.asarray(0.5 ** np.arange(LANES), np.float32)
_WIDE = _OCTAVES + LANES
RULE_STEPS, RULE_AGE, RULE_COUNT = 2, 3, 4


def _octaves(within: Vector) -> Vector:
    """Numbers x that stand at these places within each octave; shape (places, octaves)."""
    return np.asarray(within[:, None] * 2.0 ** (_LOWEST + np.arange(_WIDE)))


# Rates ascend by powers of two, so that the functions of an age at all rates stand side by side.
# With x = rate times age: what a visit is worth for each unit of age, (1 - (1 + x) exp(-x)) / x;
# the chance of a change; and the mean share of time that is fresh, (1 - exp(-x)) / x. The last
# table is for any age: the chances of no change and of a change in the middle of each row.
_X = _octaves(2.0 ** (np.arange(_STEPS) / _STEPS))
_WORTH = np.where(
    _X > 1e-3, (-np.expm1(-_X) - _X * np.exp(-_X)) / _X, _X * (0.5 - _X / 3.0)
).astype(np.float32)
_SPENT = (-np.expm1(-_X)).astype(np.float32)
_FRESH = (-np.expm1(-_X) / _X).astype(np.float32)
_AGES = np.asarray(2.0 ** (_LOWEST + np.arange(_STEPS * _OCTAVES) / _STEPS), np.float64)
_MIDDLE = _octaves(1.0 + (np.arange(_ROWS) + 0.5) / _ROWS)
_CHANCES = np.stack([np.exp(-_MIDDLE), -np.expm1(-_MIDDLE)]).astype(np.float32)


# Below, arrays are named one by one and never sliced: each slice, and each array taken from a
# tuple, would be counted as one more owner, at a cost that is felt a million times a second.


# The compiler's ``min`` and ``max`` are calls, and a call empties the registers; hence the choices.


@reordering_kernel
def _within(k: int, low: int, high: int) -> int:
    return low if k < low else high if k > high else k


@reordering_kernel
def _log(x: float) -> float:
    """Logarithm of a positive number, to within 3e-8: no call, so that registers are kept."""
    bits = np.float64(x).view(np.int64)
    octave = ((bits >> 52) & 2047) - 1023
    part = np.int64((bits & ((np.int64(1) << 52) - 1)) | (np.int64(1023) << 52)).view(np.float64)
    if part > 1.4142135623730951:
        part *= 0.5
        octave += 1
    z = (part - 1.0) / (part + 1.0)
    square = z * z
    series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0)))
    return octave * _LN2 + 2.0 * z * series


@reordering_kernel
def _exp(x: float) -> float:
    """Exponential, to within 1e-8 of itself: powers of two, and a series for what is left."""
    x = -700.0 if x < -700.0 else x if x < 700.0 else 700.0
    octaves = np.floor(x / _LN2 + 0.5)
    x -= octaves * _LN2
    series = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    series = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * series)))
    return series * np.int64((np.int64(octaves) + 1023) << 52).view(np.float64)


@reordering_kernel
def _chances(x: float, changed: bool) -> Row:
    """Chance of what a visit found, at each rate; x is the slowest times the age.

    From the table at the middle of the row that holds x, and two terms of the exponential's
    series: what is left out is below 2e-7.
    """
    x = 60.0 if x > 60.0 else x if x > 2.0**_LOWEST else 2.0**_LOWEST
    bits = np.float64(x).view(np.int64)
    octave, row = (bits >> 52) - 1023 - _LOWEST, (bits >> 46) & (_ROWS - 1)
    middle = (_ROWS + row + 0.5) * float(np.int64(1) << octave) * 2.0 ** (_LOWEST - 6)
    off = np.float32(x - middle) * at(_TWOS, 0)
    near = off - _HALF * off * off
    stays = at(_CHANCES, row * _WIDE + octave)
    if changed:
        return at(_CHANCES, (_ROWS + row) * _WIDE + octave) + stays * near
    return stays - stays * near


@reordering_kernel
def _absorb(
    i: int,
    elapsed: float,
    changed: bool,
    lapse: float,
    evidence: Singles,
    law: Row,
    rates: Vector,
    ends: Vector,
    shares: Vector,
    paces: Singles,
) -> tuple[Row, float]:
    """Take one visit of page i into account; within the ``lapse`` its rate may be drawn anew.

    Returns what :func:`_believe` would return after it, at hardly more cost, and the chance that
    the visit's finding had been given.
    """
    chance = _chances(rates[0] * elapsed, changed)
    likely = law * chance
    first = i * ends.size * LANES
    known, after = _ZERO * law, _ZERO
    for k in range(ends.size):
        one, share = at(evidence, first + k * LANES), np.float32(shares[k])
        known = known + share * one
        left = total(likely * one)
        paces[k] = left
        after += share * left
    scale = _ONE / (after + _NEXT_TO_NOTHING)
    now = _ZERO * law
    for k in range(ends.size):
        kept, share = np.float32(_exp(-ends[k] * lapse)), np.float32(shares[k])
        one = (kept * scale) * at(evidence, first + k * LANES) * chance
        one = one + ((_ONE - kept) * paces[k] * scale + _LEAST)
        put(evidence, first + k * LANES, one)
        now = now + share * one
        paces[k] *= share * scale
    return now * law, float(after / total(known * law))


@reordering_kernel
def _believe(i: int, evidence: Singles, law: Row, shares: Vector, paces: Singles) -> Row:
    """Chances of the rates of page i, at present; writes those of its paces of forgetting."""
    first = i * shares.size * LANES
    now, whole = _ZERO * law, _ZERO
    for k in range(shares.size):
        one = np.float32(shares[k]) * law * at(evidence, first + k * LANES)
        paces[k] = total(one)
        whole += paces[k]
        now = now + one
    scale = _ONE / whole
    for k in range(shares.size):
        paces[k] *= scale
    return now * scale


@reordering_kernel
def _worth(k: int, calmer: bool, law: Row, now: Row, anew: Anew, terms: Terms) -> float:
    """Worth of a visit at the age that stands k steps along, weight one.

    By then the rate may have been drawn anew: what has calmed down is worth more again.
    """
    place = (k & (_STEPS - 1)) * _WIDE + (k >> 3)
    worth = total(now * at(_WORTH, place))
    if calmer:
        gain, share = total((law - now) * at(_FRESH, place)), _ZERO
        if gain > _ZERO:
            for n in range(1, anew[0]):
                share += anew[1][n] * anew[2][k * anew[0] + n]
            worth += share * gain
    whole = _AGES[k] * terms[4] * worth
    if terms[0] > 0.0:
        whole += 0.5 * terms[0] * total(now * at(_SPENT, place))
    return float(whole) + 1e-300


@reordering_kernel
def _interval(price: float, start: float, law: Row, now: Row, anew: Anew, terms: Terms) -> float:
    """Age at which a visit is worth the price, weight one; the longest where never.

    Newton's method along ages in steps of an eighth of an octave, from where the page stood last,
    and a straight line between the two steps about the answer.
    """
    _, shortest, longest, doubt, unit, first, last = terms
    if not price < inf:
        return float(longest)
    # Rates drawn anew are calmer where the mean time to a change is longer.
    calmer = total((law - now) * at(_HALVES, 0)) > _ZERO
    low, high, target = first, last, _log(price)
    bits = np.float64(start / unit).view(np.int64)  # how far along, to within a step
    k = _within(int(bits >> 49) - (1023 + _LOWEST) * _STEPS, low, high - 1)
    while True:
        below = _worth(k, calmer, law, now, anew, terms)
        above = _worth(k + 1, calmer, law, now, anew, terms)
        bottom = _log(below)
        step = (target - bottom) / (_log(above) - bottom) if above > below else inf
        if price < below:
            along = float(k)
            if k == first:
                break
            high = k
        elif price >= above:
            along = float(k + 1)
            if k + 1 == last:
                break
            low = k + 1
        else:
            along = k + step
            break
        if -1e3 < step < 1e3:
            k = _within(k + int(np.floor(step)), low, high - 1)
        else:
            k = (low + high - 1) // 2
    k = int(along)
    age = _AGES[k] * unit * _exp((along - k) * _STEP)
    age = shortest if age < shortest else longest if age > longest else age
    if doubt > 0.0 and age < 0.99 * longest:
        # In doubt: look while the answer tells rates apart, if that is worth something.
        parts = now * at(_TWOS, 0)
        mean, square = total(parts), total(parts * at(_TWOS, 0))
        spread = square - mean * mean
        if _IN_DOUBT[0] * spread < mean * mean < _IN_DOUBT[1] * spread:
            k = _within(int((_log(doubt / mean) - _LOWEST * _LN2) / _STEP), first, last)
            soon = _AGES[k] * unit
            if (
                shortest <= soon < age
                and _worth(k, calmer, law, now, anew, terms) >= _IN_DOUBT[2] * price
            ):
                age = soon
    return float(age)


@reordering_kernel
def _if_announced(price: float, silent: float, now: Row, slowest: float) -> float:
    """Return what silent changes alone must make a visit worth, at this price; inf: no age does.

    See ``RevisitControl.decide``; of a page's changes a share is silent.
    """
    if silent >= 1.0:
        return price
    lasts = float(total(now * at(_HALVES, 0))) / slowest
    left = 1.0 - (1.0 / silent - 1.0) * price / lasts
    return price / left if left > 0.0 else inf


@kernel
def _terms(slowest: float, bounds: Vector) -> Terms:
    """Bounds of intervals, also in steps of an eighth of an octave."""
    first, last = 0, _AGES.size - 1
    for k in range(_AGES.size):
        if _AGES[k] <= bounds[1] * slowest:
            first = min(k, _AGES.size - 2)
    for k in range(_AGES.size - 1, first, -1):
        if _AGES[k] > bounds[2] * slowest:
            last = k
    return bounds[0], bounds[1], bounds[2], bounds[3], 1.0 / slowest, first, last


@kernel
def _new_rates(slowest: float, ends: Vector) -> Singles:
    """Chance that a rate has been drawn anew at each age in steps, for each pace."""
    ended = np.empty((_AGES.size, ends.size), np.float32)
    for k in range(_AGES.size):
        for n in range(ends.size):
            ended[k, n] = 1.0 - exp(-ends[n] * _AGES[k] / slowest)
    return ended


@kernel
def fill_moments(rows: Integers, belief: Belief, mean: Vector, square: Vector) -> None:
    """Write the first two moments of each page's rate.

    Parameters
    ----------
    rows : shape (k,), pages
    belief : see the module
    mean, square : shape (k,), 1/time and 1/time^2, are written
    """
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    for place in range(rows.size):
        i = rows[place]
        now = _believe(i, evidence, at(laws, law[i] * LANES), shares, paces)
        parts = now * at(_TWOS, 0)
        mean[place] = rates[0] * total(parts)
        square[place] = rates[0] * rates[0] * total(parts * at(_TWOS, 0))


@kernel
def fill_freshness(rows: Integers, belief: Belief, crawl_rates: Vector, out: Vector) -> None:
    """Write how fresh even visits keep each page, averaged over what its rate may be.

    Parameters
    ----------
    rows : shape (k,), pages
    belief : see the module
    crawl_rates : shape (k,), 1/time, > 0
    out : shape (k,), shares of time, is written
    """
    evidence, laws, law, rates, ends, shares = belief
    paces, chances = np.empty(ends.size, np.float32), np.empty(LANES, np.float32)
    for place in range(rows.size):
        i, fresh = rows[place], 0.0
        put(chances, 0, _believe(i, evidence, at(laws, law[i] * LANES), shares, paces))
        for j in range(LANES):
            y = rates[j] / crawl_rates[place]
            fresh -= chances[j] * expm1(-y) / y
        out[place] = fresh


@kernel
def tally_rates(rows: Integers, belief: Belief, tally: Vector, classes: Vector) -> None:
    """Add each page's chances of rates to its group, and of paces of forgetting to all.

    Half of what a page adds is its rate over its whole life, half its rate at present.

    Parameters
    ----------
    rows : shape (k,), pages
    belief : see the module
    tally, classes : shape (groups, rates) and (paces,), numbers of pages, are added to
    """
    evidence, laws, law, _, ends, shares = belief
    paces, chunk = np.empty(ends.size, np.float32), np.empty(LANES, np.float32)
    for begin in range(0, rows.size, _CHUNK):  # in single precision only where it is enough
        done = begin
        while done < min(begin + _CHUNK, rows.size):
            g = law[rows[done]]
            own = at(laws, g * LANES)
            added = _ZERO * own
            while done < min(begin + _CHUNK, rows.size) and law[rows[done]] == g:
                i = rows[done]
                now = _believe(i, evidence, own, shares, paces)
                ever = own * at(evidence, i * ends.size * LANES)
                added = added + _HALF * now + _HALF / (total(ever) + _NEXT_TO_NOTHING) * ever
                for k in range(classes.size):
                    classes[k] += paces[k]
                done += 1
            put(chunk, 0, added)
            for j in range(LANES):
                tally[g, j] += chunk[j]


@kernel
def observe_visits(
    page: Integers,
    elapsed: Vector,
    changed: Flags,
    lapse: Vector,
    belief: Belief,
    predicted: Vector,
) -> None:
    """Take visits into account, each page's in the order of time.

    Parameters
    ----------
    page : shape (v,), page of each visit
    elapsed : shape (v,), time since the visit before, > 0
    changed : shape (v,), whether the visit found a change
    lapse : shape (v,), time within which the rate may have been drawn anew, >= 0
    belief : see the module; its evidence is written
    predicted : shape (v,), chance that was given to each visit's finding, is written; or empty
    """
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    for v in range(page.size):
        i, found = page[v], changed[v]
        if v + 4 < page.size:
            for part in range(0, ends.size * LANES, 16):
                fetch(evidence, page[v + 4] * ends.size * LANES + part)
        own = at(laws, law[i] * LANES)
        _, given = _absorb(
            i, elapsed[v], found, lapse[v], evidence, own, rates, ends, shares, paces
        )
        if predicted.size:
            predicted[v] = given


@kernel
def fill_intervals(
    rows: Integers, prices: Vector, start: Vector, belief: Belief, bounds: Vector, out: Vector
) -> None:
    """Write the interval of each page at its own price.

    Parameters
    ----------
    rows : shape (k,), pages
    prices : shape (k,), of a visit per weight, in time, > 0; inf: never worth it
    start : shape (k,), an age near the answer, or any, > 0
    belief, bounds : see the module
    out : shape (k,), in time, is written
    """
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    terms, ended = _terms(rates[0], bounds), _new_rates(rates[0], ends)
    anew = (ends.size, where(paces), where(ended))
    for place in range(rows.size):
        i, since, price = rows[place], start[place], prices[place]
        own = at(laws, law[i] * LANES)
        now = _believe(i, evidence, own, shares, paces)
        out[place] = _interval(price, since, own, now, anew, terms)
    hold(ended)
    hold(paces)


@kernel
def fill_worth(rows: Integers, ages: Vector, belief: Belief, bounds: Vector, out: Vector) -> None:
    """Write what a visit of each page is worth at its age, weight one.

    Parameters
    ----------
    rows : shape (k,), pages
    ages : shape (k,), time since the last visit, >= 0
    belief, bounds : see the module; of the bounds only the first is used
    out : shape (k,), in time, is written
    """
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    terms, ended = _terms(rates[0], bounds), _new_rates(rates[0], ends)
    anew = (ends.size, where(paces), where(ended))
    for place in range(rows.size):
        i = rows[place]
        own = at(laws, law[i] * LANES)
        now = _believe(i, evidence, own, shares, paces)
        calmer = total((own - now) * at(_HALVES, 0)) > _ZERO
        steps = (_log(ages[place] * rates[0] + 1e-300) / _LN2 - _LOWEST) * _STEPS
        steps = 0.0 if steps < 0.0 else min(steps, _AGES.size - 1.001)
        k = int(steps)
        below = _log(_worth(k, calmer, own, now, anew, terms))
        above = _log(_worth(k + 1, calmer, own, now, anew, terms))
        out[place] = _exp(below + (steps - k) * (above - below))
    hold(ended)
    hold(paces)


@kernel
def tell_groups(
    page: Integers,
    since: Vector,
    at_instants: Vector,
    changed: Flags,
    silent: Vector,
    belief: Belief,
    clocks: Clocks,
) -> None:
    """Tell clocks of visits, in the order of time, by what is believed of the pages' own rates.

    Parameters
    ----------
    page : shape (v,), page of each visit
    since, at_instants : shape (v,), instants of the visit before and of this one, these ascending
    changed : shape (v,), whether the visit found a change
    silent : shape (v,), share of the page's changes of which it had not been heard before the visit
    belief : see the module
    clocks : see :mod:`recrawl.kernels.group_clocks`; are written
    """
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    for v in range(page.size):
        i, now = page[v], at_instants[v]
        turn(now, clocks)
        before = _believe(i, evidence, at(laws, law[i] * LANES), shares, paces)
        older, found = silent[v] * aged(i, since[v], now, clocks), changed[v]
        passed = clocked(i, since[v], now, clocks)
        quiet = before * _chances(rates[0] * older * passed, False)
        stays = total(quiet)
        hazard = silent[v] * rates[0] * total(quiet * at(_TWOS, 0)) / (stays + _NEXT_TO_NOTHING)
        tell_clocks(i, since[v], now, found, float(hazard), float(stays), clocks)
        calm = total(before * _chances(rates[0] * older * (now - since[v]), False))
        rely_on_clocks(
            float(_ONE - stays if found else stays), float(_ONE - calm if found else calm), clocks
        )


@reordering_kernel
def _sift_down(keys: Vector, heap: Integers, place: int, size: int) -> int:
    """Let an item sink below its four children; return where the first to rise came from.

    Beyond the last key there are infinite ones.
    """
    key, item, came = keys[place], heap[place], -1
    while True:
        child = 4 * place + 1
        if child >= size:
            break
        left = child + (keys[child + 1] < keys[child])
        right = child + 2 + (keys[child + 3] < keys[child + 2])
        child = right if keys[right] < keys[left] else left
        if keys[child] >= key:
            break
        keys[place], heap[place] = keys[child], heap[child]
        place = child
        came = place if came < 0 else came
    keys[place], heap[place] = key, item
    return came


@kernel
def _sift_up(keys: Vector, heap: Integers, place: int) -> None:
    key, item = keys[place], heap[place]
    while place > 0:
        parent = (place - 1) // 4
        if keys[parent] <= key:
            break
        keys[place], heap[place] = keys[parent], heap[parent]
        place = parent
    keys[place], heap[place] = key, item


@kernel
def _first_ready(
    now: float,
    size: int,
    heap: Integers,
    due: Vector,
    last: Vector,
    hosts: Integers,
    ready: Vector,
) -> int:
    """Return the heap place of the page due first whose host allows a visit; -1: none."""
    found, first = -1, inf
    for place in range(size):
        i = heap[place]
        if due[i] < first and ready[hosts[i]] <= now and last[i] < now:
            found, first = place, due[i]
    return found


@reordering_kernel
def _worth_of_copy(
    a: float, b: float, first: int, end: int, changes: Vector
) -> tuple[float, float, float]:
    """Time fresh, age and penalty from a to b of a copy that lacks changes from ``first`` on."""
    if b <= a:
        return 0.0, 0.0, 0.0
    stale = changes[first] if first < end else inf
    if stale >= b:
        return b - a, 0.0, 0.0
    since = stale if stale > a else a
    age = 0.5 * ((b - stale) * (b - stale) - (since - stale) * (since - stale))
    penalty, total_penalty, n = 0.0, 0.0, 0
    low = stale
    while first < end and low < b:
        n += 1
        penalty += 1.0 / n
        first += 1
        following = changes[first] if first < end else inf
        high = following if following < b else b
        low = low if low > a else a
        if high > low:
            total_penalty += penalty * (high - low)
        low = following
    return since - a, age, total_penalty


@kernel
def credit_copies(
    end: float, history: History, copies: Copies, span: Vector, totals: Vector
) -> None:
    """Add what the copies at hand are worth until the end.

    Parameters
    ----------
    end : instant
    history, copies, span : see :func:`replay`; not written
    totals : shape (n, 3) or more columns: time fresh, age and penalty, are added to
    """
    start, changes, born, gone_at = history
    last, seen, gone = copies
    for i in range(last.size):
        if not gone[i] and born[i] < end and last[i] < inf:
            a, b = max(last[i], span[0]), min(end, span[1], gone_at[i])
            found = _worth_of_copy(a, b, seen[i], start[i + 1], where(changes))
            for k in range(3):
                totals[i, k] += found[k]


@kernel
def _step(i: int, rule: int, numbers: Vector, changed: bool, at: float, own: Own) -> None:
    """Move the interval of page i by a rule of multiplied steps, of age or of counts."""
    interval, since_change, counts, counted_from = own
    if changed:
        interval[i] = max(interval[i] * (1.0 - numbers[1]) + numbers[4], numbers[2])
        since_change[i] = at
    else:
        interval[i] = min(interval[i] * (1.0 + numbers[0]), numbers[3])
    if rule == RULE_AGE:  # the interval follows the age of what was last seen to change
        age = at - since_change[i]
        interval[i] = min(max(interval[i], age, numbers[2]), numbers[3])
    elif rule == RULE_COUNT:  # entries of about the latest week
        keep = exp(-(at - counted_from[i]) / numbers[5])
        counts[i] = counts[i] * keep + changed
        counted_from[i] = at
        pause = numbers[5] / counts[i] if counts[i] > 0.0 else inf
        interval[i] = min(max(pause, numbers[2]), numbers[3])


@kernel
def replay(
    rule: int,
    numbers: Vector,
    ticks: Vector,
    polls: Vector,
    eager: bool,
    history: History,
    order: Integers,
    copies: Copies,
    queue: Queue,
    own: Own,
    limits: Limits,
    belief: Belief,
    weights: Vector,
    bounds: Vector,
    price: Vector,
    span: Vector,
    totals: Vector,
    log_at: Vector,
    log_page: Integers,
    log_elapsed: Vector,
    log_changed: Flags,
    moment: float,
    clocks: Clocks,
    heard: Heard,
) -> None:
    """Visit pages at ticks, earliest due first, letting the rule see only what a visit shows.

    Written are copies, queue, own, when hosts are ready, the evidence, price, totals, logs, clocks
    and what is heard. There are n pages; all times are in the history's unit.

    Parameters
    ----------
    rule : 0 learned intervals, 1 given ones, or ``RULE_STEPS``, ``RULE_AGE``, ``RULE_COUNT``
    numbers : shape (6,), of these three rules: shares by which an interval grows and shrinks, least
        and greatest interval, time added at a change, and share of the age or memory of the count;
        of rule 0: the first is the price below which visits that are lost let it fall no more
    ticks : shape (t,), instants at which a visit is paid, ascending
    polls : the only instants at which anyone could look, ascending; empty: any instant
    eager : whether a tick is spent where no page is due
    history : first change of each page, shape (n + 1,), instants of changes page by page, and when
        each page was born and gone, shape (n,)
    order : shape (n,), pages in the order of birth
    copies : shape (n,) each, last visit (inf: not born yet), first change not seen, 1: found gone
    queue : heap and due, shape (n,), and 9 counters: pages waiting, pages born, visits noted, polls
        passed, visits, visits counted, of these wasted, of these without a page, visits that
        signals asked for
    own : shape (n,) each, interval, last change seen, count of changes, instant of that count
    limits : the host of each page and, for each host, the least time between visits, when it is
        ready for the next, and how much dearer its visits are; the middle two empty: no limits
    belief, bounds : see the module
    weights : shape (n,), >= 0
    price : shape (1,), of a visit per weight, in time; moved by rule 0
    span : shape (2,), instants between which visits and copies count
    totals : shape (n, 5), time fresh, age and penalty integrated, visits, changes found; added to
    log_at : room for the instants of all visits, or none
    log_page, log_elapsed, log_changed : room for all visits, or none: page, time since the visit
        before, whether there was a change
    moment : > 0: a visit shows when the last change was, to such a moment; it counts as a change
        within a moment and none since (:mod:`recrawl.learning.last_change`). Not beside clocks or
        signals
    clocks : see :mod:`recrawl.kernels.group_clocks`; where there are any, beliefs are of time on
        them, and the worth of a visit is that of the rate at which the page will change
    heard : of changes that are announced (:mod:`recrawl.simulation.announcements`), of no pages
        where nobody listens: signals of each page since its visit; share of its changes that are
        silent; for how long it is already believed to be quiet; recall and precision of each host's
        signals, one after the other; and room to note the signals before each visit
    """
    hosts, gaps, ready, dearer = limits
    start, changes, born, gone_at = history
    last, seen, gone = copies
    heap, due, counters = queue
    interval, since_change = own[0], own[1]
    evidence, laws, law, rates, ends, shares = belief
    paces = np.empty(ends.size, np.float32)
    terms, ended = _terms(rates[0], bounds), _new_rates(rates[0], ends)
    anew = (ends.size, where(paces), where(ended))
    judged_since, judged_until, changes_at = span[0], span[1], where(changes)
    foreseeing = rule == 0 and clocks[2].shape[0] > 0
    signals, silent, quiet_for, recalls, read_at, log_signals, log_unheard = heard
    hearing = rule == 0 and signals.size > 0
    size, n_born, n_logged, poll = counters[0], counters[1], counters[2], counters[3]
    keys = np.full(born.size + 4, inf)  # due times in the order of the heap
    soon = order[0]
    for place in range(size):
        keys[place] = due[heap[place]]
        _sift_up(keys, heap, place)
    for tick in ticks:
        now = tick
        if polls.size:
            while poll < polls.size and polls[poll] < now:
                poll += 1
            if poll >= polls.size:
                break
            now = polls[poll]
        if foreseeing:
            turn(now, clocks)
        while n_born < born.size and born[order[n_born]] <= now:
            i = order[n_born]
            n_born += 1
            last[i], seen[i], since_change[i] = born[i], start[i], born[i]
            own[3][i] = born[i]
            if rule == 0:
                worth = price[0] * dearer[hosts[i]] / weights[i] if weights[i] > 0.0 else inf
                own_law = at(laws, law[i] * LANES)
                believed = _believe(i, evidence, own_law, shares, paces)
                soon_as = aged_ahead(i, now, clocks) if foreseeing else 1.0
                asked = worth * soon_as
                if hearing:
                    soon_as *= silent[i]
                    asked = _if_announced(worth * soon_as, silent[i], believed, rates[0])
                interval[i] = (
                    _interval(asked, interval[i] * soon_as, own_law, believed, anew, terms)
                    / soon_as
                )
            due[i] = born[i] + interval[i]
            heap[size], keys[size] = i, due[i]
            size += 1
            _sift_up(keys, heap, size - 1)
        if size == 0:
            continue
        place = _first_ready(now, size, heap, due, last, hosts, ready) if gaps.size else 0
        if place < 0:
            continue
        i = heap[place]
        if (due[i] > now and not eager) or last[i] >= now or not due[i] < inf:
            if rule == 0 and last[i] >= now:  # a visit that the budget pays is lost
                price[0] = max(price[0] * exp(-1.0 / size), min(price[0], numbers[0]))
            continue
        if log_at.size:
            log_at[counters[4]] = now
        counters[4] += 1
        if gaps.size:
            ready[hosts[i]] = now + gaps[hosts[i]]
        counted = now >= judged_since
        counters[5] += counted
        until = now if now < judged_until else judged_until
        until = until if until < gone_at[i] else gone_at[i]
        since = last[i] if last[i] > judged_since else judged_since
        fresh, age, penalty = _worth_of_copy(since, until, seen[i], start[i + 1], changes_at)
        totals[i, 0] += fresh
        totals[i, 1] += age
        totals[i, 2] += penalty
        if now > gone_at[i]:
            gone[i] = 1
            size -= 1
            heap[place], keys[place], keys[size] = heap[size], keys[size], inf
            if place < size:
                _sift_up(keys, heap, place)
                _sift_down(keys, heap, place, size)
            counters[7] += counted
            continue
        after = seen[i]
        while after < start[i + 1] and changes[after] <= now:
            after += 1
        changed = after > seen[i]
        elapsed = now - last[i]
        if counted:
            totals[i, 3] += 1.0
            totals[i, 4] += changed
            counters[6] += not changed
        told = hearing and signals[i] > 0.0 and recalls[hosts[i]] > 0.0
        if log_page.size:
            if hearing:
                log_signals[n_logged] = signals[i]
                log_unheard[n_logged] = min(now - read_at[0], elapsed)
                counters[8] += told and now < last[i] + interval[i]
            log_page[n_logged], log_elapsed[n_logged] = i, elapsed
            log_changed[n_logged] = changed
            n_logged += 1
        if rule == 0:
            lateness = min(max((now - due[i]) / interval[i], -1.0), 1.0)
            # Else what is late was brought forward, and the plan's price holds.
            if not foreseeing and not told:
                price[0] *= _exp(lateness / size)
            own_law = at(laws, law[i] * LANES)
            seen_for, found, lapse = elapsed, changed, elapsed
            soon_as, recall, unheard, unsaid = 1.0, 0.0, 0.0, 1.0
            if hearing:
                recall = recalls[hosts[i]]
                unheard = min((now - read_at[0]) / elapsed, 1.0)
                unsaid = 1.0 - recall * (1.0 - unheard)
            if foreseeing:
                soon_as = aged_ahead(i, now, clocks)
                passed = clocked(i, last[i], now, clocks)
                older = aged(i, last[i], now, clocks)
                seen_for = believed_time(passed, elapsed, older, clocks)
                if not told:  # else the visit was made because of a change, and says nothing of how
                    # often there is one
                    before = _believe(i, evidence, own_law, shares, paces)
                    quiet = before * _chances(unsaid * rates[0] * older * passed, False)
                    stays = total(quiet)
                    hazard = unsaid * rates[0] * total(quiet * at(_TWOS, 0))
                    hazard /= stays + _NEXT_TO_NOTHING
                    tell_clocks(i, last[i], now, changed, float(hazard), float(stays), clocks)
                    calm = total(before * _chances(unsaid * rates[0] * older * elapsed, False))
                    rely_on_clocks(
                        float(_ONE - stays if changed else stays),
                        float(_ONE - calm if changed else calm),
                        clocks,
                    )
            if hearing:
                # As in recrawl.learning.last_change.split_visits: what was not announced counts.
                soon_as *= silent[i]
                if changed and recall > 0.0:
                    if not told:  # what was announced counted when it was heard
                        hidden = unsaid if unsaid > _BRIEF else _BRIEF
                        _absorb(
                            i,
                            hidden * seen_for,
                            True,
                            0.0,
                            evidence,
                            own_law,
                            rates,
                            ends,
                            shares,
                            paces,
                        )
                    seen_for, found = recall * (1.0 - unheard) * seen_for, False
                seen_for = seen_for - quiet_for[i] if seen_for > quiet_for[i] else 0.0
                signals[i], quiet_for[i] = 0.0, 0.0
            elif not foreseeing and moment > 0.0 and changed:
                since_then = now - changes[after - 1]
                if since_then + moment < elapsed:
                    _absorb(
                        i,
                        moment,
                        True,
                        0.0,
                        evidence,
                        own_law,
                        rates,
                        ends,
                        shares,
                        paces,
                    )
                    seen_for, found = max(since_then, moment), False
            believed, _ = _absorb(
                i,
                seen_for,
                found,
                lapse,
                evidence,
                own_law,
                rates,
                ends,
                shares,
                paces,
            )
            worth = price[0] * dearer[hosts[i]] / weights[i] if weights[i] > 0.0 else inf
            asked = worth * soon_as
            if hearing:
                asked = _if_announced(asked, silent[i], believed, rates[0])
            interval[i] = (
                _interval(asked, interval[i] * soon_as, own_law, believed, anew, terms) / soon_as
            )
        elif rule >= RULE_STEPS:
            _step(i, rule, numbers, changed, now, own)
        due[i] = now + interval[i]
        if rule == RULE_AGE:  # ... and the next visit comes earlier by a share of that age
            early = numbers[5] * (now - since_change[i])
            due[i] -= min(early, numbers[5] * interval[i])
        if polls.size and poll + 1 < polls.size:
            due[i] = max(due[i], polls[poll + 1])
        seen[i], last[i] = after, now
        keys[place] = due[i]
        if place > 0:
            _sift_up(keys, heap, place)
        came = _sift_down(keys, heap, place, size)
        fetch(changes, seen[soon])
        if came > 0:  # this page is among the next four: bring what is known of it
            soon = heap[came]
            fetch(seen, soon)
            fetch(totals, soon * totals.shape[1])
            fetch(gone_at, soon)
            fetch(last, soon)
            fetch(start, soon)
            fetch(interval, soon)
            fetch(due, soon)
            if rule == 0:
                fetch(weights, soon)
                fetch(law, soon)
                fetch(hosts, soon)
                for part in range(0, ends.size * LANES, 16):
                    fetch(evidence, soon * ends.size * LANES + part)
    counters[0], counters[1], counters[2], counters[3] = size, n_born, n_logged, poll
    hold(ended)
    hold(paces)
