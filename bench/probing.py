"""Optimal probes against the published programme in numpy, in one run.

One source: the pattern printed as Table 2 (DBWorld), 28 days, preference 3, n = 100 probes. The
peer is the O(n N^2) dynamic programme as one writes it in numpy: the matrix of costs by prefix
sums, then for each number of probes the minimum over all next probes. Checked: equal costs.
CPU seconds, compilation excluded; ours are medians.

    python bench/probing.py [--quick] [--sources 100000]

Bars: at least 300 times faster than the numpy programme at N = 672 and 1,000 times at 5,000; one n
at N = 40,320 in under 10 ms and at 1,000,000 in under 0.2 s; 100,000 sources x N = 672 under one
budget in under 40 s; the continuous optimum at n = 28 in under 10 ms.
"""

import argparse
import resource
import time

import numpy as np

from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    SourceBatch,
    allocate_probes,
    solve_continuous,
    solve_exactly,
    solve_layered,
    work_hours,
)

SOURCE = ProbedSource(DBWORLD.repeat(4), work_hours(9, 18, 3).repeat(4))
ROW = "{:44s} {:>10s} {:>6s} {:>12s} {:>20s} {:>8s}"


def published_in_numpy(times, n):
    """Algorithms 1 and 4 with numpy's loops: whole matrices while they fit the cache."""
    L, A = SOURCE.integrals(times)
    size = times.size
    steps = SOURCE.interval_costs(times)
    G = np.cumsum(A * np.diff(L, prepend=0.0) - steps)
    K = A[None, :] * (L[None, :] - L[:, None]) - (G[None, :] - G[:, None])
    K[np.tril_indices(size)] = np.inf
    D = K[:, -1].copy()
    following = np.empty((n, size), dtype=np.int32)
    for m in range(1, n):
        if size > 2000:
            layer = np.full(size, np.inf)
            for i in range(size - 1):
                row = K[i, i + 1 :] + D[i + 1 :]
                best = row.argmin()
                following[m, i], layer[i] = i + 1 + best, row[best]
            D = layer
            continue
        total = K + D[None, :]
        following[m] = np.argmin(total, axis=1)
        D = total[np.arange(size), following[m]]
    return float(D[0])


def timed(call, repeats):
    call()
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        value = call()
        spent.append(time.process_time() - began)
    return float(np.median(spent)), value


def show(name, size, n, seconds, value, ratio=""):
    print(
        ROW.format(name, f"{size:,}", str(n), f"{seconds:.6f}", f"{value:.12g}", ratio), flush=True
    )


def one_source(*, quick):
    for cells, repeats in ((672, 50), (5000, 20)):
        ours, cost = timed(lambda c=cells: solve_exactly(SOURCE, 100, c).cost, repeats)
        show("recrawl, one n by its price", cells, 100, ours, cost, "1")
        layers, value = timed(lambda c=cells: solve_layered(SOURCE, 100, c).cost, 5)
        show("recrawl, all numbers by layers", cells, 100, layers, value, f"{layers / ours:.0f}")
        if quick and cells > 1000:
            continue
        times = np.arange(cells + 1) * (28 / cells)
        began = time.process_time()
        value = published_in_numpy(times, 100)
        spent = time.process_time() - began
        assert abs(value / cost - 1) < 1e-9, (value, cost)
        show("numpy, published programme", cells, 100, spent, value, f"{spent / ours:.0f}")
    for cells in (40_320, 1_000_000):
        for n in (28, 100):
            ours, cost = timed(lambda c=cells, n=n: solve_exactly(SOURCE, n, c).cost, 5)
            show("recrawl, one n by its price", cells, n, ours, cost)
    for n in (28, 112):
        ours, cost = timed(lambda n=n: solve_continuous(SOURCE, n).cost, 9)
        print(ROW.format("recrawl, continuous time", "", str(n), f"{ours:.6f}", f"{cost:.12g}", ""))


def many_sources(m):
    """Weekly patterns of their own, log-normal rates, 28 probes each on average."""
    rng = np.random.default_rng(1)
    worth = np.diff(SOURCE.integrals(np.arange(673) / 24)[1])[None]
    batches = []
    for first in range(0, m, 4096):
        size = min(4096, m - first)
        rates = rng.gamma(2.0, 1.0, (size, 672)) * rng.lognormal(0, 1, (size, 1)) / 33.6
        batches.append(SourceBatch.of(rates, worth))
    allocate_probes(lambda: [batches[0].part(0, 50)], 1000)
    for threads in (1, 2):
        began, wall = time.process_time(), time.perf_counter()
        found = allocate_probes(lambda: batches, 28 * m, threads=threads)
        spent, wall = time.process_time() - began, time.perf_counter() - wall
        print(
            f"{m:,} sources x 672, {threads} thread(s): {spent:.2f} s of CPU, {wall:.2f} s, "
            f"{found.rounds} prices, {found.counts.min()} to {found.counts.max()} probes, cost "
            f"{found.total_cost:.8g}, gap {found.integrality_gap:.1e}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the peer at N = 5,000")
    parser.add_argument("--sources", type=int, default=100_000)
    options = parser.parse_args()
    print(ROW.format("solver", "N", "n", "CPU s", "cost", "ratio"))
    one_source(quick=options.quick)
    many_sources(options.sources)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the run, sources in memory: {peak:.0f} MB")


if __name__ == "__main__":
    main()
