"""How fast exact plans are: CPU seconds and peak memory, beside what a user would write.

Bars: at 10 million pages in memory and random spacing, at least 20 times faster than the numpy
bisection and under 10 ns of CPU per page; even spacing under 60 ns of CPU per page; memory at most
input plus output plus 200 MB; time per page flat from 1e6 to 1e8 (1e8 streamed from Parquet).

Every row runs in a process of its own, after a small warm-up solve that leaves compilation out;
our rows are the best of five calls (three at 1e8), the peers' of three below a million pages, since
the first calls also pay for memory that a virtual machine hands out for the first time. Rows of
one run compare, rows of different runs on a shared machine do not. Sizes of 1e8 need about 5 GB.

    python bench/allocation.py                         1e5, 1e6, 1e7 and the peers
    python bench/allocation.py --sizes 1e5 --no-peers  a quick look
    python bench/allocation.py --stream 1e8            from a Parquet file made on the spot
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SEED = 1
CHUNK = 1_000_000


def draw(n: int, hosts: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Log-normal change rates, Pareto weights, hosts of unequal size."""
    rng = np.random.default_rng(SEED)
    change, weights = rng.lognormal(0, 2, n), rng.pareto(1.2, n) + 1e-3
    numbers = (hosts * rng.random(n) ** 2).astype(np.int64) if hosts else None
    return change, weights, numbers


def memory_mb(name: str) -> float:
    """Resident memory of this process: VmRSS now, VmHWM at most since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def measured(run, calls: int = 1) -> dict[str, float]:
    """CPU and wall seconds of the best of some calls, and the memory they reached and added."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of drawing the pages
    before = memory_mb("VmRSS")
    times = []
    for _ in range(calls):
        wall, cpu = time.perf_counter(), time.process_time()
        found = run()
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    peak = memory_mb("VmHWM")
    cpu, wall = min(times)
    return {"cpu": cpu, "wall": wall, "peak_mb": peak, "grown_mb": peak - before} | found


def ours(n: int, spacing: str, hosts: int, threads: int) -> dict[str, float]:
    """One solve of the package on arrays in memory, checked before; see the row of checks."""
    from recrawl.freshness import OBJECTIVES, Pages, solve
    from recrawl.kernels import compile as machine_code

    machine_code.MANY_STEPS = 0.0  # in a program that goes on, small problems get there as well
    objective = OBJECTIVES["freshness", spacing]
    change, weights, numbers = draw(n, hosts)
    caps = np.full(hosts, 0.5 * n / hosts) if hosts else None
    few = slice(0, 100_000)
    warm = Pages(change[few], weights[few], hosts=None if numbers is None else numbers[few])
    solve(objective, warm, 0.3 * len(warm), caps, threads=threads)

    pages = Pages(change, weights, hosts=numbers)

    def run() -> dict[str, float]:
        plan = solve(objective, pages, 0.3 * n, caps, threads=threads)
        return {
            "value": plan.value,
            "gap": plan.duality_gap,
            "passes": plan.passes,
            "capped": int(np.count_nonzero(plan.host_prices > plan.price)) if hosts else 0,
        }

    return measured(run, 5 if n < 100_000_000 else 3)


def checks(n: int) -> dict[str, float]:
    """Build the page table: every value is checked once."""
    from recrawl.freshness import Pages

    change, weights, _ = draw(n)
    Pages(change[:10], weights[:10])

    def run() -> dict[str, float]:
        Pages(change, weights)
        return {"value": np.nan, "gap": np.nan, "passes": 0}

    return measured(run, 5 if n < 100_000_000 else 3)


def bisection(n: int, spacing: str) -> dict[str, float]:
    """Solve as a user would with numpy: bisect the price to 1e-12, nested for even spacing."""
    change, weights, _ = draw(n)
    budget = 0.3 * n

    def rates(price: float) -> np.ndarray:
        if spacing == "random":
            return np.maximum(np.sqrt(weights * change / price) - change, 0.0)
        kappa = np.minimum(price * change / weights, 1.0)
        low, high = np.zeros(n), np.full(n, 60.0)
        for _ in range(52):
            middle = 0.5 * (low + high)
            less = 1 - (1 + middle) * np.exp(-middle) < kappa
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return np.where(kappa < 1, change / (0.5 * (low + high)), 0.0)

    def run() -> dict[str, float]:
        low, high = 0.0, float((weights / change).max())
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rates(middle).sum() > budget else (low, middle)
        crawl = rates(0.5 * (low + high))
        if spacing == "random":
            fresh = crawl / (crawl + change)
        else:
            with np.errstate(divide="ignore"):
                fresh = -np.expm1(-change / crawl) * crawl / change
        return {"value": float(weights @ fresh / weights.sum()), "gap": np.nan, "passes": 0}

    return measured(run, 3 if n < 1_000_000 else 1)


def by_cvxpy(n: int, spacing: str) -> dict[str, float]:
    """Solve in cvxpy, with Clarabel (random) or ECOS (even, exponential cones)."""
    import cvxpy as cp

    change, weights, _ = draw(n)

    def run() -> dict[str, float]:
        rate = cp.Variable(n, nonneg=True)
        constraints = [cp.sum(rate) <= 0.3 * n]
        if spacing == "random":
            lost = cp.sum(cp.multiply(weights * change, cp.inv_pos(rate + change)))
            cp.Problem(cp.Minimize(lost), constraints).solve(solver=cp.CLARABEL)
            fresh = rate.value / (rate.value + change)
        else:
            inner = cp.Variable(n)
            constraints.append(cp.constraints.ExpCone(-change, rate, inner))
            gain = (weights / change) @ (rate - inner)
            cp.Problem(cp.Maximize(gain), constraints).solve(solver=cp.ECOS)
            x = np.maximum(rate.value, 1e-12)
            fresh = -np.expm1(-change / x) * x / change
        return {"value": float(weights @ fresh / weights.sum()), "gap": np.nan, "passes": 0}

    return measured(run, 3 if n < 1_000_000 else 1)


def streamed(n: int, spacing: str, folder: str) -> dict[str, float]:
    """Run the verb on a Parquet file: read, check, solve for the budget and 20 % more, write."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from recrawl.cli import main

    path = Path(folder) / f"pages-{n}.parquet"
    schema = pa.schema([("change_rate", pa.float64()), ("weight", pa.float64())])
    if not path.exists():
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            for start in range(0, n, CHUNK):
                rng = np.random.default_rng(start)
                m = min(CHUNK, n - start)
                columns = [rng.lognormal(0, 2, m), rng.pareto(1.2, m) + 1e-3]
                writer.write_table(pa.table(columns, schema=schema))
    out = path.with_name("plan.parquet")
    arguments = ["plan", str(path), "--budget", f"{0.3 * n}/d", "--spacing", spacing]

    def run() -> dict[str, float]:
        try:
            main([*arguments, "--out", str(out)])
        except SystemExit as ended:
            if ended.code:
                raise
        return {"value": np.nan, "gap": np.nan, "passes": 0}

    try:
        return measured(run)
    finally:
        out.unlink(missing_ok=True)


def bandwidth() -> float:
    """Bytes per second of a copy of 800 MB, the best of five."""
    source = np.ones(50_000_000)
    target = np.empty_like(source)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best


JOBS = {
    "ours": lambda n, spacing, extra: ours(n, spacing, 0, 1),
    "ours, checks": lambda n, spacing, extra: checks(n),
    "ours, 2 threads": lambda n, spacing, extra: ours(n, spacing, 0, 2),
    "ours, 10,000 host limits": lambda n, spacing, extra: ours(n, spacing, 10_000, 1),
    "numpy bisection": lambda n, spacing, extra: bisection(n, spacing),
    "cvxpy": lambda n, spacing, extra: by_cvxpy(n, spacing),
    "verb, from Parquet": streamed,
}


def row(name: str, n: int, spacing: str, extra: str = "") -> dict[str, float]:
    """Run one job in a process of its own and print its line."""
    command = [sys.executable, __file__, "--job", name, "--n", str(n), "--spacing", spacing, extra]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(f"{name:26} {spacing:7} {n:>11,}  failed: {ended.stderr.strip().splitlines()[-1]}")
        return {}
    found = json.loads(ended.stdout.strip().splitlines()[-1])
    print(
        f"{name:26} {spacing:7} {n:>11,} {found['cpu']:9.4f} {found['wall']:9.4f} "
        f"{found['cpu'] / n * 1e9:9.1f} {found['peak_mb']:8.0f} {found['grown_mb']:8.0f}  "
        f"{found['value']:.12f}  {found['gap']:.0e}",
        flush=True,
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1e5,1e6,1e7")
    parser.add_argument("--stream", default="")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--job")
    parser.add_argument("--n", type=int)
    parser.add_argument("--spacing")
    parser.add_argument("extra", nargs="?", default="")
    chosen = parser.parse_args()
    if chosen.job:
        print(json.dumps(JOBS[chosen.job](chosen.n, chosen.spacing, chosen.extra)))
        return
    print(f"memory bandwidth, copy: {bandwidth() / 1e9:.1f} GB/s")
    print(
        f"{'':26} {'visits':7} {'pages':>11} {'CPU s':>9} {'wall s':>9} {'ns/page':>9} "
        f"{'peak MB':>8} {'grown MB':>8}  {'freshness':14}  gap"
    )
    for text in chosen.sizes.split(",") if chosen.sizes else []:
        n = int(float(text))
        row("ours, checks", n, "")
        for spacing in ("random", "even"):
            mine = row("ours", n, spacing)
            row("ours, 2 threads", n, spacing)
            row("ours, 10,000 host limits", n, spacing)
            if not chosen.no_peers and (spacing == "random" or n <= 100_000):
                other = row("numpy bisection", n, spacing)
                if mine and other:
                    print(f"{'':26} {'':7} {'':11} {other['cpu'] / mine['cpu']:8.0f} times our CPU")
    if not chosen.no_peers:
        for spacing in ("random", "even"):
            row("cvxpy", 10_000, spacing)
            row("ours", 10_000, spacing)
    for text in chosen.stream.split(",") if chosen.stream else []:
        with tempfile.TemporaryDirectory() as folder:
            for spacing in ("random", "even"):
                row("verb, from Parquet", int(float(text)), spacing, folder)


if __name__ == "__main__":
    main()
