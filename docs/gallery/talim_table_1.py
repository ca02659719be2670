"""Talim 2001, Table 1: the best control of a given number of robots

As many robots as the best fixed number. Where a printed cost is higher than ours, value iteration
had stopped early; by the paper's stopping rule we find it too.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

found = reproduce("talim-table-1")
figure, panels = plt.subplots(1, 3, figsize=(9, 3.8), sharey=True, layout="constrained")
for panel, rate in zip(panels, (0.01, 0.05, 0.1), strict=True):
    for number, buffer in enumerate((5, 10, 15)):
        rows = [row for row in found.rows if (row.case["lambda"], row.case["K"]) == (rate, buffer)]
        weights = [row.case["gamma"] for row in rows]
        for side, style in (("C_s", "--"), ("C_d", "-")):
            ours = [row.computed[side] for row in rows]
            printed = [float(row.printed[side]) for row in rows]
            label = f"{buffer} places" if side == "C_d" else None
            panel.plot(weights, ours, style, color=f"C{number}", label=label)
            panel.plot(weights, printed, "kx", ms=5)
    panel.set(title=f"a robot brings {rate}", xlabel="weight of an idle indexer", yscale="log")
panels[0].set_ylabel("cost: fixed number (dashed), control")
panels[0].plot([], [], "kx", ms=5, label="printed")
panels[0].legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110)
