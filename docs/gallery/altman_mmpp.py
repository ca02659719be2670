"""Altman 2000, Section 5: arrivals that come in bursts

The chance that a server is still busy n arrivals later, by the paper's formula (lines) and in
200,000 simulated arrivals (crosses). A factor and a sign that the print lacks are put in.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

rows = reproduce("altman-mmpp").rows
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for color, name in (("C0", "MMPP"), ("C1", "MAP")):
    some = [row for row in rows if row.case["case"].startswith(name) and row.computed["simulated"]]
    at = range(1, len(some) + 1)
    axes.plot(at, [row.computed["f(n)"] for row in some], color=color, label=name)
    axes.plot(at, [row.computed["simulated"] for row in some], "x", color="k", ms=6)
axes.plot([], [], "kx", label="simulated")
axes.set(xlabel="arrivals later, n", ylabel="chance of being busy, f(n)", yscale="log")
axes.legend()
figure.savefig(sys.argv[1], dpi=110)
