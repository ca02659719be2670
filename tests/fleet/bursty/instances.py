"""Models for the tests: the benchmark instances, random small ones, and a generator by rules.

:func:`brute_force` knows nothing of blocks, Kronecker products or levels: it walks over states
(pages, arrival phase, service phase, phases of the waiting pages) and writes down every event.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.fleet.bursty import BufferCosts, BurstyBuffer
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType

DATA = Path(__file__).parents[2] / "theory" / "data" / "avrachenkov-2011.json"
INSTANCES: dict[str, Any] = json.loads(DATA.read_text())["instances"]
NAMES = {
    "lambda": "arrival_rate",
    "P_starv": "starvation",
    "P_loss": "loss",
    "P_obs": "obsolescence",
    "P_succ": "success",
    "L": "buffer_mean",
    "N_robots": "robots_mean",
    "V_served": "sojourn_served",
    "V_obs": "sojourn_obsolete",
    "V_accepted": "sojourn_accepted",
    "V_arbitrary": "sojourn_arbitrary",
    "J": "cost",
}


def instance(name: str, capacity: int | None = None) -> BurstyBuffer:
    """One of the benchmark instances, with another capacity if wanted."""
    given = INSTANCES[name]["model"]
    cost = given["cost"]
    return BurstyBuffer(
        capacity or given["N"],
        [BatchArrivals(matrices) for matrices in given["D"]],
        PhaseType(given["service_alpha"], given["service_S"]),
        PhaseType(given["obsolescence_gamma"], given["obsolescence_Gamma"]),
        costs=BufferCosts(
            cost["c_loss"], cost["c_obs"], cost["c_time"], cost["c_rob"], cost["c_starv"]
        ),
    )


def random_law(rng: np.random.Generator, order: int) -> PhaseType:
    """A phase type with moves in all directions, cycles included."""
    rates = rng.uniform(0.1, 1.0, (order, order)) * (1 - np.eye(order))
    exits = rng.uniform(0.2, 1.5, order)
    initial = rng.uniform(0.2, 1.0, order)
    return PhaseType(initial / initial.sum(), rates - np.diag(rates.sum(axis=1) + exits))


def random_model(seed: int, **given: Any) -> BurstyBuffer:
    """Two modes, one to three phases of each kind, batches up to three, any admission."""
    rng = np.random.default_rng(seed)
    w, m, v = rng.integers(1, 4, 3)
    v = given.pop("stale_phases", v)
    capacity, largest = int(rng.integers(3, 5)), int(rng.integers(1, 4))
    processes = []
    for _ in range(2):
        parts = rng.uniform(0.05, 1.0, (largest + 1, w, w))
        parts[0] *= 1 - np.eye(w)
        parts[0] -= np.diag(parts.sum(axis=(0, 2)))
        processes.append(BatchArrivals(parts))
    admission = given.pop("admission", ("partial", "reject", "complete")[seed % 3])
    return BurstyBuffer(
        capacity,
        processes,
        random_law(rng, int(m)),
        random_law(rng, int(v)) if v else None,
        costs=BufferCosts(*rng.uniform(0.5, 5.0, 5)),
        admission=admission,
        **given,
    )


def brute_force(  # noqa: C901, PLR0912 - every kind of event, one after the other
    model: BurstyBuffer, modes: NDArray[np.int64]
) -> dict[str, float]:
    """Write down every event of every state, solve densely, and count."""
    law = model.obsolescence or PhaseType([1.0], [[-1e-300]])
    stale = law.exits if model.obsolescence else np.zeros(1)
    w, m, v = model.phases
    states: dict[tuple[int, int, int, tuple[int, ...]], int] = {}
    for n in range(model.levels):
        for nu, x in product(range(w), range(m if n else 1)):
            for clocks in product(range(v), repeat=max(n - 1, 0)):
                states[n, nu, x, clocks] = len(states)
    rates = np.zeros((len(states), len(states)))
    counted = {name: np.zeros(len(states)) for name in ("brought", "lost", "gone", "served")}

    def enter(n: int, x: int, clocks: tuple[int, ...], k: int) -> list[Any]:
        found = [(1.0, n, x, clocks)]
        for _ in range(k):
            more = []
            for p, a, y, ages in found:
                if a == 0:
                    more += [(p * q, 1, z, ages) for z, q in enumerate(model.service.initial)]
                else:
                    more += [(p * q, a + 1, y, (*ages, z)) for z, q in enumerate(law.initial)]
            found = more
        return found

    for (n, nu, x, clocks), here in states.items():
        process = model.arrivals[modes[n]]
        for k, matrix in enumerate(process.matrices):
            free = model.capacity - n
            fits = {"partial": min(k, max(free, 0)), "reject": k if k <= free else 0}
            taken = fits.get(model.admission, k if free > 0 else 0)
            for there in range(w):
                rate = matrix[nu, there] if k or there != nu else 0.0
                counted["brought"][here] += k * rate
                counted["lost"][here] += (k - taken) * rate
                for p, a, y, ages in enter(n, x, clocks, taken):
                    rates[here, states[a, there, y, ages]] += p * rate
        if n == 0:
            continue
        counted["served"][here] += model.service.exits[x]
        first = [(1.0, 0)] if n == 1 else list(zip(model.service.initial, range(m), strict=True))
        for p, y in first:
            rates[here, states[n - 1, nu, y, clocks[1:]]] += model.service.exits[x] * p
        for y in range(m):
            if y != x:
                rates[here, states[n, nu, y, clocks]] += model.service.generator[x, y]
        for j, age in enumerate(clocks):
            left = clocks[:j] + clocks[j + 1 :]
            counted["gone"][here] += stale[age]
            rates[here, states[n - 1, nu, x, left]] += stale[age]
            for z in range(v):
                if z != age:
                    moved = (*clocks[:j], z, *clocks[j + 1 :])
                    rates[here, states[n, nu, x, moved]] += law.generator[age, z]
    rates -= np.diag(rates.sum(axis=1))
    system = np.vstack([rates.T, np.ones(len(states))])
    weights = np.linalg.lstsq(system, np.eye(len(states) + 1)[-1], rcond=None)[0]
    pages = np.array([n for n, *_ in states])
    rate = float(weights @ counted["brought"])
    return {
        "arrival_rate": rate,
        "loss": float(weights @ counted["lost"]) / rate,
        "obsolescence": float(weights @ counted["gone"]) / rate,
        "success": float(weights @ counted["served"]) / rate,
        "starvation": float(weights[pages == 0].sum()),
        "buffer_mean": float(weights @ pages),
        "robots_mean": float(weights @ np.array(model.robots)[modes[pages]]),
    }
