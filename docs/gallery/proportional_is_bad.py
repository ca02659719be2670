"""Why proportional is bad

Five pages that change once, twice ... five times a day, and five visits a day for all: the
example of Cho and Garcia-Molina (2003). Visiting as often as a page changes gives every page the
same, low freshness. The best plan gives the fastest page up: what it would take there buys more
elsewhere.
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
    solve_even_freshness,
)  # fmt: skip

pages = Pages([1, 2, 3, 4, 5])
plans = {
    "proportional": allocate_proportionally(pages, 5),
    "uniform": allocate_uniformly(pages, 5),
    "optimal": solve_even_freshness(pages, 5).crawl_rates,
}
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for place, (name, rates) in enumerate(plans.items()):
    fresh = average_value(EVEN_FRESHNESS, [(pages, rates)])[0]
    axes.bar(np.arange(1, 6) + 0.27 * (place - 1), rates, 0.25, label=f"{name}: {fresh:.1%} fresh")
    print(f"{name:<13}", *(f"{rate:.2f}" for rate in rates), f"-> {fresh:.4f}")
axes.set(xlabel="changes a day", ylabel="visits a day", ylim=(0, 2.3))
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
