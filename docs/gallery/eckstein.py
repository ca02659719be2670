"""Eckstein, Gal, Reiner 2005: monitoring an information source under a politeness constraint

A source whose updates follow the clock (DBWorld's week), probed so many times.
Exact optimum beside the policies of the paper: even probes, probing when enough cost has
gathered, and when an update has become likely. The paper draws these costs and prints none.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    schedule_first_arrival,
    schedule_threshold,
    schedule_uniform,
    solve_continuous,
    work_hours,
)  # fmt: skip

source = ProbedSource(DBWORLD, work_hours(9 / 24, 18 / 24, 3))  # one week; the same every week
numbers = [2, 3, 5, 7, 10, 14, 20, 28, 40]
policies = {
    "even": schedule_uniform,
    "cost threshold": schedule_threshold,
    "first arrival": schedule_first_arrival,
}
least = [solve_continuous(source, n).cost for n in numbers]
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for name, policy in policies.items():
    costs = [source.cost(policy(source, n)) for n in numbers]
    axes.plot(numbers, np.divide(costs, least), "o-", ms=3, label=name)
    print(f"{name:<15}", *(f"{cost:.3f}" for cost in costs))
axes.set(xlabel="probes a week", ylabel="expected cost, over the least")
axes.legend()
print("optimal        ", *(f"{cost:.3f}" for cost in least))
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
