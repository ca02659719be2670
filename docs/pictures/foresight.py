"""The picture of the benchmark of foresight, from docs/benchmarks/foresight.csv.

python docs/pictures/foresight.py
"""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot

mpl.rcParams["svg.hashsalt"] = "recrawl"  # the same picture gives the same file
BUDGETS = ("0.25x", "1x", "4x")
cells = defaultdict(dict)
table = Path(__file__).parent.parent / "benchmarks" / "foresight.csv"
with table.open(newline="") as file:
    for row in csv.DictReader(file):
        if row["weights"] == "equal":
            cells[row["history"], row["budget"]][row["policy"]] = float(row["freshness"])
names = sorted({name for name, _ in cells}, key=lambda name: -cells[name, "1x"]["foresight"])
figure, plots = pyplot.subplots(1, 3, figsize=(9, 3.2), sharey=True)
for plot, budget in zip(plots, BUDGETS, strict=True):
    for policy, mark in (("recrawl", "o"), ("foresight", "D")):
        leads = [cells[name, budget][policy] - cells[name, budget]["uniform"] for name in names]
        plot.plot(leads, range(len(names)), mark, label=policy, markersize=5)
    plot.axvline(0.0, color="0.6", linewidth=0.8)
    plot.set_title(f"budget {budget}", fontsize=10)
    plot.set_yticks(range(len(names)), names)
plots[1].set_xlabel("points ahead of uniform visits, pages alike in weight")
plots[0].legend(fontsize=8)
figure.tight_layout()
figure.savefig(Path(__file__).with_name("foresight.svg"), metadata={"Date": None})
