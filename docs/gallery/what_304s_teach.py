"""What 304s teach

A page that is visited once a day shows at most one change a day, however often it changes:
counting changes tells a fast page at once too low. The likelihood knows that a change hides
others, and that "304 Not Modified" is evidence too. Both estimates see the same sixty visits of
each page.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.learning.change_rates import estimate_change_rates

rng = np.random.default_rng(3)
truth = np.geomspace(0.01, 5, 400)  # changes a day
changed = rng.random((400, 60)) < -np.expm1(-truth)[:, None]  # found at each of sixty visits
page = np.repeat(np.arange(400), 60)
learned = estimate_change_rates(
    400, page, np.ones(page.size), changed.ravel(), prior_rate=0.1, prior_shape=0.5
).rates
counted = changed.mean(axis=1)

figure, axes = plt.subplots(figsize=(6.4, 4.2))
axes.loglog(truth, np.maximum(counted, 5e-3), ".", ms=4, label="changes counted, divided by time")
axes.loglog(truth, learned, ".", ms=4, label="what recrawl learns")
axes.loglog(truth, truth, "k-", lw=0.8, label="the truth")
axes.set(xlabel="changes a day", ylabel="estimate", ylim=(4e-3, 12))
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
for at in (200, 300, 399):
    print(f"truth {truth[at]:.2f}: counted {counted[at]:.2f}, learned {learned[at]:.2f}")
