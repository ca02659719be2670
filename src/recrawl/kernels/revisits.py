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

from recrawl.kernels.compile import kernel

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
History = tuple[Integers, Vector, Vector, Vector]  # first change of each page, changes, born, gone
Copies = tuple[Vector, Integers, Integers]  # last visit, first change not seen, found to be gone
Queue = tuple[Integers, Vector, Integers]  # heap, due, counters
Own = tuple[Vector, Vector, Vector, Vector]  # interval, last change seen, count, counted at

_IN_DOUBT = (1.0, 8.0, 0.2)  # least and greatest shape of such a page, share of the price
_LEAST = 1e-12  # evidence never tells more against a rate than this
RULE_STEPS, RULE_AGE, RULE_COUNT = 2, 3, 4


@kernel
def _absorb(i: int, elapsed: float, changed: bool, belief: Belief, chance: Vector) -> float:
    """Take one visit of page i into account; return the chance that was given to what it found.

    ``chance`` is room for as many numbers as there are rates.
    """
    evidence, laws, law, rates, ends, shares = belief
    own, g, n = evidence[i], law[i], rates.size
    stays = exp(-rates[0] * elapsed)
    for j in range(n):
        chance[j] = 1.0 - stays if changed else stays
        stays *= stays
    before, after = 0.0, 0.0
    for k in range(ends.size):
        had, left = 0.0, 0.0
        for j in range(n):
            part = laws[g, j] * own[k, j]
            had += part
            left += part * chance[j]
        before += shares[k] * had
        after += shares[k] * left
        ended = -expm1(-ends[k] * elapsed)
        for j in range(n):
            own[k, j] = (1.0 - ended) * own[k, j] * chance[j] + ended * left
    scale = 1.0 / max(after, 1e-300)
    for k in range(ends.size):
        for j in range(n):
            own[k, j] = own[k, j] * scale + _LEAST
    return max(after, 1e-300) / before


@kernel
def _believe(i: int, belief: Belief, now: Vector) -> None:
    """Write the chances of the rates of page i, at present, and then of its paces of forgetting."""
    evidence, laws, law, rates, ends, shares = belief
    n, total = rates.size, 0.0
    for j in range(n):
        now[j] = 0.0
    for k in range(ends.size):
        part = 0.0
        for j in range(n):
            one = shares[k] * laws[law[i], j] * evidence[i, k, j]
            now[j] += one
            part += one
        now[n + k] = part
        total += part
    for j in range(now.size):
        now[j] /= total


@kernel
def _worth(age: float, i: int, belief: Belief, now: Vector, grain: float) -> tuple[float, float]:
    """Worth of a visit of page i at an age, weight one, and its slope.

    By then the rate may have been drawn anew: what has calmed down is worth more again.
    """
    laws, law, rates, ends = belief[1], belief[2], belief[3], belief[4]
    n = rates.size
    worth, slope, fresh, calmer, stiller = 0.0, 0.0, 0.0, 0.0, 0.0
    stays = exp(-rates[0] * age)
    for j in range(n):
        x = rates[j] * age
        missed = x * x * (0.5 - x * (1.0 / 3.0 - 0.125 * x))
        if x > 0.01:
            missed = 1.0 - (1.0 + x) * stays
        part = now[j] * stays
        worth += now[j] * missed / rates[j]
        slope += rates[j] * part
        fresh += part
        other = laws[law[i], j] - now[j]
        calmer += other * (missed / rates[j] + age * stays)
        stiller += other * stays
        stays *= stays
    worth += 0.5 * grain * (1.0 - fresh)
    slope *= age + 0.5 * grain
    if calmer > 0.0:
        ended, ending = 0.0, 0.0
        for k in range(1, ends.size):
            still = now[n + k] * exp(-ends[k] * age)
            ended += now[n + k] - still
            ending += ends[k] * still
        worth += ended * calmer
        slope += ended * stiller + ending * calmer
    return worth, slope


@kernel
def _interval(
    i: int, price: float, start: float, belief: Belief, now: Vector, bounds: Vector
) -> float:
    """Age at which a visit of page i, weight one, is worth the price; the longest where never."""
    shortest, longest = float(bounds[1]), float(bounds[2])
    if not price < inf:
        return longest
    _believe(i, belief, now)
    low, high = log(shortest), log(longest)
    x, target = log(min(max(start, shortest), longest)), log(max(price, 1e-290))
    for _ in range(40):
        age = exp(x)
        worth, slope = _worth(age, i, belief, now, bounds[0])
        worth = max(worth, 1e-300)
        excess = log(worth) - target
        if excess > 0.0:
            high = x
        else:
            low = x
        following = x - excess / max(slope * age / worth, 0.05)
        if not following > low:
            following = 0.5 * (low + x)
        if not following < high:
            following = 0.5 * (high + x)
        done = abs(following - x) < 0.02  # Newton's next step would be its square
        x = following
        if done:
            break
    age: float = exp(x)
    if bounds[3] > 0.0 and age < 0.99 * longest:
        rates = belief[3]
        mean, square = 0.0, 0.0
        for j in range(rates.size):
            mean += now[j] * rates[j]
            square += now[j] * rates[j] * rates[j]
        shape = mean * mean / max(square - mean * mean, 1e-12 * square)
        if _IN_DOUBT[0] < shape < _IN_DOUBT[1]:
            # In doubt: look while the answer tells rates apart, if that is worth something.
            soon = max(bounds[3] / mean, shortest)
            if soon < age and _worth(soon, i, belief, now, bounds[0])[0] >= _IN_DOUBT[2] * price:
                age = soon
    return age


@kernel
def fill_moments(rows: Integers, belief: Belief, mean: Vector, square: Vector) -> None:
    """Write the first two moments of each page's rate."""
    rates = belief[3]
    now = np.empty(rates.size + belief[4].size)
    for place in range(rows.size):
        _believe(rows[place], belief, now)
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
    n = rates.size
    now, ever, each = np.empty(n + ends.size), np.empty(n), np.empty(ends.size)
    for i in rows:
        _believe(i, belief, now)
        whole, every = 0.0, 0.0
        for j in range(n):
            ever[j] = laws[law[i], j] * evidence[i, 0, j]
            whole += ever[j]
        for j in range(n):
            tally[law[i], j] += 0.5 * (now[j] + ever[j] / whole)
        for k in range(ends.size):
            each[k] = 0.0
            for j in range(n):
                each[k] += laws[law[i], j] * evidence[i, k, j]
            each[k] *= shares[k]
            every += each[k]
        for k in range(ends.size):
            classes[k] += each[k] / every


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
    chance = np.empty(belief[3].size)
    for v in range(page.size):
        given = _absorb(page[v], elapsed[v], changed[v], belief, chance)
        if predicted.size:
            predicted[v] = given


@kernel
def fill_intervals(
    rows: Integers, prices: Vector, start: Vector, belief: Belief, bounds: Vector, out: Vector
) -> None:
    """Write the interval of each page in ``rows`` at its own price per weight."""
    now = np.empty(belief[3].size + belief[4].size)
    for place in range(rows.size):
        out[place] = _interval(rows[place], prices[place], start[place], belief, now, bounds)


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
    room = np.empty(belief[3].size + belief[4].size)
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
                worth = price[0] / weights[i] if weights[i] > 0.0 else inf
                interval[i] = _interval(i, worth, interval[i], belief, room, bounds)
            due[i] = born[i] + interval[i]
            heap[size] = i
            size += 1
            _sift_up(due, heap, size - 1)
        if size == 0:
            continue
        i = heap[0]
        if (due[i] > now and not eager) or last[i] >= now or not due[i] < inf:
            if rule == 0 and last[i] >= now:  # a visit that the budget pays is lost
                price[0] = max(price[0] * exp(-1.0 / size), min(price[0], numbers[0]))
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
            _absorb(i, elapsed, changed, belief, room)
            worth = price[0] / weights[i] if weights[i] > 0.0 else inf
            interval[i] = _interval(i, worth, interval[i], belief, room, bounds)
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
