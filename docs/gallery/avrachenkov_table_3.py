"""Avrachenkov 2011, Table 3: faster indexing

The best rule beside fixed numbers. Two printed costs are those of other numbers of robots than
are named; the second is not the least.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = reproduce("avrachenkov-table-3").rows
at = [row.case["factor"] for row in rows]
names = {"J*": "best rule", "J_1": "1 robot", "J_2": "2", "J_3": "3", "J_4": "4"}
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for column, name in names.items():
    ours = "best of all" if column == "J*" else column
    width = 2 if column == "J*" else 1
    axes.plot(at, [row.computed[ours] for row in rows], lw=width, label=name)
    axes.plot(at, [float(row.printed[column]) for row in rows], "kx", ms=4)
axes.plot([], [], "kx", ms=4, label="printed")
axes.set(xscale="log", xlabel="indexing rate, over that of the example", ylabel="cost")
axes.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
