"""Beliefs about change rates, when they make a visit worth its price, and replays of history.

This module is longer than most: the replay calls the very loops by which the crawler learns and
decides, and kernels that call each other stand in one file.

A belief is a tuple of arrays: what visits have told (``events``, ``exposure``, ``score``, each of
shape (pages, memories)), the gamma priors of the pages (``shape``, ``time``), the half-lives of the
memories and the logarithms of their shares. ``bounds`` are four numbers: how coarse in time changes
can be seen at all, shortest interval, longest interval, and how long a page in doubt is left alone,
in units of its mean time between changes.
"""

from math import exp, expm1, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = [
    "credit_copies",
    "fill_intervals",
    "fill_shares",
    "observe_visits",
    "replay",
]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Belief = tuple[Vector, Vector, Vector, Vector, Vector, Vector, Vector]
History = tuple[Integers, Vector, Vector, Vector]  # first change of each page, changes, born, gone
Copies = tuple[Vector, Integers, Integers]  # last visit, first change not seen, found to be gone
Queue = tuple[Integers, Vector, Integers]  # heap, due, counters
Own = tuple[Vector, Vector, Vector, Vector]  # interval, last change seen, count, counted at

_LN2 = 0.6931471805599453
_IN_DOUBT = (1.0, 8.0, 2.0)  # least and greatest shape of such a page, greatest of its prior
RULE_STEPS, RULE_AGE, RULE_COUNT = 2, 3, 4


@kernel
def _absorb(i: int, elapsed: float, changed: bool, belief: Belief) -> None:
    """Take one visit of page i into account, ``elapsed`` after the one before."""
    events, exposure, score, shape, time, half_lives, _ = belief
    for k in range(half_lives.size):
        keep = exp(-_LN2 * elapsed / half_lives[k]) if half_lives[k] < inf else 1.0
        a = shape[i] + events[i, k] * keep
        b = time[i] + exposure[i, k] * keep
        stretch = log1p(elapsed / b)
        silence = -a * stretch  # log of the chance of no change
        if changed:
            seen = max(-expm1(silence), 1e-300)
            first = a / b * (-expm1(silence - stretch)) / seen
            second = a * (a + 1.0) / (b * b) * (-expm1(silence - 2.0 * stretch)) / seen
            variance = max(second - first * first, 1e-12 * first * first)
            # At least a trifle of the prior stays, whatever has been forgotten since.
            events[i, k] = max(first * first / variance - shape[i], -0.9 * shape[i])
            exposure[i, k] = max(first / variance - time[i], -0.9 * time[i])
            score[i, k] += log(seen)
        else:
            events[i, k] = a - shape[i]
            exposure[i, k] = b - time[i] + elapsed
            score[i, k] += silence


@kernel
def fill_shares(i: int, belief: Belief, shares: Vector) -> None:
    """Write how much each memory counts for page i: by what it predicted, and for all pages."""
    score, log_shares = belief[2], belief[6]
    top = -inf
    for k in range(shares.size):
        shares[k] = score[i, k] + log_shares[k]
        top = max(top, shares[k])
    total = 0.0
    for k in range(shares.size):
        shares[k] = exp(shares[k] - top)
        total += shares[k]
    for k in range(shares.size):
        shares[k] /= total


@kernel
def _worth(i: int, age: float, belief: Belief, shares: Vector, grain: float) -> tuple[float, float]:
    """Worth of a visit of page i at an age, weight one, and its slope."""
    events, exposure, _, shape, time, _, _ = belief
    worth, slope = 0.0, 0.0
    for k in range(shares.size):
        if shares[k] < 1e-3:
            continue
        a, b = shape[i] + events[i, k], time[i] + exposure[i, k]
        q = 1.0 + age / b
        stretch = log(q)
        fresh = exp(-a * stretch)
        span = b * stretch if abs(a - 1.0) < 1e-6 else b * (1.0 - q * fresh) / (a - 1.0)
        worth += shares[k] * (span + 0.5 * grain * (1.0 - fresh) - age * fresh)
        slope += shares[k] * (age + 0.5 * grain) * a / b * fresh / q
    return worth, slope


@kernel
def _interval(
    i: int, price: float, start: float, belief: Belief, shares: Vector, bounds: Vector
) -> float:
    """Age at which a visit of page i, weight one, is worth the price; the longest where never."""
    shortest, longest = float(bounds[1]), float(bounds[2])
    if not price < inf:
        return longest
    low, high = log(shortest), log(longest)
    x, target = log(min(max(start, shortest), longest)), log(max(price, 1e-290))
    for _ in range(40):
        worth, slope = _worth(i, exp(x), belief, shares, bounds[0])
        worth = max(worth, 1e-300)
        excess = log(worth) - target
        if excess > 0.0:
            high = x
        else:
            low = x
        following = x - excess / max(slope * exp(x) / worth, 0.05)
        if not following > low:
            following = 0.5 * (low + x)
        if not following < high:
            following = 0.5 * (high + x)
        done = abs(following - x) < 2e-3
        x = following
        if done:
            break
    age: float = exp(x)
    if bounds[3] > 0.0 and age < 0.99 * longest:
        events, exposure, _, shape, time, _, _ = belief
        a, pause = 0.0, 0.0
        for k in range(shares.size):
            a += shares[k] * (shape[i] + events[i, k])
            pause += shares[k] * (time[i] + exposure[i, k]) / (shape[i] + events[i, k])
        if shape[i] < _IN_DOUBT[2] and _IN_DOUBT[0] < a < _IN_DOUBT[1]:
            # In doubt: look while the answer tells rates apart, if that is worth something.
            soon = max(bounds[3] * pause, shortest)
            if soon < age and _worth(i, soon, belief, shares, bounds[0])[0] >= 0.2 * price:
                age = soon
    return float(age)


@kernel
def observe_visits(
    page: Integers, elapsed: Vector, changed: NDArray[np.bool_], belief: Belief
) -> None:
    """Take visits into account, each page's in the order of time."""
    for j in range(page.size):
        _absorb(page[j], elapsed[j], changed[j], belief)


@kernel
def fill_intervals(
    rows: Integers, prices: Vector, start: Vector, belief: Belief, bounds: Vector, out: Vector
) -> None:
    """Write the interval of each page in ``rows`` at its own price per weight."""
    shares = np.empty(belief[5].size)
    for j in range(rows.size):
        fill_shares(rows[j], belief, shares)
        out[j] = _interval(rows[j], prices[j], start[j], belief, shares, bounds)


@kernel
def _sift_down(key: Vector, heap: Integers, place: int, size: int) -> None:
    item = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[item]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@kernel
def _sift_up(key: Vector, heap: Integers, place: int) -> None:
    item = heap[place]
    while place > 0:
        parent = (place - 1) // 2
        if key[heap[parent]] <= key[item]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


@kernel
def _credit(
    i: int, since: float, until: float, first: int, history: History, span: Vector, totals: Vector
) -> None:
    """Add what a copy of page i, taken at ``since`` and kept until ``until``, was worth."""
    start, changes, _, gone_at = history
    a, b = max(since, span[0]), min(until, span[1], gone_at[i])
    if b <= a:
        return
    end = start[i + 1]
    stale = changes[first] if first < end else inf
    totals[i, 0] += max(0.0, min(stale, b) - a)
    if stale < b:
        totals[i, 1] += 0.5 * ((b - stale) ** 2 - (max(stale, a) - stale) ** 2)
        penalty, n = 0.0, 0
        while first < end and changes[first] < b:
            n += 1
            penalty += 1.0 / n
            following = changes[first + 1] if first + 1 < end else inf
            low, high = max(changes[first], a), min(following, b)
            if high > low:
                totals[i, 2] += penalty * (high - low)
            first += 1


@kernel
def credit_copies(
    end: float, history: History, copies: Copies, span: Vector, totals: Vector
) -> None:
    """Add what the copies at hand are worth until the end."""
    born = history[2]
    last, seen, gone = copies
    for i in range(last.size):
        if not gone[i] and born[i] < end and last[i] < inf:
            _credit(i, last[i], end, seen[i], history, span, totals)


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
    belief: Belief,
    weights: Vector,
    bounds: Vector,
    price: Vector,
    span: Vector,
    totals: Vector,
    log_at: Vector,
    log_page: Integers,
    log_elapsed: Vector,
    log_changed: NDArray[np.bool_],
) -> None:
    """Visit pages at ticks, earliest due first, letting the rule see only what a visit shows.

    ``log_at`` has room for the instants of all visits, or none. ``queue`` is (heap, due, counters);
    the counters are pages waiting, pages born, visits noted, polls passed, visits, visits counted,
    of these wasted, of these without a page. ``own`` are the intervals and what rules keep of a
    page.
    """
    start, changes, born, gone_at = history
    last, seen, gone = copies
    heap, due, counters = queue
    interval, since_change = own[0], own[1]
    shares = np.empty(belief[5].size)
    size, n_born, n_logged, poll = counters[0], counters[1], counters[2], counters[3]
    for tick in ticks:
        now = tick
        if polls.size:
            while poll < polls.size and polls[poll] < now:
                poll += 1
            if poll >= polls.size:
                break
            now = polls[poll]
        while n_born < born.size and born[order[n_born]] <= now:
            i = order[n_born]
            n_born += 1
            last[i], seen[i], since_change[i] = born[i], start[i], born[i]
            own[3][i] = born[i]
            if rule == 0:
                fill_shares(i, belief, shares)
                worth = price[0] / weights[i] if weights[i] > 0.0 else inf
                interval[i] = _interval(i, worth, interval[i], belief, shares, bounds)
            due[i] = born[i] + interval[i]
            heap[size] = i
            size += 1
            _sift_up(due, heap, size - 1)
        if size == 0:
            continue
        i = heap[0]
        if (due[i] > now and not eager) or last[i] >= now or not due[i] < inf:
            continue
        if log_at.size:
            log_at[counters[4]] = now
        counters[4] += 1
        counted = now >= span[0]
        counters[5] += counted
        if now > gone_at[i]:
            _credit(i, last[i], now, seen[i], history, span, totals)
            gone[i] = 1
            size -= 1
            heap[0] = heap[size]
            if size:
                _sift_down(due, heap, 0, size)
            counters[7] += counted
            continue
        after = seen[i]
        while after < start[i + 1] and changes[after] <= now:
            after += 1
        changed = after > seen[i]
        elapsed = now - last[i]
        _credit(i, last[i], now, seen[i], history, span, totals)
        if counted:
            totals[i, 3] += 1.0
            totals[i, 4] += changed
            counters[6] += not changed
        if log_page.size:
            log_page[n_logged], log_elapsed[n_logged] = i, elapsed
            log_changed[n_logged] = changed
            n_logged += 1
        if rule == 0:
            lateness = min(max((now - due[i]) / interval[i], -1.0), 1.0)
            price[0] *= exp(lateness / size)
            _absorb(i, elapsed, changed, belief)
            fill_shares(i, belief, shares)
            worth = price[0] / weights[i] if weights[i] > 0.0 else inf
            interval[i] = _interval(i, worth, interval[i], belief, shares, bounds)
        elif rule >= RULE_STEPS:
            _step(i, rule, numbers, changed, now, own)
        due[i] = now + interval[i]
        if rule == RULE_AGE:  # ... and the next visit comes earlier by a share of that age
            early = numbers[5] * (now - since_change[i])
            due[i] -= min(early, numbers[5] * interval[i])
        if polls.size and poll + 1 < polls.size:
            due[i] = max(due[i], polls[poll + 1])
        seen[i], last[i] = after, now
        _sift_down(due, heap, 0, size)
    counters[0], counters[1], counters[2], counters[3] = size, n_born, n_logged, poll
