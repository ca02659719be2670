"""Loops for one-curve robot control: exact evaluation through the staircase of the curve.

States are (q, r): pages in the buffer, active robots. Arrays over states have shape
(N + 1, K + 1) and are indexed [r, q], because the recursions run along q; ``rates`` is the
triple (arrival rate, index rate, cost rate). A curve ``targets[q]``, nonincreasing, is the policy
"aim for targets[q] robots at length q". Above it r never grows, below it r never falls, so both
sides are free of cycles, and every cycle passes through the staircase

    F = {(q, r): targets[q+1] < r <= targets[q]}, and (q, targets[q]) where the curve is flat.

Row r of the upper side is q = last[r] + 1, ..., K and is left to the left; row r of the lower
side is q = 0, ..., edge[r] and is left to the right. Every quantity is a sum of positive terms,
nothing is ever subtracted, so costs as small as 1e-200 keep their leading digits. The elimination
is that of Grassmann, Taksar and Heyman (1985), from both ends of the staircase to the anchor.

The file is long because compiled functions that call each other must stand in one file.
"""

from typing import TypeAlias

import numpy as np

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel, sized_kernel

Rates: TypeAlias = tuple[Floats, Floats, Floats]


@kernel
def staircase(targets: Counts) -> Counts:
    """Return start[q], the number of (q, targets[q]) in F; from there the numbers go down in r."""
    n_lengths = targets.shape[0]
    start = np.zeros(n_lengths + 1, np.int64)
    for q in range(n_lengths):
        below = targets[min(q + 1, n_lengths - 1)]
        start[q + 1] = start[q] + max(1, targets[q] - below)
    return start


@kernel
def row_limits(targets: Counts, n_robots: int) -> tuple[Counts, Counts]:
    """For each r: last[r], the last q with target >= r or -1; edge[r], the lower side's end."""
    n_lengths = targets.shape[0]
    last = np.full(n_robots + 2, -1, np.int64)
    for q in range(n_lengths):
        last[targets[q]] = q
    for r in range(n_robots, -1, -1):
        last[r] = max(last[r], last[r + 1])
    edge = np.full(n_robots + 1, -1, np.int64)
    for r in range(n_robots + 1):
        if r < targets[n_lengths - 1]:
            edge[r] = n_lengths - 1
        elif last[r] >= 0:
            edge[r] = min(last[r + 1], last[r] - 1)
    return last, edge


@kernel
def entered_rows(last: Counts, edge: Counts, n_lengths: int) -> tuple[Counts, Counts]:
    """For each r: the upper side is entered up to upper[r] (-1: not), the lower from lower[r]."""
    n_robots, full = edge.shape[0] - 1, n_lengths - 1
    upper = np.full(n_robots + 1, -1, np.int64)
    for r in range(n_robots - 1, 0, -1):
        reach = min(upper[r + 1] + 1, full) if upper[r + 1] >= 0 else -1
        if last[r + 1] == last[r] and 0 <= last[r] < full:
            reach = max(reach, last[r] + 1)
        if reach > last[r]:
            upper[r] = reach
    lower = np.full(n_robots + 1, n_lengths, np.int64)
    for r in range(1, n_robots + 1):
        reach = max(lower[r - 1], 1) - 1
        if reach >= edge[r - 1]:
            reach = n_lengths
        if last[r - 1] == last[r] and 1 <= last[r] < full:
            reach = min(reach, last[r] - 1)
        if reach <= edge[r]:
            lower[r] = reach
    return upper, lower


@kernel
def place(q: int, r: int, targets: Counts, start: Counts) -> int:
    """Return the number of (q, r) in F, or -1."""
    depth = targets[q] - r
    if 0 <= depth < start[q + 1] - start[q]:
        return int(start[q] + depth)
    return -1


@kernel
def direct_steps(
    rates: Rates, targets: Counts, start: Counts
) -> tuple[Floats, Counts, Floats, Floats, Counts]:
    """Return what leads from F to F at once, and where each side is entered.

    Returns the matrix, the extent of its rows, cost and time of a step, the probabilities of
    arrival and departure, and for each r the state of F that enters the upper and the lower side.
    """
    arrival, service, cost = rates
    full, size = targets.shape[0] - 1, start[-1]
    chain = np.zeros((size, size))
    extent = np.empty((size, 2), np.int64)
    step = np.empty((size, 2))
    weight = np.zeros((size, 2))
    into = np.full((arrival.shape[0] + 1, 2), -1, np.int64)
    for q in range(full + 1):
        for f in range(start[q], start[q + 1]):
            r = targets[q] - (f - start[q])
            up, down = arrival[r, q], service[r, q] if q > 0 else 0.0
            if q == full and r == targets[q]:
                up = 0.0  # a page lost at the target moves nothing; its cost is in the cost rate
            total = up + down
            step[f, 0], step[f, 1] = cost[r, q] / total, 1.0 / total
            weight[f, 0], weight[f, 1] = up / total, down / total
            extent[f, 0], extent[f, 1] = size, -1
            for side in range(2):
                if weight[f, side] == 0.0:
                    continue
                after = min(q + 1, full) if side == 0 else q - 1
                if side == 0:
                    robots = r if r <= targets[after] else r - 1
                else:
                    robots = r + 1 if r < targets[after] else r
                g = place(after, robots, targets, start)
                if g < 0:
                    into[robots, side] = f
                else:
                    chain[f, g] += weight[f, side]
                    extent[f, 0] = min(extent[f, 0], g)
                    extent[f, 1] = max(extent[f, 1], g)
    return chain, extent, step, weight, into


@kernel
def scale_into(row: Floats, share: float, other: Floats) -> None:
    """Write ``share`` times a vector; loops from 0 let the compiler use wide registers."""
    for f in range(row.shape[0]):
        row[f] = share * other[f]


@kernel
def mix_into(row: Floats, share: float, first: Floats, other_share: float, other: Floats) -> None:
    """Write a weighted sum of two vectors."""
    for f in range(row.shape[0]):
        row[f] = share * first[f] + other_share * other[f]


@kernel
def add_into(row: Floats, share: float, other: Floats) -> None:
    """Add ``share`` times a vector."""
    for f in range(row.shape[0]):
        row[f] += share * other[f]


@kernel
def mix(
    row: Floats,
    extent: Counts,
    share: float,
    first: Floats,
    reach: Counts,
    other_share: float,
    other: Floats,
    other_reach: Counts,
) -> None:
    """Write the mixture of two distributions over F, each given on its extent, into ``row``."""
    low, high = min(reach[0], other_reach[0]), max(reach[1], other_reach[1])
    extent[0], extent[1] = low, high
    both, end = max(reach[0], other_reach[0]), min(reach[1], other_reach[1]) + 1
    if both >= end:
        row[low : high + 1] = 0.0
        scale_into(row[reach[0] : reach[1] + 1], share, first[reach[0] : reach[1] + 1])
        a, b = other_reach[0], other_reach[1] + 1
        scale_into(row[a:b], other_share, other[a:b])
        return
    if reach[0] < both:
        scale_into(row[low:both], share, first[low:both])
    else:
        scale_into(row[low:both], other_share, other[low:both])
    mix_into(row[both:end], share, first[both:end], other_share, other[both:end])
    if reach[1] >= end:
        scale_into(row[end : high + 1], share, first[end : high + 1])
    else:
        scale_into(row[end : high + 1], other_share, other[end : high + 1])


@kernel
def upper_row(
    r: int,
    first: int,
    end: int,
    rates: Rates,
    curve: tuple[Counts, Counts],
    hit: Floats,
    extent: Counts,
    spent: Floats,
) -> None:
    """Write for row r above the curve the law of the next state in F, cost and time to it."""
    arrival, service, cost = rates
    targets, start = curve
    full = targets.shape[0] - 1
    now, before = r % 2, (r - 1) % 2
    certain = np.ones(hit.shape[2])
    at = np.empty((2, 2), np.int64)
    for q in range(first, end + 1):
        total = arrival[r, q] + service[r, q]
        up, down = arrival[r, q] / total, service[r, q] / total
        spent[now, q, 0], spent[now, q, 1] = cost[r, q] / total, 1.0 / total
        left, left_reach = certain, at[0]
        if q == first:
            at[0] = place(q - 1, min(r + 1, targets[q - 1]), targets, start)
        else:
            left, left_reach = hit[now, q - 1], extent[now, q - 1]
            spent[now, q, 0] += down * spent[now, q - 1, 0]
            spent[now, q, 1] += down * spent[now, q - 1, 1]
        after = min(q + 1, full)
        right, right_reach = certain, at[1]
        at[1] = place(after, r - 1, targets, start)
        if at[1, 0] < 0:
            right, right_reach = hit[before, after], extent[before, after]
            spent[now, q, 0] += up * spent[before, after, 0]
            spent[now, q, 1] += up * spent[before, after, 1]
        mix(hit[now, q], extent[now, q], down, left, left_reach, up, right, right_reach)


@kernel
def lower_row(
    r: int,
    begin: int,
    final: int,
    rates: Rates,
    curve: tuple[Counts, Counts],
    hit: Floats,
    extent: Counts,
    spent: Floats,
) -> None:
    """Write for row r below the curve the law of the next state in F, cost and time to it."""
    arrival, service, cost = rates
    targets, start = curve
    now, before = r % 2, (r + 1) % 2
    certain = np.ones(hit.shape[2])
    at = np.empty((2, 2), np.int64)
    for q in range(final, begin - 1, -1):
        down = service[r, q] if q > 0 else 0.0
        total = arrival[r, q] + down
        up, down = arrival[r, q] / total, down / total
        spent[now, q, 0], spent[now, q, 1] = cost[r, q] / total, 1.0 / total
        right, right_reach = certain, at[0]
        if q == final:
            at[0] = place(q + 1, r, targets, start)
        else:
            right, right_reach = hit[now, q + 1], extent[now, q + 1]
            spent[now, q, 0] += up * spent[now, q + 1, 0]
            spent[now, q, 1] += up * spent[now, q + 1, 1]
        left, left_reach = right, right_reach  # at q = 0 nothing leaves, and down is 0
        if q > 0:
            left, left_reach = certain, at[1]
            at[1] = place(q - 1, r + 1, targets, start)
            if at[1, 0] < 0:
                left, left_reach = hit[before, q - 1], extent[before, q - 1]
                spent[now, q, 0] += down * spent[before, q - 1, 0]
                spent[now, q, 1] += down * spent[before, q - 1, 1]
        mix(hit[now, q], extent[now, q], up, right, right_reach, down, left, left_reach)


@kernel
def watch(rates: Rates, targets: Counts) -> tuple[Floats, Counts, Floats, Floats, Counts]:
    """Return the jump chain watched on F: matrix, extents, cost and time per step, and the rest."""
    n_robots, n_lengths = rates[0].shape[0] - 1, rates[0].shape[1]
    start = staircase(targets)
    chain, reach, step, weight, into = direct_steps(rates, targets, start)
    last, edge = row_limits(targets, n_robots)
    upper, lower = entered_rows(last, edge, n_lengths)
    hit = np.empty((2, n_lengths, start[-1]))
    extent = np.empty((2, n_lengths, 2), np.int64)
    spent = np.empty((2, n_lengths, 2))
    for r in range(1, n_robots):
        if upper[r] < 0:
            continue
        q = last[r] + 1
        upper_row(r, q, upper[r], rates, (targets, start), hit, extent, spent)
        f = into[r, 0]
        if f >= 0:
            add_excursion(chain[f], reach[f], weight[f, 0], hit[r % 2, q], extent[r % 2, q])
            step[f] += weight[f, 0] * spent[r % 2, q]
    for r in range(n_robots, 0, -1):
        q = edge[r]
        if lower[r] > q:
            continue
        lower_row(r, lower[r], q, rates, (targets, start), hit, extent, spent)
        f = into[r, 1]
        if f >= 0:
            add_excursion(chain[f], reach[f], weight[f, 1], hit[r % 2, q], extent[r % 2, q])
            step[f] += weight[f, 1] * spent[r % 2, q]
    return chain, reach, step, weight, into


@kernel
def add_excursion(row: Floats, reach: Counts, share: float, other: Floats, extent: Counts) -> None:
    """Add a distribution to a row of the chain, which is zero outside its extent."""
    add_into(row[extent[0] : extent[1] + 1], share, other[extent[0] : extent[1] + 1])
    reach[0], reach[1] = min(reach[0], extent[0]), max(reach[1], extent[1])


@kernel
def guess_anchor(chain: Floats, extent: Counts, weight: Floats, sure: int) -> int:
    """Guess an often visited state of F: where arrivals and departures are in balance, or an end.

    Only recurrent states qualify. The ends, where only one of the two happens, are never in
    balance, so without a balanced state the drift of the inner ones decides between them.
    """
    size = chain.shape[0]
    seen = np.zeros(size, np.bool_)
    stack = np.empty(size, np.int64)
    stack[0], depth, best, drift = sure, 1, sure, 0.0
    lowest, highest = sure, sure
    seen[sure] = True
    while depth > 0:
        depth -= 1
        f = stack[depth]
        if abs(weight[f, 0] - 0.5) < abs(weight[best, 0] - 0.5):
            best = f
        if 0.0 < weight[f, 0] < 1.0:
            drift += weight[f, 0] - 0.5
        lowest, highest = min(lowest, f), max(highest, f)
        for g in range(extent[f, 0], extent[f, 1] + 1):
            if chain[f, g] > 0.0 and not seen[g]:
                seen[g] = True
                stack[depth] = g
                depth += 1
    if abs(weight[best, 0] - 0.5) < 0.2:
        return int(best)
    return int(lowest) if drift < 0.0 else int(highest)


@kernel
def reduce_chain(
    rates: Rates, targets: Counts
) -> tuple[Floats, Counts, Floats, Floats, Counts, Floats, int]:
    """Watch the chain on F and eliminate all of it but an often visited anchor.

    Cost and time until a rare anchor would be huge, and their difference would lose its digits,
    so a guess that turns out to be rare is replaced by the state that is visited most.
    """
    start = staircase(targets)
    chain, extent, step, weight, into = watch(rates, targets)
    anchor = guess_anchor(chain, extent, weight, sure_state(targets, start))
    stay = step[anchor, 1]
    out = eliminate(chain, extent, step, anchor)
    if stay * 10.0 * chain.shape[0] < step[anchor, 1]:
        visits = stationary_visits(chain, out, anchor)
        chain, extent, step, weight, into = watch(rates, targets)
        anchor = int(np.argmax(visits * step[:, 1]))
        out = eliminate(chain, extent, step, anchor)
    return chain, extent, step, weight, into, out, anchor


@kernel
def eliminate(chain: Floats, extent: Counts, step: Floats, anchor: int) -> Floats:
    """Eliminate all states but the anchor, first those before it, then those behind it.

    In place: column k above the pivot keeps what led to k, row k what k led to. Returns the
    rate of leaving k at its elimination (for the anchor: not set). ``step`` becomes cost and time
    per visit with the eliminated ones included.
    """
    size = chain.shape[0]
    out = np.ones(size)
    furthest = 0
    first_use = np.full(size, -1, np.int64)  # largest j whose row reaches down to column k
    for j in range(size):
        first_use[extent[j, 0]] = max(first_use[extent[j, 0]], j)
    for k in range(anchor):
        furthest = max(furthest, first_use[k])
        high = extent[k, 1]
        leave = 0.0
        for g in range(k + 1, high + 1):
            leave += chain[k, g]
        out[k] = leave
        for j in range(k + 1, furthest + 1):
            if chain[j, k] == 0.0:
                continue
            share = chain[j, k] / leave
            add_into(chain[j, k + 1 : high + 1], share, chain[k, k + 1 : high + 1])
            extent[j, 1] = max(extent[j, 1], high)
            step[j] += share * step[k]
    for k in range(size - 1, anchor, -1):
        low = max(extent[k, 0], anchor)
        leave = 0.0
        for g in range(low, k):
            leave += chain[k, g]
        out[k] = leave
        for j in range(anchor, k):
            if extent[j, 1] < k or chain[j, k] == 0.0:
                continue
            share = chain[j, k] / leave
            first = max(extent[j, 0], anchor)
            add_into(chain[j, low:k], share, chain[k, low:k])
            extent[j, 0] = min(first, low)
            step[j] += share * step[k]
    return out


@kernel
def until_anchor(chain: Floats, extent: Counts, step: Floats, out: Floats, anchor: int) -> Floats:
    """Return cost and time from each state of F until the anchor, after ``eliminate``."""
    size = chain.shape[0]
    total = np.zeros((size, 2))
    for k in range(anchor + 1, size):
        cost, time = step[k, 0], step[k, 1]
        for g in range(max(extent[k, 0], anchor), k):
            cost += chain[k, g] * total[g, 0]
            time += chain[k, g] * total[g, 1]
        total[k, 0], total[k, 1] = cost / out[k], time / out[k]
    for k in range(anchor - 1, -1, -1):
        cost, time = step[k, 0], step[k, 1]
        for g in range(k + 1, extent[k, 1] + 1):
            cost += chain[k, g] * total[g, 0]
            time += chain[k, g] * total[g, 1]
        total[k, 0], total[k, 1] = cost / out[k], time / out[k]
    return total


@kernel
def spread(rates: Rates, targets: Counts, on_curve: Floats) -> tuple[Floats, Floats]:
    """Carry cost and time until the anchor from F to all states, shape (N + 1, K + 1) each."""
    arrival, service, cost = rates
    n_robots, full = arrival.shape[0] - 1, arrival.shape[1] - 1
    start = staircase(targets)
    last, edge = row_limits(targets, n_robots)
    spent = np.zeros(arrival.shape)
    time = np.zeros(arrival.shape)
    for q in range(full + 1):
        for f in range(start[q], start[q + 1]):
            r = targets[q] - (f - start[q])
            spent[r, q], time[r, q] = on_curve[f, 0], on_curve[f, 1]
    for r in range(1, n_robots + 1):
        for q in range(last[r] + 1, full + 1):
            up = arrival[r, q]
            after = min(q + 1, full)
            c, t = cost[r, q] + up * spent[r - 1, after], 1.0 + up * time[r - 1, after]
            total = up
            if q > 0:
                back = r + 1 if r < targets[q - 1] else r
                total += service[r, q]
                c += service[r, q] * spent[back, q - 1]
                t += service[r, q] * time[back, q - 1]
            scale = 1.0 / total
            spent[r, q], time[r, q] = c * scale, t * scale
    for r in range(targets[0] - 1, -1, -1):
        for q in range(edge[r], -1, -1):
            c, t, total = cost[r, q], 1.0, 0.0
            if q < full:  # a page lost below the target moves nothing
                total = arrival[r, q]
                c += total * spent[r, q + 1]
                t += total * time[r, q + 1]
            if q > 0:
                total += service[r, q]
                c += service[r, q] * spent[r + 1, q - 1]
                t += service[r, q] * time[r + 1, q - 1]
            if total > 0.0:
                scale = 1.0 / total
                spent[r, q], time[r, q] = c * scale, t * scale
    spent[0, 0], time[0, 0] = spent[1, 0], time[1, 0]  # never entered: the first robot is started
    return spent, time


@kernel
def sure_state(targets: Counts, start: Counts) -> int:
    """Return a state of F that is recurrent: arrivals alone, then departures, lead there."""
    n_lengths = targets.shape[0]
    if targets[n_lengths - 1] > 0:
        return int(start[n_lengths - 1])
    q = n_lengths - 1
    while targets[q - 1] == 0:
        q -= 1
    return int(start[q])


@sized_kernel(lambda rates, _: 4.0 * sum(rates[0].shape) ** 2 + 8.0 * rates[0].size)
def evaluate_curve(rates: Rates, targets: Counts) -> tuple[float, Floats, Floats]:
    """Return the average cost of a curve, and cost and time from each state until its anchor.

    Parameters
    ----------
    rates : see the module, each per time, >= 0
    targets : shape (K + 1,), the curve, nonincreasing, 0 .. N, ``targets[0]`` >= 1
    """
    chain, extent, step, _, _, out, anchor = reduce_chain(rates, targets)
    on_curve = until_anchor(chain, extent, step, out, anchor)
    spent, time = spread(rates, targets, on_curve)
    return step[anchor, 0] / step[anchor, 1], spent, time


@sized_kernel(lambda _, spent, *rest: 2.0 * sum(spent.shape))
def move_targets(
    gain: float, spent: Floats, time: Floats, targets: Counts, tolerance: float
) -> Counts:
    """Walk each target downhill along the relative value, and keep the curve monotone.

    Every target stays between the old and the new place, so each action that changes is an
    improvement.

    Parameters
    ----------
    gain, spent, time : as :func:`evaluate_curve` returns them for the curve
    targets : shape (K + 1,), the curve
    tolerance : a step counts when it gains more than this, relative to the terms, >= 0
    """
    n_robots, n_lengths = spent.shape[0] - 1, spent.shape[1]
    moved = targets.copy()
    for q in range(n_lengths):
        r = targets[q]
        for sign in (1, -1):
            while 0 <= r + sign <= n_robots and not (q == 0 and r + sign == 0):
                n = r + sign
                fall = (spent[r, q] - spent[n, q]) - gain * (time[r, q] - time[n, q])
                scale = spent[r, q] + spent[n, q] + gain * (time[r, q] + time[n, q])
                if not fall > tolerance * scale:
                    break
                r = n
            if r != targets[q]:
                break
        moved[q] = r
    floor = np.minimum(moved, targets)
    for q in range(n_lengths - 2, -1, -1):
        floor[q] = max(floor[q], floor[q + 1])
    moved[0] = max(moved[0], floor[0])
    for q in range(1, n_lengths):
        moved[q] = max(floor[q], min(moved[q], moved[q - 1]))
    return moved


@sized_kernel(lambda _, spent, *rest: 3.0 * spent.size)
def worst_action(gain: float, spent: Floats, time: Floats, targets: Counts) -> float:
    """Compare every action of every state: the largest relative gain of a deviation (0: none).

    An action at (q, r) chooses between r and r + 1 robots at the new length q, so the curve is
    optimal when the relative value falls up to the target and rises from there.

    Parameters
    ----------
    gain, spent, time : as :func:`evaluate_curve` returns them for the curve
    targets : shape (K + 1,), the curve
    """
    worst = 0.0
    for r in range(spent.shape[0] - 1):
        for q in range(spent.shape[1]):
            if r == 0 and q == 0:
                continue
            rise = (spent[r + 1, q] - spent[r, q]) - gain * (time[r + 1, q] - time[r, q])
            loss = rise if r < targets[q] else -rise
            if loss > 0.0:
                scale = spent[r, q] + spent[r + 1, q] + gain * (time[r, q] + time[r + 1, q])
                worst = max(worst, loss / scale)
    return worst


@sized_kernel(lambda rates, _: 4.0 * sum(rates[0].shape) ** 2 + 8.0 * rates[0].size)
def curve_occupancy(rates: Rates, targets: Counts) -> Floats:
    """Return the long-run fraction of time in each state under a curve, shape (N + 1, K + 1).

    Parameters
    ----------
    rates, targets : as for :func:`evaluate_curve`
    """
    arrival, service, _ = rates
    n_robots, full = arrival.shape[0] - 1, arrival.shape[1] - 1
    start = staircase(targets)
    chain, _, _, weight, into, out, anchor = reduce_chain(rates, targets)
    visits = stationary_visits(chain, out, anchor)
    share = np.zeros(arrival.shape)
    for q in range(full + 1):
        for f in range(start[q], start[q + 1]):
            r = targets[q] - (f - start[q])
            lost = arrival[r, q] if q == full and r == targets[q] else 0.0
            total = arrival[r, q] - lost + (service[r, q] if q > 0 else 0.0)
            share[r, q] = visits[f] / total
    last, edge = row_limits(targets, n_robots)
    upper, lower = entered_rows(last, edge, full + 1)
    for r in range(n_robots - 1, 0, -1):
        for q in range(upper[r], last[r], -1):
            flow = 0.0
            if q == last[r] + 1 and into[r, 0] >= 0:
                flow += visits[into[r, 0]] * weight[into[r, 0], 0]
            if q - 1 > last[r + 1]:
                flow += share[r + 1, q - 1] * arrival[r + 1, q - 1]
            if q == full and q > last[r + 1]:
                flow += share[r + 1, q] * arrival[r + 1, q]
            if q < upper[r]:
                flow += share[r, q + 1] * service[r, q + 1]
            share[r, q] = flow / (arrival[r, q] + service[r, q])
    for r in range(1, n_robots + 1):
        for q in range(lower[r], edge[r] + 1):
            flow = 0.0
            if q == edge[r] and into[r, 1] >= 0:
                flow += visits[into[r, 1]] * weight[into[r, 1], 1]
            if q + 1 <= edge[r - 1]:
                flow += share[r - 1, q + 1] * service[r - 1, q + 1]
            if q > lower[r]:
                flow += share[r, q - 1] * arrival[r, q - 1]
            share[r, q] = flow / (arrival[r, q] + (service[r, q] if q > 0 else 0.0))
    return share / np.sum(share)


@kernel
def stationary_visits(chain: Floats, out: Floats, anchor: int) -> Floats:
    """Return visits to each state of F per visit to the anchor, after ``eliminate``."""
    size = chain.shape[0]
    visits = np.zeros(size)
    visits[anchor] = 1.0
    for k in range(anchor + 1, size):
        for j in range(anchor, k):
            visits[k] += visits[j] * chain[j, k]
        visits[k] /= out[k]
    for k in range(anchor - 1, -1, -1):
        for j in range(k + 1, size):
            visits[k] += visits[j] * chain[j, k]
        visits[k] /= out[k]
    return visits
