"""One step of expectation and maximisation for a mixture of Erlang laws."""

import numpy as np

from recrawl.kernels.arrays import Floats
from recrawl.kernels.compile import kernel


@kernel
def expect_branches(
    times: Floats,
    logs: Floats,
    order: Floats,
    constant: Floats,
    rates: Floats,
    mass: Floats,
    spent: Floats,
) -> float:
    """Return the log-likelihood; add up the weight of each branch and the time spent in it.

    Parameters
    ----------
    times, logs : shape (n,), > 0, and their logarithms
    order : shape (m,), stages of each branch, >= 1
    constant : shape (m,), order log rate - log (order - 1)! + log share
    rates : shape (m,), of a stage, 1/time, > 0
    mass, spent : shape (m,), weight and time of each branch, are written
    """
    m = rates.size
    joint = np.empty(m)
    total = 0.0
    for i in range(m):
        mass[i] = 0.0
        spent[i] = 0.0
    for t in range(times.size):
        most = -np.inf
        for i in range(m):
            joint[i] = constant[i] + (order[i] - 1.0) * logs[t] - rates[i] * times[t]
            most = max(most, joint[i])
        whole = 0.0
        for i in range(m):
            joint[i] = np.exp(joint[i] - most)
            whole += joint[i]
        total += most + np.log(whole)
        for i in range(m):
            weight = joint[i] / whole
            mass[i] += weight
            spent[i] += weight * times[t]
    return total
