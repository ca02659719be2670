"""The picture of what not knowing costs, from docs/benchmarks/regret.csv.

python docs/pictures/regret.py
"""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot

mpl.rcParams["svg.hashsalt"] = "recrawl"  # the same picture gives the same file
ARMS = {
    "nutch": ("Nutch's rule", "s"),
    "uniform": ("uniform", "^"),
    "explore": ("explore, then commit", "D"),
    "recrawl": ("deciding while learning", "o"),
}
curves = defaultdict(list)
table = Path(__file__).parent.parent / "benchmarks" / "regret.csv"
with table.open(newline="") as file:
    for row in csv.DictReader(file):
        curves[row["policy"]].append((float(row["days"]), float(row["regret"])))
figure, axes = pyplot.subplots(figsize=(6.4, 3.6))
for policy, (label, mark) in ARMS.items():
    axes.loglog(*zip(*curves[policy], strict=True), mark + "-", markersize=4, label=label)
axes.set(xlabel="days since nothing was known", ylabel="freshness lost, days a page")
axes.legend(fontsize=8)
figure.tight_layout()
figure.savefig(Path(__file__).with_name("regret.svg"), metadata={"Date": None})
