"""Shares of a random reader over a large link graph, as a crawl computes them beside its work.

Bar: a million pages with fifty million links, given as the state keeps them (hashes of addresses,
page by page), in less than 60 s of one core and 1.5 GB.

    python bench/importance.py [--pages 1000000] [--links 50]
"""

import argparse
import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np

from recrawl.learning.link_lists import GraphBuilder
from recrawl.learning.page_rank import rank_pages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=50)
    options = parser.parse_args()
    n, random = options.pages, np.random.default_rng(1)
    marks = random.integers(-(2**63), 2**63 - 1, n)  # what stands for addresses
    hosts = np.sort((random.pareto(0.8, n) * 3).astype(np.int64) % 20_000)
    begun_s, cpu_s = time.perf_counter(), time.process_time()
    builder = GraphBuilder(marks, hosts)
    spent_on_drawing_s = 0.0
    for first in range(0, n, 20_000):
        drawing_s = time.process_time()
        many = min(20_000, n - first)
        # Links lead to few pages most of all, and a tenth of them out of the crawl.
        chosen = (n * random.random((many, options.links)) ** 3).astype(np.int64)
        lists = marks[chosen]
        lists[random.random(lists.shape) < 0.1] += 1
        blobs = [one.tobytes() for one in lists]
        spent_on_drawing_s += time.process_time() - drawing_s
        builder.add(np.arange(first, first + many), blobs)
    graph = builder.graph()
    built_s = time.process_time() - cpu_s - spent_on_drawing_s
    found = rank_pages(graph)
    cpu = time.process_time() - cpu_s - spent_on_drawing_s
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{n:,} pages, {graph.targets.size:,} links: graph {built_s:.1f} s, "
        f"{found.n_iterations} iterations to {found.residual:.1e}, {cpu:.1f} s of one core in all "
        f"({time.perf_counter() - begun_s:.1f} s with drawing them), at most {peak:.2f} GiB"
    )
    good = cpu < 60.0 and peak < 1.5 and np.isclose(found.shares.sum(), 1.0)
    print("the bar is met" if good else "THE BAR IS MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
