"""The optimum in continuous time for piecewise constant functions, layer by layer.

Everything is a function of x = L(s), the updates expected so far. V_m(x), the least cost from s
on with m more probes (constant left out), is concave, continuous and piecewise quadratic: rows
``x0, c0, c1, c2, t0, t1`` say that from x0 on V = c0 + c1 x + c2 x^2, the next probe being at
t0 + t1 x. Each candidate stretch of next probes gives an arc: a line, a parabola, a line, touching.
Arcs come in the order of A, so each lies above the one before and then below it, crossing once;
a stack holds their lower envelope.
"""

import numpy as np

from recrawl.kernels.arrays import Vector
from recrawl.kernels.compile import kernel, sized_kernel

# An arc: y0, y1 (next probe as L), e, r (A = e + r y there), h0, h1, h2 (A y + V as polynomial in
# y), start (from which x on it is lowest), b, q (probe time = b + q y). Points have y0 = y1.


@kernel
def _best(arc: Vector, x: float) -> float:
    """Return the best next probe on the arc, seen from x."""
    k = arc[6]
    if arc[0] == arc[1] or k <= 0.0:
        return float(arc[0])
    return float(min(max((arc[3] * x - arc[5]) / (2.0 * k), arc[0]), arc[1]))


@kernel
def _height(arc: Vector, x: float) -> float:
    y = _best(arc, x)
    return float(arc[4] + y * (arc[5] + y * arc[6]) - (arc[2] + arc[3] * y) * x)


@kernel
def _shape(arc: Vector, x: float) -> tuple[float, float, float]:
    """Coefficients of the arc as a function, around x."""
    y = _best(arc, x)
    if y == arc[0] or y == arc[1]:
        return arc[4] + y * (arc[5] + y * arc[6]), -(arc[2] + arc[3] * y), 0.0
    k = arc[6]
    return (
        arc[4] - arc[5] * arc[5] / (4.0 * k),
        -arc[2] + arc[3] * arc[5] / (2.0 * k),
        -arc[3] * arc[3] / (4.0 * k),
    )


@kernel
def _turn(arc: Vector, side: int) -> float:
    """The x at which the arc's line becomes a parabola (side 0) or ends being one (side 1)."""
    if arc[0] == arc[1] or arc[3] == 0.0:
        return np.inf
    return float((2.0 * arc[6] * arc[side] + arc[5]) / arc[3])


@kernel
def _cross(old: Vector, new: Vector, low: float, high: float) -> float:
    """The x in [low, high] at which the new arc becomes the lower one."""
    for arc in (old, new):
        for side in range(2):
            x = _turn(arc, side)
            if low < x < high:
                if _height(new, x) <= _height(old, x):
                    high = x
                else:
                    low = x
    middle = 0.5 * (low + high)
    _, a1, a2 = _shape(old, middle)
    _, b1, b2 = _shape(new, middle)
    # old - new = d0 + d1 u + d2 u^2 with u = x - low rises through zero
    d2, d1 = a2 - b2, a1 - b1 + 2.0 * (a2 - b2) * low
    d0 = _height(old, low) - _height(new, low)
    root = np.sqrt(max(d1 * d1 - 4.0 * d2 * d0, 0.0))
    u = -2.0 * d0 / (d1 + root) if d1 + root > 0.0 else 0.5 * (high - low)
    return min(max(low + u, low), high)


@kernel
def _push(stack: Vector, size: int, arc: Vector, end: float) -> int:
    """Add an arc, later in A than all others, to the envelope."""
    while size > 0:
        top = stack[size - 1]
        if _height(arc, top[7]) <= _height(top, top[7]):
            size -= 1
            continue
        if _height(arc, end) >= _height(top, end):
            return size
        arc[7] = _cross(top, arc, top[7], end)
        stack[size] = arc
        return size + 1
    arc[7] = 0.0
    stack[0] = arc
    return 1


@kernel
def _arcs(
    layer: Vector, starts: Vector, cells: Vector, before: Vector, totals: tuple[float, float]
) -> Vector:
    """All arcs for the next layer, in the order of A."""
    k = starts.size - 1
    arcs = np.empty((2 * (layer.shape[0] + 2 * k + 2), 10))
    size, s = 0, 0
    for c in range(k):
        y_start = before[0, c]
        y_end = before[0, c + 1] if c + 1 < k else totals[0]
        a_start = before[1, c]
        rate, worth = cells[0, c], cells[2, c]
        while s + 1 < layer.shape[0] and layer[s + 1, 0] <= y_start:
            s += 1
        if rate > 0.0 and worth > 0.0:
            r = worth / rate
            e = a_start - r * y_start
            y = y_start
            while True:
                to = y_end
                if s + 1 < layer.shape[0]:
                    to = min(to, layer[s + 1, 0])
                h0, h1, h2 = layer[s, 1], layer[s, 2] + e, layer[s, 3] + r
                if to > y:
                    b, q = starts[c] - y_start / rate, 1.0 / rate
                    ends = (y, to) if h2 > 0.0 else (y, y)
                    arcs[size] = np.array([ends[0], ends[1], e, r, h0, h1, h2, 0.0, b, q])
                    size += 1
                    if h2 <= 0.0:
                        arcs[size] = np.array([to, to, e, r, h0, h1, h2, 0.0, b, q])
                        size += 1
                if to >= y_end:
                    break
                y = to
                s += 1
        elif c + 1 == k or not (cells[0, c + 1] > 0.0 and cells[2, c + 1] > 0.0):
            while s + 1 < layer.shape[0] and layer[s + 1, 0] <= y_end:
                s += 1
            a_end = a_start + worth * (starts[c + 1] - starts[c])
            value = layer[s, 1] + y_end * (layer[s, 2] + y_end * layer[s, 3])
            arcs[size] = np.array(
                [y_end, y_end, a_end, 0.0, value, a_end, 0.0, 0.0, starts[c + 1], 0.0]
            )
            size += 1
    return arcs[:size]


@kernel
def _next_layer(arcs: Vector, end: float) -> Vector:
    """Lower envelope of the arcs on [0, end] as rows of a layer."""
    stack = np.empty((arcs.shape[0], 10))
    size = 0
    for i in range(arcs.shape[0]):
        size = _push(stack, size, arcs[i], end)
    rows = np.empty((3 * size, 6))
    n = 0
    for i in range(size):
        arc = stack[i]
        low, high = arc[7], stack[i + 1, 7] if i + 1 < size else end
        first, last = _turn(arc, 0), _turn(arc, 1)
        at = low
        for part in range(3):
            to = high
            if part == 0:
                to = min(high, first)
            elif part == 1:
                to = min(high, last)
            if to <= at and not (n == 0 and part == 2):
                continue
            c0, c1, c2 = _shape(arc, 0.5 * (at + to))
            if c2 == 0.0:
                y = _best(arc, 0.5 * (at + to))
                t0, t1 = arc[8] + arc[9] * y, 0.0
            else:
                t0 = arc[8] - arc[9] * arc[5] / (2.0 * arc[6])
                t1 = arc[9] * arc[3] / (2.0 * arc[6])
            same = n > 0 and c2 == 0.0 and rows[n - 1, 3] == 0.0
            if same and abs(rows[n - 1, 4] - t0) <= 1e-13 * abs(t0):
                at = to
                continue
            rows[n, 0] = at
            rows[n, 1], rows[n, 2], rows[n, 3] = c0, c1, c2
            rows[n, 4], rows[n, 5] = t0, t1
            n += 1
            at = to
    return rows[:n].copy()


@sized_kernel(lambda starts, _, __, ___, n: 450.0 * starts.size * n)
def solve_in_continuous_time(
    starts: Vector, cells: Vector, before: Vector, totals: tuple[float, float], n: int
) -> tuple[Vector, Vector, int]:
    """Least costs of 1..n probes (constant left out), an optimal schedule of n, most segments.

    Parameters
    ----------
    starts, cells, before : see :mod:`recrawl.kernels.probe_cost`; all slopes 0
    totals : integrals of intensity and importance over the period, > 0
    n : probes, >= 1, the last at the end of the period
    """
    end_L, end_A = totals
    period = starts[-1]
    first = np.zeros((1, 6))
    first[0, 1], first[0, 2], first[0, 4] = end_A * end_L, -end_A, period
    layers = [first]
    costs = np.empty(n)
    costs[0] = end_A * end_L
    most = 1
    for m in range(1, n):
        layer = _next_layer(_arcs(layers[m - 1], starts, cells, before, totals), end_L)
        layers.append(layer)
        costs[m] = layer[0, 1]
        most = max(most, layer.shape[0])
    probes = np.empty(n)
    x, at = 0.0, 0.0
    for i in range(n):
        layer = layers[n - 1 - i]
        row = max(int(np.searchsorted(layer[:, 0], x, side="right")) - 1, 0)
        to = layer[row, 4] + layer[row, 5] * x
        at = min(max(to, at), period)
        probes[i] = at
        c = max(0, min(int(np.searchsorted(starts, at, side="right")) - 1, starts.size - 2))
        x = before[0, c] + cells[0, c] * (at - starts[c])
    probes[n - 1] = period
    return costs, probes, most
