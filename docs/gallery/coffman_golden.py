"""Coffman 1998, Section 5: the golden ratio policy

Four pages in steps around ever finer circles. The printed bound of 1.05 times the least is that of
the best case: for many pages the worst is 1.109, and 1042 equal pages come near.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import (
    AgeingCosts,
    bound_even_gaps,
    evaluate_cycle,
    golden_cycle,
    golden_limit,
)  # fmt: skip

rates = np.array([0.1, 0.2, 0.3, 0.4])
costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
bound = bound_even_gaps(costs).cost
levels = list(range(5, 22))
golden = [evaluate_cycle(costs, golden_cycle(rates, k)).cost for k in levels]
distances, chances = golden_limit(rates)
limit = float((chances * costs.at(np.arange(4)[:, None], distances)).sum())

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(levels, golden, "o-", ms=3, label="F(k) steps around the circle")
axes.axhline(limit, color="darkred", lw=1, label="its limit")
axes.axhline(bound, color="grey", ls=":", label="lower bound")
axes.set(xlabel="k", ylabel="cost", xticks=levels[::2])
axes.legend()
figure.savefig(sys.argv[1], dpi=110)
print(f"bound {bound:.5f}, limit {limit:.5f}, at k = {levels[-1]} {golden[-1]:.5f}")
