"""A frontier of a million pages: memory, and how long the next due page takes to lease.

Bars: at most 1 GiB of memory for 1,000,000 URLs; the next due page leased in under 1 ms.

    python bench/frontier.py                                1,000,000 pages on 1,000 hosts
    python bench/frontier.py --hosts 1                      all on one host
    python bench/frontier.py --pages 100000                 a quick look
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import Discovery, Kind, Outcome, PageState, PageUpdate, Visit

NOW_S = 1_800_000_000.0
BATCH = 2_000


def memory_mb(name: str) -> float:
    """Return this process's VmRSS (now) or VmHWM (the most so far) in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def admit(frontier: SqliteFrontier, n_pages: int, n_hosts: int) -> None:
    """Take in pages in batches, as a crawl does."""
    limits = AdmissionLimits(max_pages=2 * n_pages, max_pages_per_host=2 * n_pages)
    for first in range(0, n_pages, BATCH):
        found = [
            Discovery(
                url=f"https://host-{number % n_hosts}.test/part/{number % 97}/page-{number}.html",
                host=f"https://host-{number % n_hosts}.test",
                kind=Kind.PAGE,
                depth=3,
                hops=0,
                weight=1.0,
                variant_of=None,
                lastmod_s=None,
            )
            for number in range(first, min(first + BATCH, n_pages))
        ]
        frontier.admit(found, NOW_S, limits)


def lease_and_complete(frontier: SqliteFrontier, n_hosts: int, n: int) -> list[list[float]]:
    """Lease one due page at a time at random hosts and record its visit; seconds of each."""
    rng = np.random.default_rng(1)
    hosts = [record.host_id for record in frontier.hosts()]
    leased_s, completed_s = [], []
    for _ in range(n):
        host_id = hosts[int(rng.integers(n_hosts))]
        started = time.perf_counter()
        (lease,) = frontier.lease(
            host_id, limit=1, due_by_s=NOW_S + 1, now_s=NOW_S + 1, until_s=NOW_S + 600
        )
        middle = time.perf_counter()
        visit = Visit(NOW_S + 1, Outcome.NEW, status=200)
        frontier.complete([PageUpdate(lease, visit, PageState.INDEXED, due_s=NOW_S + 1e6)])
        leased_s.append(middle - started)
        completed_s.append(time.perf_counter() - middle)
    return [leased_s, completed_s]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--leases", type=int, default=2_000)
    arguments = parser.parse_args()
    before_mb = memory_mb("VmRSS")
    with tempfile.TemporaryDirectory() as folder:
        frontier = SqliteFrontier(Path(folder), read_only=False)
        started = time.process_time()
        admit(frontier, arguments.pages, arguments.hosts)
        admitted_s = time.process_time() - started
        rows = [
            ("pages", f"{arguments.pages:,} on {arguments.hosts:,} hosts"),
            ("admitting", f"{1e6 * admitted_s / arguments.pages:.1f} us of CPU a page"),
        ]
        leased, completed = lease_and_complete(frontier, arguments.hosts, arguments.leases)
        for name, seconds in (("lease the next due page", leased), ("record its visit", completed)):
            cuts = statistics.quantiles(seconds, n=100)
            rows.append((name, f"median {1e3 * cuts[49]:.3f} ms, 99 % {1e3 * cuts[98]:.3f} ms"))
        rows.append(("memory before", f"{before_mb:.0f} MB"))
        rows.append(("memory, the most", f"{memory_mb('VmHWM'):.0f} MB"))
        frontier.planned_pages()
        rows.append(("and with all pages to plan", f"{memory_mb('VmHWM'):.0f} MB"))
        frontier.close()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        rows.append(("on disk", f"{size / 1e6:.0f} MB"))
    for name, told in rows:
        print(f"{name:28}{told}")


if __name__ == "__main__":
    main()
