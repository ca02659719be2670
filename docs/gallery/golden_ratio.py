"""The golden ratio, and its end

Coffman, Liu and Weber order visits by steps of the golden ratio around a circle, and bound what
that costs by 1.05 times the least. For equal pages the cost swings with their number, for many
pages between 1.047 and 1.109 times: the printed bound is the best case, not the worst. Taking the
page that is latest by its urgency has no such end, so that is what recrawl does.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import AgeingCosts, bound_even_gaps, golden_limit, golden_second_moment

numbers = np.unique(np.geomspace(2, 1500, 160).astype(int))
ratios = []
for n in numbers:
    rates = np.full(n, 0.01 / n)  # so slow that the cost is that of squared gaps
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
    distances, chances = golden_limit(rates)
    cost = (chances * costs.at(np.arange(n)[:, None], distances)).sum()
    ratios.append(float(cost / bound_even_gaps(costs).cost))

phi = (1 + 5**0.5) / 2
best, worst = float(golden_second_moment(1.0)), float(golden_second_moment(phi**2 / 2))
figure, axes = plt.subplots(figsize=(6.8, 3.8))
axes.plot(numbers, ratios, lw=1)
for level, words in ((best, "best of many"), (worst, "worst of many"), (1.05, "bound in print")):
    axes.axhline(level, ls=":", color="grey")
    axes.text(2300, level - (0.003 if level == best else 0.001), words, fontsize=8)
axes.set(xscale="log", xlabel="equal pages", ylabel="cost over the lower bound")
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
print(f"best {best:.4f}, worst {worst:.4f}, largest seen {max(ratios):.4f}")
