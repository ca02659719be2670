"""What importance brings

Two thousand pages of which a few are asked for by many people (a Pareto law of shape 1.2), and
visits that do not suffice. A plan that knows what pages are worth keeps what people see fresher,
at the same cost; one that does not spends most visits where nobody looks.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.freshness import EVEN_FRESHNESS, Pages, allocate_uniformly, average_value, solve

rng = np.random.default_rng(4)
rates = rng.lognormal(np.log(1 / 7), 1.5, 2000)
weights = rng.pareto(1.2, 2000) + 1
pages, blind = Pages(rates, weights=weights), Pages(rates)
budgets = np.geomspace(20, 4000, 20)
plans = {
    "knows what pages are worth": lambda b: solve(EVEN_FRESHNESS, pages, b).crawl_rates,
    "takes all for equal": lambda b: solve(EVEN_FRESHNESS, blind, b).crawl_rates,
    "uniform": lambda b: allocate_uniformly(pages, b),
}
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for name, plan in plans.items():
    fresh = [100 * average_value(EVEN_FRESHNESS, [(pages, plan(b))])[0] for b in budgets]
    axes.plot(budgets, fresh, label=name)
    print(f"{name:<27} {fresh[6]:.1f} % fresh by importance at {budgets[6]:.0f} visits a day")
axes.set(xscale="log", xlabel="visits a day", ylabel="per cent fresh, by importance")
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
