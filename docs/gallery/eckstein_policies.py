"""Eckstein 2005, Figures 4, 5 and 8: expected cost of all policies

Four weeks of the paper's two sources. It draws the costs and prints none: crosses are another
program's, and agree to the last digit. Where the period begins is assumed.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.probing import (
    DBWORLD,
    MICRONET,
    ProbedSource,
    schedule_first_arrival,
    schedule_threshold,
    schedule_uniform,
    solve_continuous,
    work_hours,
)  # fmt: skip
from recrawl.reproductions import reproduce

numbers = [5, 7, 10, 14, 20, 28, 40, 56, 70]
policies = {
    "uniform": schedule_uniform,
    "threshold": schedule_threshold,
    "first arrival": schedule_first_arrival,
    "continuous": lambda source, n: solve_continuous(source, n).probes,
}
rows = reproduce("eckstein-policies").rows
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for panel, name, week, end in zip(
    panels, ("DBWorld", "MicroNet"), (DBWORLD, MICRONET), (18, 19), strict=True
):
    source = ProbedSource(week.repeat(4), work_hours(9, end, 3).repeat(4))
    known = [row for row in rows if (row.case["trace"], row.case["ratio"]) == (name, 3)]
    for policy, schedule in policies.items():
        costs = [source.cost(schedule(source, n)) for n in numbers]
        label = "optimum" if policy == "continuous" else policy
        panel.plot(numbers, costs, label=label)
        others = [float(row.printed[policy]) for row in known]
        panel.plot([row.case["probes"] for row in known], others, "kx", ms=5)
    panel.set(title=name, yscale="log", xlabel="probes in 28 days", ylabel="expected cost")
panel.plot([], [], "kx", ms=5, label="independent")
panel.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
