"""Avrachenkov 2011, Table 1: which numbers of robots to switch between

The best thresholds of each set, least cost first. The paper's matrices were reconstructed from its
tables; one printed cost repeats the row below.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = sorted(reproduce("avrachenkov-table-1").rows, key=lambda row: row.computed["J"])
names = [row.case["robots"].replace(" or ", ", ") for row in rows]
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
axes.barh(names, [row.computed["J"] for row in rows], color="lightsteelblue", label="ours")
axes.plot([float(row.printed["J"]) for row in rows], names, "kx", ms=5, label="printed")
for at, row in enumerate(rows):
    axes.text(2, at, f"thresholds {row.computed['thresholds']}", va="center", fontsize=7)
axes.invert_yaxis()
axes.set(xlabel="cost", ylabel="numbers of robots")
axes.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
