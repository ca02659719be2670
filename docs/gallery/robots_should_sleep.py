"""When robots should sleep

Sixteen robots, a buffer of five pages, an indexer that serves one page a second. The fuller the
buffer, the fewer robots should run: a page that finds it full is lost, an empty one leaves the
indexer idle. The best control beats the best fixed number by 8 to 37 per cent here.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.fleet import ControlledBuffer, sweep_weights

weights = [float(weight) for weight in np.geomspace(0.2, 20, 25)]
points = sweep_weights(ControlledBuffer(16, 5, 0.1, 1.0, 1.0), weights)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
for at in (4, 12, 20):
    left.step(range(6), points[at].targets, where="mid", label=f"idling weighs {weights[at]:.1f}")
left.set(xlabel="pages in the buffer", ylabel="robots to run", title="the best control")
left.legend(fontsize=8)
right.plot(weights, [point.static.cost for point in points], label="best fixed number")
right.plot(weights, [point.dynamic.cost for point in points], label="best control")
right.set(xscale="log", xlabel="weight of an idle indexer", ylabel="cost", title="what it costs")
right.legend(fontsize=8)
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
gains = [1 - point.dynamic.cost / point.static.cost for point in points]
print(f"the control saves {min(gains):.1%} to {max(gains):.1%}")
