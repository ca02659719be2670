"""Foresight

Two hundred pages in twenty directories; whoever edits one page of a directory edits its
neighbours within the hour. A policy that takes a change for news of the pages beside it is ahead
of one that takes each page for itself, at every budget, on such a history. [Where it is
not](../howto/foresight.md).
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import recrawl

rng, day = np.random.default_rng(5), 86_400.0
urls, times = [], []
for directory in range(20):
    for at in rng.uniform(0, 120 * day, 12):  # somebody sits down to edit
        for page in np.flatnonzero(rng.random(10) < 0.8):
            urls.append(f"https://a.test/{directory}/{page}")
            times.append(at + rng.uniform(0, 3600.0))
report = recrawl.backtest(
    {"url": urls, "changed_at": times},
    policies=["recrawl", "foresight", "uniform"],
    resamples=20,
    orders=3,
)
found = {}
for row in report.table.to_pylist():
    found.setdefault(row["policy"], []).append(100 * row["freshness"])

figure, axes = plt.subplots(figsize=(6.4, 3.8))
for place, (name, values) in enumerate(found.items()):
    axes.bar(np.arange(3) + 0.27 * (place - 1), values, 0.25, label=name)
    print(f"{name:<10}", *(f"{value:.1f}" for value in values))
axes.set(xticks=range(3), ylabel="per cent fresh", ylim=(0, 100), xlabel="visits for each change")
axes.set_xticklabels(["1/4", "1", "4"])
axes.legend(loc="upper left")
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
