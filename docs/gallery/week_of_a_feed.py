"""A week of a feed

DBWorld, a list of announcements, by the hours of the week (Eckstein et al. 2005, reconstructed):
busy by day, quiet at night. Fourteen looks a week, placed so that an announcement waits least; it
matters three times as much during working hours. Even looks, two a day, cost a sixth more.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    schedule_uniform,
    solve_continuous,
    work_hours,
)  # fmt: skip

source = ProbedSource(DBWORLD, work_hours(9 / 24, 18 / 24, 3))
best, even = solve_continuous(source, 14), schedule_uniform(source, 14)

hours = np.linspace(0, 7, 169)
figure, axes = plt.subplots(figsize=(9, 3.2))
axes.fill_between(hours, source.intensity(hours), color="lightsteelblue", label="announcements")
top = float(source.intensity(hours).max())
axes.vlines(best.probes, 0, 1.1 * top, color="darkred", lw=1.2, label="best looks")
axes.vlines(even, 1.12 * top, 1.25 * top, color="grey", lw=1, label="even looks")
axes.set(xlim=(0, 7), xticks=np.arange(7) + 0.5, ylabel="a day")
axes.set_xticklabels("Mon Tue Wed Thu Fri Sat Sun".split())
axes.legend(loc="upper right", fontsize=8)
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
print(f"cost of the best {best.cost:.3f}, of even looks {source.cost(even):.3f}")
