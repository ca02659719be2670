"""Coffman, Liu, Weber 1998: optimal robot scheduling for web search engines

Four pages that change at rates .1 to .4 and weigh the same: the golden ratio policy visits them
in steps around a circle. As the circle gets finer its cost settles at a limit well above the
lower bound; a coarse circle may be lucky. Taking the latest page by its urgency (the line) costs
less than the limit.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import (
    AgeingCosts,
    IndexStream,
    bound_even_gaps,
    evaluate_cycle,
    golden_cycle,
    golden_limit,
)  # fmt: skip

rates = np.array([0.1, 0.2, 0.3, 0.4])
costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
bound = bound_even_gaps(costs).cost
levels = list(range(5, 22))
golden = [evaluate_cycle(costs, golden_cycle(np.sqrt(rates), k)).cost for k in levels]
distances, chances = golden_limit(rates)
limit = float((chances * costs.at(np.arange(4)[:, None], distances)).sum())
shares = np.sqrt(rates) / np.sqrt(rates).sum()
latest = evaluate_cycle(costs, IndexStream(frequencies=shares).take(20_000)).cost

figure, axes = plt.subplots(figsize=(6.4, 3.8))
axes.plot(levels, golden, "o-", ms=3, label="golden ratio, F(k) steps around the circle")
axes.axhline(latest, color="darkred", lw=1, label="the latest page by its urgency")
axes.axhline(bound, color="grey", ls=":", label="lower bound")
axes.set(xlabel="k", ylabel="cost", xticks=levels[::2])
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
print(f"bound {bound:.5f}, latest by urgency {latest:.5f}, golden ratio {golden[-1]:.5f}")
