"""Eckstein 2005, Proposition 8: what a finer grid buys

How far the optimum on a grid is above that in continuous time, and two bounds on it. The paper
states the first bound only, which is loose by orders of magnitude; costs are another program's.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = reproduce("eckstein-grids").rows
cells = [row.case["N"] for row in rows]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
styles = {"Proposition 8": "-", "sharper bound": "-", "above continuous": "o-"}
for column, style in styles.items():
    values = [row.computed[column] for row in rows]
    known = [(n, value) for n, value in zip(cells, values, strict=True) if value is not None]
    axes.plot(*zip(*known, strict=True), style, ms=4, label=column)
axes.set(xscale="log", yscale="log", xlabel="cells of the grid", ylabel="above the optimum")
axes.legend()
figure.savefig(sys.argv[1], dpi=110)
