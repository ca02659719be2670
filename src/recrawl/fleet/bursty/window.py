"""Buffers too large for the exact chain: phases of the oldest pages only, counts of the others.

The oldest h waiting pages keep their obsolescence phases in order; of the others only how many
are in each phase is kept, and whenever one of them moves up into the window it is one of them at
random. With h = 0 that is service in random order of phases, with h = N - 2 it is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.bursty.law import ServiceRates, StationaryLaw, service_rates
from recrawl.fleet.bursty.measures import BufferMeasures, measure
from recrawl.fleet.bursty.model import BurstyBuffer, show_count
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.kernels.buffer_levels import level_weights
from recrawl.kernels.scatter import scatter
from recrawl.processes.phase_type import PhaseType

Entries: TypeAlias = tuple[Counts, Counts, Matrix]

_MOST_STATES = 3_000_000
_ESTIMATED = (
    *("cost", "loss", "obsolescence", "success", "starvation", "robots_mean", "buffer_mean"),
    *("sojourn_served", "sojourn_obsolete"),
)
_INNER = 4  # sweeps over the phases within a level, where they move


@dataclass(frozen=True, slots=True)
class ClosedMeasures:
    """Approximate measures by window closure, with an estimate of their error.

    Parameters
    ----------
    measures : with ``window`` pages whose phases are kept in order
    errors : measure -> how much it moved from a window one shorter; errors fall by a factor of
        two or more with each page of the window, so this is about the error that is left or more
    window : h
    """

    measures: BufferMeasures
    errors: dict[str, float]
    window: int


@dataclass(frozen=True, eq=False)
class _Level:
    """Configurations of one level and their transitions, local states left out."""

    size: int
    out: Matrix  # total rate of phase moves and of going stale
    stale: Matrix
    served: Entries  # to the level below, probabilities
    gone: Entries  # to the level below, rates
    moves: Entries  # within, rates
    fresh: Entries  # to the level above, probabilities


def closed_states(model: BurstyBuffer, window: int) -> int:
    """Return the number of states of the closed chain.

    Parameters
    ----------
    model : the buffer
    window : h, >= 0
    """
    w, m, v = model.phases
    total = w
    for n in range(1, model.levels):
        kept = min(window, n - 1)
        total += w * m * v**kept * _multisets(n - 1 - kept, v)
    return total


def _multisets(size: int, v: int) -> int:
    out = 1
    for k in range(1, v):
        out = out * (size + k) // k
    return out


def evaluate_closed(
    model: BurstyBuffer,
    robots_by_length: Sequence[int],
    *,
    window: int | None = None,
    most_states: int = _MOST_STATES,
    estimate: bool = True,
) -> ClosedMeasures:
    """Return approximate measures of a map where the exact chain is too large.

    Parameters
    ----------
    window : h, how many of the oldest pages keep their phases, >= 1; left out: as many as
        ``most_states`` allow, up to 8
    most_states : refuse a larger closed chain
    estimate : also solve with a window one shorter, to estimate errors

    Raises
    ------
    InvalidModel
        If obsolescence has one phase (then the exact solution is at hand), or the closed chain is
        too large; the message says what would fit.
    NotConverged
        If the iteration does not converge.

    Notes
    -----
    W M V^h C(N - h + V - 2, V - 1) states a level. Solved as
    :func:`recrawl.fleet.bursty.iterative.solve_phases`, for windows h - 1 and h.
    """
    if model.obsolescence is None or model.phases[2] == 1:
        raise InvalidModel("window: obsolescence has one phase, so the exact solution is at hand")
    modes = model.modes(robots_by_length)
    most = max(model.levels - 3, 1)
    if window is None:
        fits = [h for h in range(1, min(most, 8) + 1) if closed_states(model, h) <= most_states]
        window = fits[-1] if fits else 1
    if not 1 <= window <= most:
        raise InvalidModel(f"window must be 1 .. {most}, got {window}")
    states = closed_states(model, window)
    if states > most_states:
        raise InvalidModel(
            f"window {window}: the closed chain has {show_count(states)} states, the limit is "
            f"{show_count(most_states)}; take a smaller window, fewer phases, or simulation"
        )
    found = _evaluate(model, modes, window)
    if not estimate:
        return ClosedMeasures(found, {}, window)
    shorter = _evaluate(model, modes, window - 1)
    errors = {name: abs(getattr(found, name) - getattr(shorter, name)) for name in _ESTIMATED}
    return ClosedMeasures(found, errors, window)


def _evaluate(model: BurstyBuffer, modes: Counts, window: int) -> BufferMeasures:
    law = model.obsolescence
    assert law is not None
    levels = [_configurations(law, n - 1, window) for n in range(1, model.levels)]
    parts, change, iterations = _solve(model, modes, levels)
    mass, gone = _sum_phases(model, levels, parts)
    found = StationaryLaw(
        mass, gone, lambda n: parts[n], iterations, change, f"window closure, h = {window}"
    )
    pages = np.arange(model.levels) @ mass.sum(axis=1)
    to_serve = _to_serve(model, levels, parts)
    found_measures = measure(model, modes, found, to_serve, float(pages) - to_serve)
    return replace(found_measures, states=closed_states(model, window))


def _configurations(law: PhaseType, waiting: int, window: int) -> _Level:
    """Write down one level: window number times multiset of the others."""
    v = law.initial.size
    kept = min(window, waiting)
    rest = waiting - kept
    counts, _ = _table(rest, v)
    digits = (np.arange(v**kept)[:, None] // v ** np.arange(kept - 1, -1, -1)) % v
    a = np.repeat(np.arange(v**kept), len(counts))
    places, c = digits[a], np.tile(counts, (v**kept, 1))
    leave, exits = -np.diag(law.generator), law.exits
    served, gone, within = _in_window(law, a, places, c)
    for part, more in zip((served, gone, within), _outside(law, a, c, rest), strict=True):
        part.extend(more if part is not served or kept == 0 else [])
    here = np.arange(a.size)
    fresh: list[Entries] = []
    for x in range(v):
        grown = c + np.eye(v, dtype=np.int64)[x]
        target = a * v + x if kept < window else _number(a, grown, rest + 1, v)
        fresh.append((here, target, np.full(a.size, law.initial[x])))
    total = leave[places].sum(axis=1) + c @ leave
    stale = exits[places].sum(axis=1) + c @ exits
    return _Level(a.size, total, stale, _join(served), _join(gone), _join(within), _join(fresh))


def _in_window(
    law: PhaseType, a: Counts, places: Counts, c: Counts
) -> tuple[list[Entries], list[Entries], list[Entries]]:
    """Services, pages going stale and moves of phases of the pages in the window."""
    v, kept, n_multisets = law.initial.size, places.shape[1], int(np.count_nonzero(a == 0))
    here, exits = np.arange(a.size), law.exits
    moves = law.generator - np.diag(np.diag(law.generator))
    served: list[Entries] = []
    gone: list[Entries] = []
    within: list[Entries] = []
    for j in range(kept):
        for target, share in _drop(places, c, j, v):
            gone.append((here, target, share * exits[places[:, j]]))
            if j == 0:
                served.append((here, target, share))
        for u in range(v):
            moved = a + (u - places[:, j]) * v ** (kept - 1 - j)
            target = moved * n_multisets + here % n_multisets
            within.append((here, target, moves[places[:, j], u]))
    return served, gone, within


def _outside(
    law: PhaseType, a: Counts, c: Counts, rest: int
) -> tuple[list[Entries], list[Entries], list[Entries]]:
    """The same for the pages of which only counts are kept; any of them is served, if so."""
    v = law.initial.size
    here, unit = np.arange(a.size), np.eye(v, dtype=np.int64)
    served: list[Entries] = []
    gone: list[Entries] = []
    within: list[Entries] = []
    for x in range(v if rest else 0):
        some = c[:, x : x + 1] > 0
        less = np.where(some, c - unit[x], 0)
        target = _number(a, less, rest - 1, v)
        gone.append((here, target, c[:, x] * law.exits[x]))
        served.append((here, target, c[:, x] / rest))
        for u in range(v):
            if u != x:
                there = _number(a, np.where(some, less + unit[u], c), rest, v)
                within.append((here, there, c[:, x] * law.generator[x, u]))
    return served, gone, within


def _drop(places: Counts, c: Counts, j: int, v: int) -> list[tuple[Counts, Matrix]]:
    """Take a page out of the window; one of the others moves up, each as likely."""
    left = np.delete(places, j, axis=1)
    number = left @ (v ** np.arange(left.shape[1] - 1, -1, -1))
    rest = int(c[0].sum())
    if rest == 0:
        return [(number, np.ones(number.size))]
    out = []
    for x in range(v):
        less = np.maximum(c - np.eye(v, dtype=np.int64)[x], 0)
        target = _number(number * v + x, less, rest - 1, v)
        out.append((target, c[:, x] / rest))
    return out


def _table(size: int, v: int) -> tuple[Counts, Counts]:
    """All multisets of so many pages, and where each stands by its counts of all phases but one."""
    listed = [
        np.bincount(np.array(choice, dtype=np.int64), minlength=v)
        for choice in combinations_with_replacement(range(v), size)
    ]
    counts = np.array(listed, dtype=np.int64).reshape(-1, v)
    rank = np.zeros((size + 1,) * (v - 1), dtype=np.int64)
    rank[tuple(counts[:, 1:].T)] = np.arange(len(counts))
    return counts, rank


def _number(a: Counts, c: Counts, size: int, v: int) -> Counts:
    counts, rank = _table(size, v)
    inner = tuple(np.minimum(c[:, 1:], size).T)
    return np.asarray(a * len(counts) + rank[inner])


def _join(parts: list[Entries]) -> Entries:
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, np.zeros(0)
    rows, columns, rates = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = rates > 0
    return rows[used].astype(np.int64), columns[used].astype(np.int64), rates[used].astype(float)


def _apply(entries: Entries, given: Matrix, size: int) -> Matrix:
    out = np.zeros((size, given.shape[1]))
    scatter(*entries, np.ascontiguousarray(given), out)
    return out


def _solve(
    model: BurstyBuffer, modes: Counts, levels: list[_Level], tolerance: float = 1e-12
) -> tuple[list[Matrix], float, int]:
    """Return the law by level, (configurations, W M); level 0 is (1, W)."""
    w, m, _ = model.phases
    jump = model.jumps[model.room, modes]
    service = service_rates(model)
    local = [np.kron(block, np.eye(m)) + np.kron(np.eye(w), service[0]) for block in jump[:, 0]]
    inverses = [np.linalg.inv(-jump[0, 0])[None]]
    for level, block in zip(levels, local[1:], strict=True):
        inverses.append(np.linalg.inv(level.out[:, None, None] * np.eye(w * m) - block))
    parts = [np.full((1, w), 1.0 / w)]
    parts += [np.full((level.size, w * m), 1.0 / (level.size * w * m)) for level in levels]
    change = np.inf
    for iteration in range(1, 3000):
        mass, gone = _sum_phases(model, levels, parts)
        if change < tolerance:
            total = mass.sum()
            return [part / total for part in parts], change, iteration
        rates = np.divide(gone, mass, out=np.zeros_like(gone), where=mass > 0)
        exact = level_weights(model.jumps, model.room, modes, service, rates)
        factor = np.divide(exact, mass, out=np.zeros_like(mass), where=mass > 0)
        parts = [p * f[: p.shape[1]] for p, f in zip(parts, factor, strict=True)]
        change = 0.0
        order = [*range(model.levels), *range(model.levels - 2, -1, -1)]
        for step, n in enumerate(order):
            inflow = _inflow(model, jump, service, levels, parts, n)
            found = inflow
            for _ in range(1 if n == 0 or not levels[n - 1].moves[0].size else _INNER):
                if n and levels[n - 1].moves[0].size:
                    known = parts[n] if found is inflow else found
                    found = inflow + _apply(levels[n - 1].moves, known, levels[n - 1].size)
                found = np.einsum("cx,cxy->cy", found, inverses[n])
            if step >= model.levels:
                change += float(np.abs(found - parts[n]).sum())
            parts[n] = found
    raise NotConverged("window closure", iterations=3000, residual=change)


def _inflow(
    model: BurstyBuffer,
    jump: Matrix,
    service: ServiceRates,
    levels: list[_Level],
    parts: list[Matrix],
    n: int,
) -> Matrix:
    w, m, _ = model.phases
    _, exits, initial = service
    most = min(model.largest_batch, n)
    size = levels[n - 1].size if n else 1
    now: Matrix | None = None
    for k in range(most, 0, -1):
        source = n - k
        part = parts[source]
        if source:
            brought = np.einsum("cim,ij->cjm", part.reshape(-1, w, m), jump[source, k])
            brought = brought.reshape(-1, w * m)
            now = brought if now is None else now + brought
            now = _apply(levels[source - 1].fresh, now, levels[source].size)
        else:
            now = np.outer(part[0] @ jump[0, k], initial).reshape(1, w * m)
    if n == 0:
        now = np.zeros((1, w))
    assert now is not None
    if n < model.levels - 1:
        above = parts[n + 1]
        done = above.reshape(-1, w, m) @ exits
        if n == 0:
            return np.asarray(now + done)
        drop = _apply(levels[n].served, done, size)
        now = now + (drop[:, :, None] * initial).reshape(-1, w * m)
        now = now + _apply(levels[n].gone, above, size)
    return now


def _sum_phases(
    model: BurstyBuffer, levels: list[_Level], parts: list[Matrix]
) -> tuple[Matrix, Matrix]:
    w, m, _ = model.phases
    mass, gone = np.zeros((model.levels, w * m)), np.zeros((model.levels, w * m))
    mass[0, :w] = parts[0][0]
    for n, level in enumerate(levels, start=1):
        mass[n] = parts[n].sum(axis=0)
        gone[n] = level.stale @ parts[n]
    return mass, gone


def _to_serve(model: BurstyBuffer, levels: list[_Level], parts: list[Matrix]) -> float:
    """Mean number of pages present that will be served: services before empty, no more arriving."""
    w, m, _ = model.phases
    generator, exits, initial = service_rates(model)
    before = np.zeros((1, m))
    total = 0.0
    for n, level in enumerate(levels, start=1):
        right = np.tile(exits, (level.size, 1))
        if n > 1:
            rows, columns, rates = level.served
            after = _apply((columns, rows, rates), before, level.size) @ initial
            right = right + after[:, None] * exits
            rows, columns, rates = level.gone
            right = right + _apply((columns, rows, rates), before, level.size)
        inverse = np.linalg.inv(level.out[:, None, None] * np.eye(m) - generator)
        rows, columns, rates = level.moves
        known = np.einsum("cxy,cy->cx", inverse, right)
        for _ in range(2000 if rows.size else 0):
            more = right + _apply((columns, rows, rates), known, level.size)
            found = np.einsum("cxy,cy->cx", inverse, more)
            moved = float(np.abs(found - known).max())
            known = found
            if moved < 1e-13:
                break
        before = known
        total += float(np.sum(parts[n].reshape(-1, w, m).sum(axis=1) * known))
    return total
