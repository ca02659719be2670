"""Avrachenkov 2011, Figures 1 to 4: cost against the threshold

By pairs of numbers of robots, variances of service, and of time until pages go stale. The curves
are not in the copy read; all that its text says of them holds, but for one set of three numbers.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.reproductions import reproduce

found = reproduce("avrachenkov-figures")
figure = plt.figure()
found.draw(figure)
for axes in figure.axes:
    axes.locator_params(axis="x", integer=True)
figure.savefig(sys.argv[1], dpi=90)
