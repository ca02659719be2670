"""Loops for any policy on any finite chain: classes, exact values, exact occupancy.

A policy is a graph in compressed rows: from state s edges ``ptr[s] : ptr[s+1]`` lead to ``target``
at ``rate`` > 0. Strongly connected components come out sinks first (Tarjan 1972); each is
eliminated as a band by the subtraction-free elimination of Grassmann, Taksar and Heyman (1985).
"""

from typing import TypeAlias

import numpy as np

from recrawl.kernels.arrays import Counts, Flags, Floats
from recrawl.kernels.compile import kernel, sized_kernel

Graph: TypeAlias = tuple[Counts, Counts, Floats]


@sized_kernel(lambda ptr, target: 4.0 * (ptr.size + target.size))
def components(ptr: Counts, target: Counts) -> tuple[Counts, int]:
    """Return the strongly connected components, those that lead nowhere else first.

    Parameters
    ----------
    ptr, target : shape (n + 1,) and (edges,), see the module
    """
    n = ptr.shape[0] - 1
    order = np.full(n, -1, np.int64)
    low = np.zeros(n, np.int64)
    part = np.full(n, -1, np.int64)
    cursor = ptr[:-1].copy()
    stack = np.empty(n, np.int64)  # Tarjan's stack of states without a component
    path = np.empty(n, np.int64)  # the recursion
    height, clock, found = 0, 0, 0
    for root in range(n):
        if order[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth > 0:
            s = path[depth - 1]
            if order[s] < 0:
                order[s], low[s] = clock, clock
                clock += 1
                stack[height] = s
                height += 1
            deeper = False
            while cursor[s] < ptr[s + 1]:
                t = target[cursor[s]]
                if order[t] < 0:
                    path[depth] = t
                    depth += 1
                    deeper = True
                    break
                if part[t] < 0:
                    low[s] = min(low[s], low[t])
                cursor[s] += 1
            if deeper:
                continue
            depth -= 1
            if low[s] == order[s]:
                while True:
                    height -= 1
                    t = stack[height]
                    part[t] = found
                    if t == s:
                        break
                found += 1
    return part, found


@sized_kernel(lambda ptr, target, *_: 2.0 * (ptr.size + target.size))
def closed_classes(ptr: Counts, target: Counts, part: Counts, n_parts: int) -> Flags:
    """Say which components are left by no edge: the recurrent classes.

    Parameters
    ----------
    ptr, target, part, n_parts : as :func:`components` takes and returns them
    """
    closed = np.ones(n_parts, np.bool_)
    for s in range(ptr.shape[0] - 1):
        for e in range(ptr[s], ptr[s + 1]):
            if part[target[e]] != part[s]:
                closed[part[s]] = False
    return closed


@kernel
def narrowest(
    members: Counts, place: Counts, part: Counts, ptr: Counts, target: Counts, keys: Counts
) -> tuple[Counts, int]:
    """Order the states of a component by the key that makes its band narrowest."""
    best, best_width = members, -1
    for k in range(keys.shape[0]):
        ordered = members[np.argsort(keys[k][members])]
        for i in range(ordered.shape[0]):
            place[ordered[i]] = i
        width = 0
        for i in range(ordered.shape[0]):
            s = ordered[i]
            for e in range(ptr[s], ptr[s + 1]):
                if part[target[e]] == part[s]:
                    width = max(width, abs(place[target[e]] - i))
        if best_width < 0 or width < best_width:
            best, best_width = ordered, width
    for i in range(best.shape[0]):
        place[best[i]] = i
    return best, best_width


@kernel
def load_band(
    ordered: Counts,
    width: int,
    place: Counts,
    part: Counts,
    graph: Graph,
    cost: Floats,
    value: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return a component as a band of rates, with what leaves it and what it costs."""
    ptr, target, rate = graph
    size = ordered.shape[0]
    band = np.zeros((size, 2 * width + 1))
    leave = np.zeros(size)
    spent = np.empty((size, 2))
    for i in range(size):
        s = ordered[i]
        spent[i, 0], spent[i, 1] = cost[s], 1.0
        for e in range(ptr[s], ptr[s + 1]):
            t = target[e]
            if t == s:
                continue
            if part[t] == part[s]:
                band[i, place[t] - i + width] += rate[e]
            else:
                leave[i] += rate[e]
                spent[i] += rate[e] * value[t]
    return band, leave, spent


@kernel
def eliminate_band(band: Floats, leave: Floats, spent: Floats, anchor: int) -> Floats:
    """Eliminate all states but the anchor from both ends; return the pivots.

    ``anchor`` = size eliminates all: then ``leave`` must let every state out in the end.
    """
    size, width = band.shape[0], band.shape[1] // 2
    pivot = np.ones(size)
    for k in range(min(anchor, size)):
        end = min(k + width, size - 1)
        out = leave[k]
        for d in range(1, end - k + 1):
            out += band[k, width + d]
        pivot[k] = out
        for j in range(k + 1, end + 1):
            into = band[j, k - j + width]
            if into == 0.0:
                continue
            share = into / out
            row = band[j, k + 1 - j + width : end + 1 - j + width]
            source = band[k, width + 1 : width + 1 + end - k]
            for d in range(row.shape[0]):
                row[d] += share * source[d]
            leave[j] += share * leave[k]
            spent[j] += share * spent[k]
    for k in range(size - 1, anchor, -1):
        begin = max(k - width, anchor)
        out = leave[k]
        for j in range(begin, k):
            out += band[k, j - k + width]
        pivot[k] = out
        for j in range(begin, k):
            into = band[j, k - j + width]
            if into == 0.0:
                continue
            share = into / out
            row = band[j, begin - j + width : k - j + width]
            source = band[k, begin - k + width : width]
            for d in range(row.shape[0]):
                row[d] += share * source[d]
            leave[j] += share * leave[k]
            spent[j] += share * spent[k]
    return pivot


@kernel
def substitute(band: Floats, pivot: Floats, spent: Floats, anchor: int) -> Floats:
    """Return cost and time from each state until the anchor (or until it leaves the component)."""
    size, width = band.shape[0], band.shape[1] // 2
    total = np.zeros((size, 2))
    for k in range(anchor + 1, size):
        total[k] = spent[k]
        for j in range(max(k - width, anchor), k):
            total[k] += band[k, j - k + width] * total[j]
        total[k] /= pivot[k]
    for k in range(min(anchor, size) - 1, -1, -1):
        total[k] = spent[k]
        for j in range(k + 1, min(k + width, size - 1) + 1):
            total[k] += band[k, j - k + width] * total[j]
        total[k] /= pivot[k]
    return total


@kernel
def occupy_band(band: Floats, pivot: Floats, anchor: int) -> Floats:
    """Return the stationary distribution of a closed component, after the elimination."""
    size, width = band.shape[0], band.shape[1] // 2
    share = np.zeros(size)
    share[anchor] = 1.0
    for k in range(anchor + 1, size):
        for j in range(max(k - width, anchor), k):
            share[k] += share[j] * band[j, k - j + width]
        share[k] /= pivot[k]
    for k in range(anchor - 1, -1, -1):
        for j in range(k + 1, min(k + width, size - 1) + 1):
            share[k] += share[j] * band[j, k - j + width]
        share[k] /= pivot[k]
    return share / np.sum(share)


@kernel
def solve_closed(
    ordered: Counts,
    width: int,
    place: Counts,
    part: Counts,
    graph: Graph,
    cost: Floats,
    value: Floats,
    hint: int,
) -> tuple[Floats, Floats, int, float]:
    """Return cost and time until the anchor, occupancy, the anchor and the average cost.

    The anchor is often visited, for cost and time until a rare one would be huge and their
    difference would lose its digits.
    """
    anchor = place[hint] if hint >= 0 and part[hint] == part[ordered[0]] else ordered.shape[0] // 2
    while True:
        band, leave, spent = load_band(ordered, width, place, part, graph, cost, value)
        pivot = eliminate_band(band, leave, spent, anchor)
        share = occupy_band(band, pivot, anchor)
        busiest = int(np.argmax(share))
        if share[anchor] >= 1e-2 * share[busiest]:
            break
        anchor = busiest
    total = substitute(band, pivot, spent, anchor)
    return total, share, ordered[anchor], spent[anchor, 0] / spent[anchor, 1]


@sized_kernel(lambda graph, *_: 200.0 * graph[0].size)
def evaluate_graph(
    graph: Graph, cost: Floats, keys: Counts, part: Counts, closed: Flags, hint: int
) -> tuple[Floats, Floats, Counts, Floats]:
    """Evaluate a policy: average cost per class (nan where transient), values, anchors, occupancy.

    With one closed class ``values`` holds cost and time from each state until its anchor. With
    more, each closed class has its own anchor, and the values of transient states mean nothing.

    Parameters
    ----------
    graph : ptr, target and rate, 1/time, see the module
    cost, keys : shape (n,), per time, >= 0; shape (k, n), orders of the states
    part, closed : as :func:`components` and :func:`closed_classes` return them
    hint : a state that is often visited, first tried as the anchor of its class; -1: none known
    """
    ptr, target, _ = graph
    n, n_parts = ptr.shape[0] - 1, closed.shape[0]
    by_part = np.argsort(part, kind="mergesort")
    count = np.zeros(n_parts + 1, np.int64)
    for s in range(n):
        count[part[s] + 1] += 1
    first = np.cumsum(count)
    place = np.zeros(n, np.int64)
    value = np.zeros((n, 2))
    gains = np.full(n_parts, np.nan)
    anchors = np.full(n_parts, -1, np.int64)
    occupancy = np.zeros(n)
    for p in range(n_parts):
        members = by_part[first[p] : first[p + 1]]
        ordered, width = narrowest(members, place, part, ptr, target, keys)
        if closed[p]:
            total, share, anchors[p], gains[p] = solve_closed(
                ordered, width, place, part, graph, cost, value, hint
            )
            occupancy[ordered] = share
        else:
            band, leave, spent = load_band(ordered, width, place, part, graph, cost, value)
            pivot = eliminate_band(band, leave, spent, ordered.shape[0])
            total = substitute(band, pivot, spent, ordered.shape[0])
        value[ordered] = total
    return gains, value, anchors, occupancy


@sized_kernel(lambda options, *_: 4.0 * options[1].size)
def best_choices(
    options: tuple[Counts, Counts], choice: Counts, gain: float, value: Floats, tolerance: float
) -> tuple[Counts, float]:
    """Improve every decision by relative value; also the largest gain left, relative to the terms.

    Parameters
    ----------
    options : start, shape (D + 1,), and state: decision d may lead to state[start[d]:start[d + 1]]
    choice : shape (D,), the present option of each decision, counted from 0
    gain, value : average cost, and cost and time until the anchor, shape (n, 2)
    tolerance : a decision changes only for a gain above this, relative to the terms compared
    """
    start, state = options
    chosen = choice.copy()
    worst = 0.0
    for d in range(choice.shape[0]):
        now = state[start[d] + choice[d]]
        most = tolerance
        for o in range(start[d + 1] - start[d]):
            other = state[start[d] + o]
            fall = (value[now, 0] - value[other, 0]) - gain * (value[now, 1] - value[other, 1])
            scale = value[now, 0] + value[other, 0] + gain * (value[now, 1] + value[other, 1])
            if fall > 0.0 and scale > 0.0:
                worst = max(worst, fall / scale)
                if fall > most * scale:
                    # of several improvements the largest, on the scale of the present choice
                    most = fall / scale
                    chosen[d] = o
    return chosen, worst


@sized_kernel(lambda inside, _, options, *rest: 20.0 * (inside.size + options[1].size))
def lead_into(
    inside: Flags, events: tuple[Counts, Counts], options: tuple[Counts, Counts], choice: Counts
) -> tuple[Counts, bool]:
    """Change as few choices as needed until every state can reach the set ``inside``.

    Returns the choices and whether all states were led there. Decisions on which a state that
    already reaches the set relies are left alone.

    Parameters
    ----------
    inside, events : shape (n,); ptr, shape (n + 1,), and the decision that each event asks for
    options, choice : as for :func:`best_choices`
    """
    ptr, decision = events
    start, state = options
    n = ptr.shape[0] - 1
    chosen = choice.copy()
    reached = inside.copy()
    kept = np.zeros(choice.shape[0], np.bool_)
    for s in range(n):
        if inside[s]:
            for e in range(ptr[s], ptr[s + 1]):
                kept[decision[e]] = True
    while True:
        moved = True
        while moved:  # along the present policy
            moved = False
            for s in range(n):
                if reached[s]:
                    continue
                for e in range(ptr[s], ptr[s + 1]):
                    d = decision[e]
                    if reached[state[start[d] + chosen[d]]]:
                        reached[s], kept[d], moved = True, True, True
                        break
        for s in range(n):  # one change, where some other option leads there
            if reached[s] or moved:
                continue
            for e in range(ptr[s], ptr[s + 1]):
                d = decision[e]
                for o in range(start[d + 1] - start[d]):
                    if not kept[d] and not moved and reached[state[start[d] + o]]:
                        chosen[d], kept[d], reached[s], moved = o, True, True, True
        if not moved:
            return chosen, bool(np.all(reached))


@sized_kernel(lambda occupancy, *_: float(occupancy.size))
def occupy_class(occupancy: Floats, part: Counts, wanted: int) -> Floats:
    """Return the occupancy of one closed class, zero elsewhere.

    Parameters
    ----------
    occupancy, part : shape (n,), share of time in each state, and its component
    wanted : the component
    """
    share = np.zeros(occupancy.shape[0])
    for s in range(occupancy.shape[0]):
        if part[s] == wanted:
            share[s] = occupancy[s]
    return share
