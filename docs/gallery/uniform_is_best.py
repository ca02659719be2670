"""When uniform is (nearly) best

The same budget, pages whose change rates differ little or much. Where all change alike, visiting
all equally often is best; up to a spread of one (a factor of e up or down) it loses less than a
point and a half. The more pages differ, the more there is to gain, and the worse it gets to
follow the changes.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.freshness import (
    EVEN_FRESHNESS,
    Pages,
    allocate_proportionally,
    allocate_uniformly,
    average_value,
    solve,
)  # fmt: skip

normal = np.random.default_rng(2).normal(size=2000)
spreads, found = np.linspace(0, 3, 25), {"optimal": [], "uniform": [], "proportional": []}
for spread in spreads:
    pages = Pages(np.exp(spread * normal - spread**2 / 2))  # one change a day on average
    rates = {
        "optimal": solve(EVEN_FRESHNESS, pages, 2000).crawl_rates,
        "uniform": allocate_uniformly(pages, 2000),
        "proportional": allocate_proportionally(pages, 2000),
    }
    for name, each in rates.items():
        found[name].append(100 * average_value(EVEN_FRESHNESS, [(pages, each)])[0])

figure, axes = plt.subplots(figsize=(6.4, 3.8))
for name, values in found.items():
    axes.plot(spreads, values, label=name)
axes.set(xlabel="spread of change rates (sigma of their logarithms)", ylabel="per cent fresh")
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
for at in (0, 8, 16):
    print(f"spread {spreads[at]:.1f}:", *(f"{name} {each[at]:.1f}" for name, each in found.items()))
