"""Avrachenkov 2011, Table 4: pages that go stale

The sooner pages go stale, the lower the threshold between three robots and one. Two
printed costs have a wrong digit.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = reproduce("avrachenkov-table-4").rows
at = [row.case["factor"] for row in rows]
names = {"J*": "3 or 1", "J_1": "1 robot", "J_2": "2", "J_3": "3", "J_4": "4"}
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for column, name in names.items():
    width = 2 if column == "J*" else 1
    axes.plot(at, [row.computed[column] for row in rows], lw=width, label=name)
    axes.plot(at, [float(row.printed[column]) for row in rows], "kx", ms=4)
axes.plot([], [], "kx", ms=4, label="printed")
axes.set(xscale="log", xlabel="rate of going stale, over that of the example", ylabel="cost")
axes.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
