"""Altman, Bhulai, Gaujal, Hordijk 2000: open-loop routeing to M parallel servers with no buffers

Two servers without waiting room, one faster than the other: in which order are they used, so that
least is lost? The period of the best order against the speed of the faster (Figure 1): a
staircase with steps at rational orders. Where it jumps, two orders cost the same.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.sequencing import AgeingCosts, solve_two

speeds = np.geomspace(1, 400, 400)
found = [solve_two(AgeingCosts.losses([1.0, speed], 1.0)) for speed in speeds]

figure, axes = plt.subplots(figsize=(6.4, 3.8))
periods = [np.nan if one.period is None else one.period for one in found]
axes.step(speeds, periods, where="post")
axes.set(xscale="log", xlabel="speed of the second server", ylabel="period of the best order")
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
for speed in (1.0, 4.0, 20.0, 100.0):
    best = solve_two(AgeingCosts.losses([1.0, speed], 1.0))
    print(f"speed {speed:.0f}: period {best.period}, cost {best.cost:.6f}")
