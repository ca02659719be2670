"""Talim 2001, Figures 2 to 4: when a robot is started

Sixteen robots, a buffer of five pages. Filled: a robot is started, after a page has left the
buffer or come to it. Nothing differs: costs and numbers of iterations come back.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.fleet import ControlledBuffer, solve_robots

figure, panels = plt.subplots(2, 3, figsize=(9, 5), sharex=True, sharey=True, layout="constrained")
for column, gamma in zip(panels.T, (1.0, 1.4, 2.0), strict=True):
    model = ControlledBuffer(16, 5, fetch_rate=0.1, index_rate=1.0, starvation_weight=gamma)
    best = solve_robots(model)
    events = {
        "left": (best.policy.departure[1:, :-1], (1, 0)),  # a page was there to leave
        "came": (best.policy.arrival[:, 1:], (0, 1)),  # a robot brought it
    }
    for panel, (event, (started, first)) in zip(column, events.items(), strict=True):
        pages, robots = np.add(np.argwhere(started), first).T
        panel.scatter(robots, pages, s=20, color="C0")
        pages, robots = np.add(np.argwhere(~started), first).T
        panel.scatter(robots, pages, s=20, facecolors="none", edgecolors="silver")
        panel.set_title(f"gamma = {gamma}: a page {event}", fontsize=10)
    panel.set_xlabel("active robots before")
    print(f"gamma {gamma}: cost {best.cost:.5f}, robots to run {best.targets}")
for panel in panels[:, 0]:
    panel.set_ylabel("pages before")
figure.savefig(sys.argv[1], dpi=110)
