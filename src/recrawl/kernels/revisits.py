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
"""

from math import exp, expm1, inf, log

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel, reordering_kernel

__all__ = [
    "credit_copies",
    "fill_intervals",
    "fill_moments",
    "observe_visits",
    "replay",
    "tally_rates",
]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Singles = NDArray[np.float32]
Belief = tuple[Singles, Vector, Integers, Vector, Vector, Vector]
Room = tuple[Vector, Vector, Vector, Vector]  # chance, now, paces, tables
History = tuple[Integers, Vector, Vector, Vector]  # first change of each page, changes, born, gone
Copies = tuple[Vector, Integers, Integers]  # last visit, first change not seen, found to be gone
Queue = tuple[Integers, Vector, Integers]  # heap, due, counters
Limits = tuple[Integers, Vector, Vector, Vector]  # hosts, gaps, ready, dearer
Own = tuple[Vector, Vector, Vector, Vector]  # interval, last change seen, count, counted at

_IN_DOUBT = (1.0, 8.0, 0.2)  # least and greatest shape of such a page, share of the price
_LN2 = 0.6931471805599453
_STEPS = 8  # of an octave: two to the power of three
_STEP = _LN2 / _STEPS
_LOWEST = -36  # the slowest rate times an age, as a power of two: where the tables begin
_OCTAVES = 56
_LEAST = 1e-12  # evidence never tells more against a rate than this
RULE_STEPS, RULE_AGE, RULE_COUNT = 2, 3, 4


# Below, arrays are named one by one and never sliced: each slice, and each array taken from a
# tuple, would be counted as one more owner, at a cost that is felt a million times a second.


@reordering_kernel
def _absorb(
    i: int,
    elapsed: float,
    changed: bool,
    evidence: Singles,
    laws: Vector,
    g: int,
    rates: Vector,
    ends: Vector,
    shares: Vector,
    chance: Vector,
) -> None:
    """Take one visit of page i into account."""
    n = rates.size
    stays = exp(-rates[0] * elapsed)
    for j in range(n):
        chance[j] = stays
        stays *= stays
    if changed:
        for j in range(n):
            chance[j] = 1.0 - chance[j]
    after = 0.0
    for k in range(ends.size):
        left = 0.0
        for j in range(n):
            left += laws[g, j] * evidence[i, k, j] * chance[j]
        after += shares[k] * left
        kept = exp(-ends[k] * elapsed)
        drawn = (1.0 - kept) * left
        for j in range(n):
            evidence[i, k, j] = kept * evidence[i, k, j] * chance[j] + drawn
    if after < 1e-6:  # seldom enough to cost nothing, often enough for single precision
        scale = 1.0 / max(after, 1e-300)
        for k in range(ends.size):
            for j in range(n):
                evidence[i, k, j] = evidence[i, k, j] * scale + _LEAST


@reordering_kernel
def _believe(
    i: int,
    evidence: Singles,
    laws: Vector,
    g: int,
    shares: Vector,
    now: Vector,
    paces: Vector,
) -> None:
    """Write the chances of the rates of page i, at present, and of its paces of forgetting."""
    n, total = now.size, 0.0
    for j in range(n):
        now[j] = 0.0
    for k in range(shares.size):
        share, part = shares[k], 0.0
        for j in range(n):
            one = share * laws[g, j] * evidence[i, k, j]
            now[j] += one
            part += one
        paces[k] = part
        total += part
    scale = 1.0 / total
    for j in range(n):
        now[j] *= scale
    for k in range(shares.size):
        paces[k] *= scale


@reordering_kernel
def _worth(
    k: int,
    age: float,
    g: int,
    others: float,
    laws: Vector,
    ends: Vector,
    now: Vector,
    paces: Vector,
    tables: Vector,
    grain: float,
) -> float:
    """Worth of a visit at the age that stands k steps along, weight one.

    By then the rate may have been drawn anew: what has calmed down is worth more again.
    """
    row, place = k & (_STEPS - 1), k >> 3
    worth = 0.0
    for j in range(now.size):
        worth += now[j] * tables[0, row, place + j]
    worth *= age
    if grain > 0.0:
        fresh = 0.0
        for j in range(now.size):
            fresh += now[j] * tables[1, row, place + j]
        worth += 0.5 * grain * (1.0 - fresh)
    if others > 0.0:
        calmer = 0.0
        for j in range(now.size):
            calmer += (laws[g, j] - now[j]) * tables[2, row, place + j]
        if calmer > 0.0:
            ended = 0.0
            for n in range(1, ends.size):
                ended += paces[n] * (1.0 - exp(-ends[n] * age))
            worth += ended * age * calmer
    return max(worth, 1e-300)


@reordering_kernel
def _shape(rates: Vector, now: Vector, laws: Vector, g: int) -> tuple[float, float, float]:
    """Mean of a rate, shape of the gamma law with its two moments, and how much others are calmer.

    The last is positive where the mean time to a change is longer for a rate drawn anew.
    """
    mean, square, calmer = 0.0, 0.0, 0.0
    for j in range(rates.size):
        mean += now[j] * rates[j]
        square += now[j] * rates[j] * rates[j]
        calmer += (laws[g, j] - now[j]) / rates[j]
    return mean, mean * mean / max(square - mean * mean, 1e-12 * square), calmer


@kernel
def _interval(
    price: float,
    start: float,
    laws: Vector,
    g: int,
    rates: Vector,
    ends: Vector,
    now: Vector,
    paces: Vector,
    tables: Vector,
    bounds: Vector,
) -> float:
    """Age at which a visit is worth the price, weight one; the longest where never.

    A search along ages in steps of an eighth of an octave, and a straight line between two.
    """
    grain, shortest, longest = bounds[0], bounds[1], bounds[2]
    if not price < inf:
        return float(longest)
    mean, shape, others = _shape(rates, now, laws, g)
    offset = log(rates[0]) - _LOWEST * _LN2
    first = max(int((log(shortest) + offset) / _STEP), 0)
    last = min(int((log(longest) + offset) / _STEP) + 1, _OCTAVES * _STEPS - 1)
    low, high, below, above, leap = first, last, 0.0, 0.0, 1
    k = min(max(int((log(start) + offset) / _STEP), first), last)
    while True:
        worth = _worth(k, exp(k * _STEP - offset), g, others, laws, ends, now, paces, tables, grain)
        if worth > price:
            high, above = k, worth
            if k == first:
                break
            k = max(k - leap, first) if below == 0.0 else (low + high) // 2
        else:
            low, below = k, worth
            if k == last:
                break
            k = min(k + leap, last) if above == 0.0 else (low + high) // 2
        if high - low <= 1 and below > 0.0 and above > 0.0:
            break
        leap *= 2
    if below > 0.0 and above > 0.0:
        place = low + log(price / below) / log(above / below)
    else:
        place = float(high if above > 0.0 else low)
    age = min(max(exp(place * _STEP - offset), shortest), longest)
    if bounds[3] > 0.0 and age < 0.99 * longest and _IN_DOUBT[0] < shape < _IN_DOUBT[1]:
        # In doubt: look while the answer tells rates apart, if that is worth something.
        k = min(max(int((log(bounds[3] / mean) + offset) / _STEP), first), last)
        soon = exp(k * _STEP - offset)
        if shortest <= soon < age:
            worth = _worth(k, soon, g, others, laws, ends, now, paces, tables, grain)
            if worth >= _IN_DOUBT[2] * price:
                age = soon
    return float(age)


@kernel
def _room(belief: Belief) -> Room:
    """Room for numbers by rate and by pace, and tables of functions of x = rate times age.

    Rates ascend by powers of two, so that the functions of an age at all rates stand side by side.
    They are what a visit is worth for each unit of age, (1 - (1 + x) exp(-x)) / x; the chance of no
    change; and the mean share of time that is fresh, (1 - exp(-x)) / x.
    """
    n = belief[3].size
    tables = np.empty((3, _STEPS, _OCTAVES + n))
    for row in range(_STEPS):
        for place in range(_OCTAVES + n):
            x = exp(_LN2 * (place + _LOWEST + row / _STEPS))
            stays, spent = exp(-x), -expm1(-x)
            tables[0, row, place] = (spent - x * stays) / x if x > 1e-3 else x * (0.5 - x / 3.0)
            tables[1, row, place] = stays
            tables[2, row, place] = spent / x
    return np.empty(n), np.empty(n), np.empty(belief[4].size), tables


@kernel
def fill_moments(rows: Integers, belief: Belief, mean: Vector, square: Vector) -> None:
    """Write the first two moments of each page's rate."""
    evidence, laws, law, rates, ends, shares = belief
    now, paces = np.empty(rates.size), np.empty(ends.size)
    for place in range(rows.size):
        i = rows[place]
        _believe(i, evidence, laws, law[i], shares, now, paces)
        mean[place], square[place] = 0.0, 0.0
        for j in range(rates.size):
            mean[place] += now[j] * rates[j]
            square[place] += now[j] * rates[j] * rates[j]


@kernel
def tally_rates(rows: Integers, belief: Belief, tally: Vector, classes: Vector) -> None:
    """Add each page's chances of rates to its group, and of paces of forgetting to all.

    Half of what a page adds is its rate over its whole life, half its rate at present.
    """
    evidence, laws, law, rates, ends, shares = belief
    now, paces, ever = np.empty(rates.size), np.empty(ends.size), np.empty(rates.size)
    for i in rows:
        g, whole = law[i], 0.0
        _believe(i, evidence, laws, g, shares, now, paces)
        for j in range(rates.size):
            ever[j] = laws[g, j] * evidence[i, 0, j]
            whole += ever[j]
        scale = 0.5 / max(whole, 1e-300)
        for j in range(rates.size):
            tally[g, j] += 0.5 * now[j] + scale * ever[j]
        for k in range(classes.size):
            classes[k] += paces[k]


@kernel
def observe_visits(
    page: Integers,
    elapsed: Vector,
    changed: NDArray[np.bool_],
    belief: Belief,
    predicted: Vector,
) -> None:
    """Take visits into account, each page's in the order of time.

    ``predicted`` has room for the chance that was given to each visit's finding, or none.
    """
    evidence, laws, law, rates, ends, shares = belief
    chance, now, paces = np.empty(rates.size), np.empty(rates.size), np.empty(ends.size)
    for v in range(page.size):
        i, g = page[v], law[page[v]]
        if predicted.size:
            _believe(i, evidence, laws, g, shares, now, paces)
            stays = 0.0
            for j in range(rates.size):
                stays += now[j] * exp(-rates[j] * elapsed[v])
            predicted[v] = max(1.0 - stays, 1e-300) if changed[v] else stays
        _absorb(i, elapsed[v], changed[v], evidence, laws, g, rates, ends, shares, chance)


@kernel
def fill_intervals(
    rows: Integers, prices: Vector, start: Vector, belief: Belief, bounds: Vector, out: Vector
) -> None:
    """Write the interval of each page in ``rows`` at its own price per weight."""
    evidence, laws, law, rates, ends, shares = belief
    _, now, paces, tables = _room(belief)
    for place in range(rows.size):
        i = rows[place]
        _believe(i, evidence, laws, law[i], shares, now, paces)
        out[place] = _interval(
            prices[place], start[place], laws, law[i], rates, ends, now, paces, tables, bounds
        )


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
def _first_ready(
    now: float,
    size: int,
    heap: Integers,
    due: Vector,
    last: Vector,
    hosts: Integers,
    ready: Vector,
) -> int:
    """Where in the heap the page stands that is due first of those whose host allows a visit."""
    found, first = -1, inf
    for place in range(size):
        i = heap[place]
        if due[i] < first and ready[hosts[i]] <= now and last[i] < now:
            found, first = place, due[i]
    return found


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
    log_changed: NDArray[np.bool_],
) -> None:
    """Visit pages at ticks, earliest due first, letting the rule see only what a visit shows.

    ``log_at`` has room for the instants of all visits, or none. ``queue`` is (heap, due, counters);
    the counters are pages waiting, pages born, visits noted, polls passed, visits, visits counted,
    of these wasted, of these without a page. ``own`` are the intervals and what rules keep of a
    page. ``limits`` are the host of each page and, for each host, the least time between visits,
    when it is ready for the next, and how much dearer its visits are; the middle two empty: no
    limits.
    """
    hosts, gaps, ready, dearer = limits
    start, changes, born, gone_at = history
    last, seen, gone = copies
    heap, due, counters = queue
    interval, since_change = own[0], own[1]
    evidence, laws, law, rates, ends, shares = belief
    chance, believed, paces, tables = _room(belief)
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
                worth = price[0] * dearer[hosts[i]] / weights[i] if weights[i] > 0.0 else inf
                _believe(i, evidence, laws, law[i], shares, believed, paces)
                interval[i] = _interval(
                    worth,
                    interval[i],
                    laws,
                    law[i],
                    rates,
                    ends,
                    believed,
                    paces,
                    tables,
                    bounds,
                )
            due[i] = born[i] + interval[i]
            heap[size] = i
            size += 1
            _sift_up(due, heap, size - 1)
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
        counted = now >= span[0]
        counters[5] += counted
        if now > gone_at[i]:
            _credit(i, last[i], now, seen[i], history, span, totals)
            gone[i] = 1
            size -= 1
            heap[place] = heap[size]
            if place < size:
                _sift_up(due, heap, place)
                _sift_down(due, heap, place, size)
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
            _absorb(i, elapsed, changed, evidence, laws, law[i], rates, ends, shares, chance)
            worth = price[0] * dearer[hosts[i]] / weights[i] if weights[i] > 0.0 else inf
            _believe(i, evidence, laws, law[i], shares, believed, paces)
            interval[i] = _interval(
                worth,
                interval[i],
                laws,
                law[i],
                rates,
                ends,
                believed,
                paces,
                tables,
                bounds,
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
        _sift_down(due, heap, place, size)
    counters[0], counters[1], counters[2], counters[3] = size, n_born, n_logged, poll
