"""Altman 2000, Figure 1: the period of the best order

Two servers without waiting room; in which order are they used, so that least is lost? A staircase,
with jumps (dotted) where a closed form says. Nothing differs that can be read off the figure.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.sequencing import AgeingCosts, solve_two, switching_rate

speeds = np.geomspace(1, 400, 400)
found = [solve_two(AgeingCosts.losses([1.0, speed], 1.0)) for speed in speeds]

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
periods = [np.nan if one.period is None else one.period for one in found]
axes.step(speeds, periods, where="post")
for period in range(2, 11):
    axes.axvline(switching_rate(period), color="silver", ls=":", lw=1)
axes.set(xscale="log", xlabel="speed of the second server", ylabel="period of the best order")
figure.savefig(sys.argv[1], dpi=110)
