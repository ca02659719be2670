"""Bursts

The same number of pages a second, once evenly mixed and once in bursts: an environment that is
ten times as busy a third of the time. A buffer that loses next to nothing of the one loses much
of the other, and more places help less: bursts outlast them. Models without bursts promise too
much.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recrawl.fleet.bursty import BufferCosts, BurstyBuffer, evaluate_map
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType

even = BatchArrivals([[[-0.8]], [[0.8]]])
busy, calm, back, forth = 2.0, 0.2, 0.02, 0.01  # rates of pages, and of the environment's moves
bursts = BatchArrivals([[[-busy - back, back], [forth, -calm - forth]], np.diag([busy, calm])])
places = range(2, 41, 2)
lost = {
    name: [
        100 * evaluate_map(model, [1] * (n + 1)).loss
        for n in places
        for model in [BurstyBuffer(n, [arrivals], PhaseType.exponential(1.0), costs=BufferCosts(1))]
    ]
    for name, arrivals in (("evenly mixed", even), ("in bursts", bursts))
}
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for name, values in lost.items():
    axes.semilogy(places, values, label=name)
axes.set(xlabel="places in the buffer", ylabel="per cent of pages lost")
axes.legend()
figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")
print(f"rates {even.rate:.2f} and {bursts.rate:.2f}; lost with 20 places:", end=" ")
print(", ".join(f"{name} {values[9]:.3g} %" for name, values in lost.items()))
