"""Even access times keep pages fresh

Coffman, Liu and Weber, Theorem 3.1: access times that are less in the increasing convex order make
every page fresher, whatever the policy. On the left what four laws of one mean leave expected
beyond each threshold: curves that do not cross are ordered. On the right how much staler four pages
are than with constant times, taking turns (lines) and drawn at random (dots): ordered alike at all
loads.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.processes.orders import compare_times
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import AgeingCosts, evaluate_cycle, evaluate_random

laws = {
    "constant": ConstantTime(1.0),
    "Erlang, 4 stages": PhaseType.erlang(4, 1.0),
    "exponential": PhaseType.exponential(1.0),
    "one in ten is long": PhaseType.hyperexponential([0.9, 0.1], [0.5, 5.5]),
}
loads, pages = np.geomspace(0.01, 100, 41), np.array([1.0, 2.0, 3.0, 4.0]) / 10
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
first, before, last = None, None, None
for name, law in laws.items():
    order = compare_times(law, laws["one in ten is long"])
    left.plot(order.thresholds, order.first, label=name)
    costs = [AgeingCosts.obsolescence(load * pages, np.ones(4), law) for load in loads]
    both = np.array([[evaluate_cycle(c, [0, 1, 2, 3]).cost, evaluate_random(c, np.ones(4)).cost]
                     for c in costs]).T / 4  # fmt: skip
    first = both if first is None else first
    for stale, least, kind in zip(both, first, ("-", ":"), strict=True):
        right.semilogx(loads, stale / least, kind, color=left.lines[-1].get_color())
    verdict = f", {compare_times(laws[last], law).verdict} it: {last}" if last else ""
    assert last is None or (both >= before).all()
    print(f"{name}: stale {both[0, 20]:.4f} by turns, {both[1, 20]:.4f} drawn at load 1{verdict}")
    before, last = both, name
left.set(xlabel="threshold t", ylabel="$E(X - t)^+$", yscale="log", ylim=(1e-3, 1.1), xlim=(0, 6))
right.set(xlabel="changes per access", ylabel="stale, over constant access times")
left.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
