"""The solvers of the bursty buffer against the general ones, in one run on one machine.

    python bench/buffer_solvers.py [--quick]

- a finite MAP/PH/1 queue (quasi-birth-death) of 100 levels with blocks of 8, 16, 32 and 64:
  ours, block elimination in numpy, line-solver's level-dependent solver, scipy's sparse LU, and a
  dense solve in numpy (small blocks only);
- a buffer of 2,000 pages with exponential obsolescence;
- the family A of the theory notes (two phases each of arrivals, service, obsolescence) at
  N = 8 ... 20, against sparse LU as far as that carries;
- all 4,096 maps of the published example; all threshold rules of 100 pages and three modes;
- simulated events per second, against SimPy-like loops in bench/fleet_simulator.py.

Bars: ours no slower than the fastest peer at every block size; 2,000 pages in under 1 s; N = 18
(a million states) in under 5 s; all thresholds of 100 pages in under 3 s; at least 10 million
events per second and core. Peers that are not installed are left out (bench/requirements.txt).

CPU seconds are the least of several runs; memory is the peak of Python's allocations in a run.
"""

import argparse
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from recrawl.fleet.bursty import BurstyBuffer, evaluate_map, list_maps, list_thresholds
from recrawl.fleet.bursty.law import solve_levels
from recrawl.fleet.bursty.measures import solve_law
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.reproductions.avrachenkov_printed import paper_model
from recrawl.simulation.bursty_queue import simulate_bursty


def timed(work, least=3, budget=1.0):
    """Least CPU and wall seconds of several runs, and the peak of allocations in MB."""
    work()
    cpu, wall, runs, began = np.inf, np.inf, 0, time.perf_counter()
    while runs < least or time.perf_counter() - began < budget:
        c, w = time.process_time(), time.perf_counter()
        work()
        cpu, wall = min(cpu, time.process_time() - c), min(wall, time.perf_counter() - w)
        runs += 1
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return cpu, wall, peak


def queue(w, m, levels=100):
    """A queue of correlated arrivals and Erlang-like service, no obsolescence."""
    rng = np.random.default_rng(w * 100 + m)
    parts = rng.uniform(0.05, 1, (2, w, w))
    parts[0] *= 1 - np.eye(w)
    parts[0] -= np.diag(parts.sum(axis=(0, 2)))
    arrivals = BatchArrivals(parts)
    rates = rng.uniform(0.1, 1, (m, m)) * (1 - np.eye(m))
    exits = rng.uniform(0.5, 1.5, m)
    law = PhaseType(np.full(m, 1 / m), rates - np.diag(rates.sum(axis=1) + exits))
    law = law.scaled(0.9 / arrivals.rate / law.mean)
    return BurstyBuffer(levels - 1, [arrivals], law)


def blocks(model):
    """Up, local and down blocks of every level."""
    w, m, _ = model.phases
    d0, d1 = model.arrivals[0].matrices
    s, exits, initial = model.service.generator, model.service.exits, model.service.initial
    levels = model.levels
    up = [np.kron(d1, initial[None, :])] + [np.kron(d1, np.eye(m))] * (levels - 2)
    stay = [d0] + [np.kron(d0, np.eye(m)) + np.kron(np.eye(w), s)] * (levels - 2)
    stay += [np.kron(d0 + d1, np.eye(m)) + np.kron(np.eye(w), s)]
    down = [np.kron(np.eye(w), exits[:, None])]
    down += [np.kron(np.eye(w), np.outer(exits, initial))] * (levels - 2)
    return up, stay, down


def numpy_elimination(up, stay, down):
    """Block elimination with one solve and one product a level."""
    n = len(stay)
    steps = [None] * n
    local = stay[-1]
    for k in range(n - 1, 0, -1):
        steps[k] = np.linalg.solve(-local.T, up[k - 1].T).T
        local = stay[k - 1] + steps[k] @ down[k - 1]
    w = local.shape[0]
    system = np.vstack([local.T, np.ones(w)])
    law = [np.linalg.lstsq(system, np.eye(w + 1)[w], rcond=None)[0]]
    for k in range(1, n):
        law.append(law[-1] @ steps[k])
    out = np.concatenate(law)
    return out / out.sum()


def whole_generator(up, stay, down):
    from scipy import sparse

    n = len(stay)
    grid = [[None] * n for _ in range(n)]
    for k in range(n):
        grid[k][k] = stay[k]
        if k:
            grid[k - 1][k], grid[k][k - 1] = up[k - 1], down[k - 1]
    return sparse.block_array(grid, format="csc")


def sparse_lu(generator):
    from scipy.sparse.linalg import splu

    system = generator.T.tolil()
    system[0] = 1.0
    right = np.zeros(generator.shape[0])
    right[0] = 1.0
    return splu(system.tocsc()).solve(right)


def dense_solve(generator):
    system = generator.toarray().T.copy()
    system[0] = 1.0
    return np.linalg.solve(system, np.eye(system.shape[0])[0])


def line_solver(up, stay, down):
    from line_solver.api.mam.ldqbd import ldqbd

    return np.concatenate([np.ravel(part) for part in ldqbd(up, stay, down).pi_cells])


def bench_blocks(sizes):
    print(
        f"\n{'100 levels, block':18s} {'solver':22s} {'CPU ms':>9s} {'wall ms':>9s} {'x ours':>7s} "
        f"{'MB':>7s} {'residual':>9s}"
    )
    for size in sizes:
        w = {8: 2, 16: 4, 32: 4, 64: 8}[size]
        model = queue(w, size // w)
        parts = blocks(model)
        whole = whole_generator(*parts)
        modes = model.modes((1,) * model.levels)

        def ours(model=model, modes=modes, w=w):
            mass = solve_levels(model, modes).mass
            return np.concatenate([mass[0, :w], mass[1:].ravel()])

        peers = {"recrawl": ours, "numpy elimination": lambda p=parts: numpy_elimination(*p)}
        try:
            line_solver(*parts)
            peers["line-solver ldqbd"] = lambda p=parts: line_solver(*p)
        except ImportError:
            print("line-solver is not installed", file=sys.stderr)
        peers["scipy sparse LU"] = lambda g=whole: sparse_lu(g)
        if size <= 16:
            peers["numpy dense"] = lambda g=whole: dense_solve(g)
        first = None
        for name, work in peers.items():
            cpu, wall, peak = timed(work)
            law = np.asarray(work())
            off = np.abs(whole.T @ law).sum() / np.abs(whole.diagonal()).max()
            first = first or wall
            print(
                f"{size:<18d} {name:22s} {1e3 * cpu:9.3f} {1e3 * wall:9.3f} {wall / first:7.2f} "
                f"{peak:7.1f} {off:9.1e}"
            )


def family(capacity):
    base = paper_model(capacity)
    weights = [0.9, 0.1]
    service = PhaseType.hyperexponential(weights, [1 / 4, (23 / 35 - 0.225) / 0.1])
    stale = PhaseType.hyperexponential(weights, [1.0, 4.1 / 0.1])
    return replace(base, service=service, obsolescence=stale)


def bench_family(sizes, most_sparse):
    print(
        f"\n{'family A, N':12s} {'states':>10s} {'recrawl s':>10s} {'iterations':>11s} "
        f"{'state MB':>9s} {'sparse LU s':>12s}"
    )
    for n in sizes:
        model = family(n)
        modes = model.modes((3,) * 3 + (1,) * (n - 2))
        began = time.process_time()
        law = solve_law(model, modes)
        spent = time.process_time() - began
        known = "-"
        if n <= most_sparse:
            generator = sparse_family(model, modes)
            began = time.process_time()
            reference = sparse_lu(generator)
            known = f"{time.process_time() - began:.2f}"
            w = model.phases[0]
            assert abs(reference[:w].sum() - law.mass[0].sum()) < 1e-9
        print(
            f"{n:<12d} {model.states:10,d} {spent:10.3f} {law.iterations:11d} "
            f"{8 * model.states / 2**20:9.1f} {known:>12s}"
        )


def sparse_family(model, modes):
    """The generator by Kronecker products of sparse matrices."""
    from scipy import sparse

    w, m, v = model.phases
    law = model.obsolescence
    n_levels = model.levels
    grid = [[None] * n_levels for _ in range(n_levels)]

    def together(matrix, n):
        out = sparse.csr_array((1, 1))
        for _ in range(n):
            out = sparse.kron(out, sparse.eye_array(v)) + sparse.kron(
                sparse.eye_array(out.shape[0]), matrix
            )
        return out

    for n in range(n_levels):
        jump = model.jumps[model.room[n], modes[n]]
        wait = v ** max(n - 1, 0)
        stay = sparse.kron(jump[0], sparse.eye_array(wait * (m if n else 1)))
        if n:
            inner = sparse.kron(model.service.generator, sparse.eye_array(wait)) + sparse.kron(
                sparse.eye_array(m), together(law.generator, n - 1)
            )
            stay = stay + sparse.kron(sparse.eye_array(w), inner)
            down = sparse.csr_array(model.service.exits[:, None])
            if n > 1:
                left = sparse.eye_array(v ** (n - 2))
                head = sparse.kron(np.ones((v, 1)), left)
                served = np.outer(model.service.exits, model.service.initial)
                drops = sum(
                    sparse.kron(
                        sparse.kron(sparse.eye_array(v**j), law.exits[:, None]),
                        sparse.eye_array(v ** (n - 2 - j)),
                    )
                    for j in range(n - 1)
                )
                down = sparse.kron(served, head) + sparse.kron(sparse.eye_array(m), drops)
            grid[n][n - 1] = sparse.kron(sparse.eye_array(w), down)
        grid[n][n] = stay
        for k in range(1, min(model.largest_batch, n_levels - 1 - n) + 1):
            fresh = np.ones((1, 1))
            for _ in range(k if n else k - 1):
                fresh = np.kron(fresh, law.initial[None, :])
            spread = sparse.eye_array(m * wait) if n else model.service.initial[None, :]
            grid[n][n + k] = sparse.kron(sparse.kron(jump[k], spread), fresh)
    return sparse.block_array(grid, format="csc")


def instance_b():
    def mode(r):
        d1 = r * np.array([[0.8, 0.05], [0.02, 0.3]])
        d0 = np.array([[0.0, 0.1], [0.05, 0.0]])
        return BatchArrivals([d0 - np.diag((d0 + d1).sum(axis=1)), d1])

    return BurstyBuffer(
        100,
        [mode(r) for r in (1, 2, 3)],
        PhaseType([0.7, 0.3], [[-2.0, 0.5], [0.0, -1.0]]),
        PhaseType.exponential(2000.0),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    quick = parser.parse_args().quick
    bench_blocks([8, 16] if quick else [8, 16, 32, 64])
    bench_family([8, 10, 12] if quick else [8, 10, 12, 14, 16, 18, 20], 8 if quick else 10)
    b = instance_b()
    big = replace(b, capacity=2000)
    rule = (3,) * 25 + (2,) * 4 + (1,) * 1972
    cpu, wall, peak = timed(lambda: evaluate_map(big, rule))
    print(
        f"\n2,000 pages, V = 1, all measures: {cpu:.4f} CPU s, {wall:.4f} s, {peak:.1f} MB "
        "(bar 1 s)"
    )
    cpu, wall, peak = timed(lambda: list_maps(paper_model()))
    print(f"all 4,096 maps of the example: {cpu:.4f} CPU s, {wall:.4f} s, {peak:.1f} MB")
    cpu, wall, peak = timed(lambda: list_thresholds(b))
    print(
        f"all 5,253 threshold rules of 100 pages: {cpu:.3f} CPU s, {wall:.3f} s, {peak:.1f} MB "
        "(bar 3 s)"
    )
    events = 3_000_000 if quick else 30_000_000
    for name, model, robots in (
        ("published example", paper_model(), (3, 3, 3, 1, 1, 1)),
        ("family A, N = 14", family(14), (3,) * 3 + (1,) * 12),
        ("100 pages", b, (3,) * 25 + (2,) * 4 + (1,) * 72),
    ):
        rng = np.random.default_rng(1)
        simulate_bursty(model, robots, rng, events=10_000)
        began = time.process_time()
        simulate_bursty(model, robots, rng, events=events)
        speed = events / (time.process_time() - began)
        print(f"simulation, {name}: {speed / 1e6:.1f} million events per CPU second (bar 10)")


if __name__ == "__main__":
    main()
