"""The price of freshness

Three thousand pages, each changing by itself, most of them seldom. What is the freshest index
that so many visits a day can buy, and what is the next visit worth? The curve bends: the first
visits buy much, the last hardly anything. Where one more visit is no longer worth its cost, stop.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.freshness import EVEN_FRESHNESS, Pages, trace_trade_off

rng = np.random.default_rng(1)
pages = Pages(rng.lognormal(np.log(1 / 7), 1.5, 3000))  # changes a day; the median once a week
curve = trace_trade_off(EVEN_FRESHNESS, pages, np.geomspace(30, 30_000, 60))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(curve.budgets, 100 * curve.values)
left.set(xscale="log", xlabel="visits a day", ylabel="per cent fresh", title="what a budget buys")
right.plot(curve.budgets, 100 * 3000 * curve.slopes)
right.set(xscale="log", yscale="log", xlabel="visits a day", ylabel="pages made fresh")
right.set_title("what one more visit a day buys")
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
for budget in (100, 1_000, 10_000):
    at = int(np.argmin(abs(curve.budgets - budget)))
    print(f"{curve.budgets[at]:>8,.0f} visits a day: {curve.values[at]:.1%} fresh")
