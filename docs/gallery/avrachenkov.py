"""Avrachenkov, Dudin, Klimenok, Nain, Semenova 2011: optimal threshold control by the robots of web search engines

Robots bring pages in batches, at random times that depend on each other; pages in the buffer go
stale. How many robots run is switched by the number of pages. The matrices of the paper's example
are missing from the copy that was read: they were reconstructed from its tables, and give nearly
all printed values back to the last digit. Here a buffer of our own, with thresholds drawn against
their cost.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.fleet.bursty import (
    BufferCosts,
    BurstyBuffer,
    evaluate_map,
    solve_bursty,
    thinned_robots,
)  # fmt: skip
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType

whole = BatchArrivals([[[-1.7, 0.1], [0.2, -8.2]], [[0.8, 0], [0, 4]], [[0.8, 0], [0, 4]]])
model = BurstyBuffer(
    8,
    thinned_robots(whole, [0.25, 0.5, 1.0]),
    PhaseType.erlang(2, 0.5),
    obsolescence=PhaseType.exponential(5.0),
    costs=BufferCosts(loss=10, obsolescence=10, robots=1, starvation=20),
)
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for few in (1, 2):
    maps = [[3] * (at + 1) + [few] * (8 - at) for at in range(-1, 9)]
    costs = [evaluate_map(model, one).cost for one in maps]
    axes.plot(
        np.arange(-1, 9), costs, "o-", ms=3, label=f"3 robots up to so many pages, else {few}"
    )
best = solve_bursty(model, full_information=False).best
axes.axhline(best.cost, ls=":", color="grey", label=f"best of all maps: {best.robots_by_length}")
axes.set(xlabel="threshold", ylabel="cost")
axes.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
print(f"best {best.cost:.4f}: robots {best.robots_by_length} at 0, 1, ... pages")
