"""Avrachenkov 2011, Table 2: larger buffers

Switching between three robots and one, beside fixed numbers. Three printed thresholds are off by
one, and three costs of one robot stand a row too low.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = reproduce("avrachenkov-table-2").rows
at = [row.case["N"] for row in rows]
names = {"J*": "3 or 1", "J_1": "1 robot", "J_2": "2", "J_3": "3", "J_4": "4"}
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for column, name in names.items():
    width = 2 if column == "J*" else 1
    axes.plot(at, [row.computed[column] for row in rows], lw=width, label=name)
    axes.plot(at, [float(row.printed[column]) for row in rows], "kx", ms=4)
axes.plot([], [], "kx", ms=4, label="printed")
axes.set(xscale="log", xlabel="pages that the buffer holds", ylabel="cost")
axes.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
