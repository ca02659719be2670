"""Talim, Liu, Nain, Coffman 2001: controlling the robots of web search engines

Sixteen robots bring 0.1 pages a second each to a buffer of five places; what an idle indexer
costs against a lost page is gamma. The pictures of the paper (Figures 2 to 4) say when to start
and when to stop a robot; one curve of targets says both. All three costs, and every number of
Tables 1 and 2 but a misprint and what the notes explain, come back.
"""

import sys

import matplotlib.pyplot as plt

from recrawl.fleet import ControlledBuffer, solve_robots, solve_static

figure, axes = plt.subplots(figsize=(6.4, 3.8))
for gamma in (1.0, 1.4, 2.0):
    model = ControlledBuffer(16, 5, fetch_rate=0.1, index_rate=1.0, starvation_weight=gamma)
    best, fixed = solve_robots(model), solve_static(model)
    axes.step(range(6), best.targets, where="mid", label=f"gamma = {gamma}: cost {best.cost:.5f}")
    print(f"gamma {gamma}: control {best.cost:.5f}, best fixed number {fixed.cost:.5f}")
axes.set(xlabel="pages in the buffer", ylabel="robots to run")
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
