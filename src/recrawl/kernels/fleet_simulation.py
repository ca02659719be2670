"""The controlled queue, event by event: robots, buffer, indexer, with real random times.

Nothing here knows the state graph that the solvers use. Pages are kept in order with the time
they came, so the time a page spends in the buffer is measured, not deduced.
"""

import numpy as np

from recrawl.kernels.arrays import Counts, Flags, Floats
from recrawl.kernels.compile import kernel


@kernel
def simulate_buffer(
    rates: tuple[Floats, Floats],
    on_arrival: Flags,
    on_departure: Flags,
    active: int,
    events: tuple[int, int, int],
    rng: "np.random.Generator",
) -> Floats:
    """Simulate one class of robots with constant or state-dependent rates.

    Returns a row for each batch: time, idle time, page-time, robot-time, lost, indexed, and the
    total time in the buffer of the pages indexed.

    Parameters
    ----------
    rates : arrival and index rates, shape (K + 1, N + 1) each, 1/time
    on_arrival, on_departure : shape (K + 1, N + 1), whether to start a robot at (pages, robots)
        after the event
    active : robots at the beginning, with an empty buffer, 1 .. N
    events : warm-up, batches, events per batch
    rng : source of chance
    """
    arrival, service = rates
    full, robots = arrival.shape[0] - 1, arrival.shape[1] - 1
    came = np.zeros(full + 1)
    head, q, r, clock = 0, 0, active, 0.0
    sums = np.zeros((events[1] + 1, 7))
    for batch in range(events[1] + 1):
        row = sums[batch]
        for _ in range(events[0] if batch == 0 else events[2]):
            up, total = arrival[q, r], arrival[q, r] + service[q, r]
            stay = rng.standard_exponential() / total
            clock += stay
            row[0] += stay
            if q == 0:
                row[1] += stay
            row[2] += stay * q
            row[3] += stay * r
            if rng.random() * total < up:
                r -= 1
                if q == full:
                    row[4] += 1.0
                else:
                    came[(head + q) % (full + 1)] = clock
                    q += 1
                if on_arrival[q, r]:
                    r += 1
            else:
                q -= 1
                row[5] += 1.0
                row[6] += clock - came[head]
                head = (head + 1) % (full + 1)
                if r < robots and on_departure[q, r]:
                    r += 1
    return sums[1:]


@kernel
def draw(weights: Floats, total: float, rng: "np.random.Generator") -> int:
    """Return an index with probability proportional to its weight."""
    left = rng.random() * total
    for i in range(weights.shape[0] - 1):
        left -= weights[i]
        if left < 0.0:
            return i
    return len(weights) - 1


@kernel
def simulate_phased(
    fetch: Floats,
    limits: Counts,
    switching: Floats,
    initial: Floats,
    generator: Floats,
    full: int,
    policy: tuple[Flags, Counts, Floats],
    events: tuple[int, int, int],
    rng: "np.random.Generator",
) -> Floats:
    """Simulate classes of robots, an environment and phase-type indexing times.

    Begins with one robot of the first class. Returns rows as :func:`simulate_buffer`, with the cost
    of the robots at the end.

    Parameters
    ----------
    fetch : shape (J, Z), rate of one robot by class and environment, 1/time
    limits : shape (J,), robots of each class
    switching : shape (Z, Z), rates of the environment, 1/time; the diagonal is not read
    initial, generator : shape (M,) and (M, M), 1/time, of the indexing time
    full : pages that the buffer holds
    policy : on arrival, by class, whether to start that robot again; on departure, the class to
        start or a negative number; both flat over the grid (q, z, i, r_1, ...) after the event; and
        the cost of an active robot of each class, shape (J,), per time
    events : warm-up, batches, events per batch
    rng : source of chance
    """
    on_arrival, on_departure, robot_cost = policy
    n_classes, n_environments = fetch.shape
    n_phases = initial.shape[0]
    stride = np.ones(n_classes, np.int64)
    for j in range(n_classes - 2, -1, -1):
        stride[j] = stride[j + 1] * (limits[j + 1] + 1)
    by_phase = stride[0] * (limits[0] + 1)
    came = np.zeros(full + 1)
    r = np.zeros(n_classes, np.int64)
    r[0] = 1
    head, q, z, phase, clock = 0, 0, 0, 0, 0.0
    weights = np.zeros(n_classes + n_phases + 1 + n_environments)
    sums = np.zeros((events[1] + 1, 8))
    for batch in range(events[1] + 1):
        row = sums[batch]
        for _ in range(events[0] if batch == 0 else events[2]):
            active = 0
            total = 0.0
            for j in range(n_classes):
                weights[j] = fetch[j, z] * r[j]
                active += r[j]
                total += weights[j]
            ends = 0.0
            for i in range(n_phases):
                move = generator[phase, i] if q > 0 and i != phase else 0.0
                weights[n_classes + i] = move
                total += move
                if q > 0:
                    ends -= generator[phase, i]
            weights[n_classes + n_phases] = max(ends, 0.0)
            total += weights[n_classes + n_phases]
            for y in range(n_environments):
                move = switching[z, y] if y != z else 0.0
                weights[n_classes + n_phases + 1 + y] = move
                total += move
            stay = rng.standard_exponential() / total
            clock += stay
            row[0] += stay
            if q == 0:
                row[1] += stay
            row[2] += stay * q
            row[3] += stay * active
            for j in range(n_classes):
                row[7] += stay * robot_cost[j] * r[j]
            event = draw(weights, total, rng)
            if event > n_classes + n_phases:
                z = event - n_classes - n_phases - 1
                continue
            if n_classes <= event < n_classes + n_phases:
                phase = event - n_classes
                continue
            if event < n_classes:
                r[event] -= 1
                if q == full:
                    row[4] += 1.0
                else:
                    if q == 0:
                        phase = draw(initial, 1.0, rng)
                    came[(head + q) % (full + 1)] = clock
                    q += 1
            else:
                q -= 1
                row[5] += 1.0
                row[6] += clock - came[head]
                head = (head + 1) % (full + 1)
                phase = draw(initial, 1.0, rng) if q > 0 else 0
            point = ((q * n_environments + z) * n_phases + phase) * by_phase
            for j in range(n_classes):
                point += r[j] * stride[j]
            if event < n_classes:
                if on_arrival[event, point]:
                    r[event] += 1
            elif on_departure[point] >= 0:
                r[on_departure[point]] += 1
    return sums[1:]
