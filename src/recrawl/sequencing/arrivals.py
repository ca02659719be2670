"""Costs under arrivals that are not Poisson, and services that are not exponential."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing.costs import TabulatedCosts


def loss_costs(
    service_rates: ArrayLike, arrivals: MarkovianArrivals, *, longest: int = 4096
) -> TabulatedCosts:
    r"""Return the loss probabilities of exponential servers.

    Parameters
    ----------
    service_rates : shape (M,), 1/time, > 0
    arrivals : Poisson, MMPP or MAP
    longest : distances to tabulate

    Notes
    -----
    :math:`f_m(n) = E e^{-\mu_m(\tau_1 + \dots + \tau_n)}` by Lemma 5.2. Preemptive or not makes no
    difference, because what remains of an exponential service is as long as a new one.
    O(M longest k^2).
    """
    rates = _positive("service_rates", service_rates)
    table = np.array([arrivals.discounts(float(rate), longest) for rate in rates])
    return TabulatedCosts(table, np.zeros(rates.size), np.zeros(rates.size))


def obsolescence_costs(
    change_rates: ArrayLike,
    weights: ArrayLike,
    access_times: MarkovianArrivals,
    *,
    longest: int = 4096,
) -> TabulatedCosts:
    r"""Return the costs of being out of date when accesses end as a Markovian process has them.

    Parameters
    ----------
    change_rates, weights : shape (n,), > 0
    access_times : the instants at which accesses end; their intervals may be dependent

    Notes
    -----
    Section 6 of Altman et al. 2000, divided by the mean interval so that it is a cost per unit of
    time: :math:`c\,d + \frac{c}{\mu E\tau}(E e^{-\mu(\tau_1+\dots+\tau_d)} - 1)`.
    """
    rates, costs = _positive("change_rates", change_rates), _positive("weights", weights)
    if rates.shape != costs.shape:
        raise InvalidModel(f"change_rates {rates.shape} and weights {costs.shape} differ in length")
    worths = costs / rates * access_times.rate
    kept = np.array([access_times.discounts(float(rate), longest) for rate in rates])
    table = costs[:, None] * np.arange(1, longest + 1) + worths[:, None] * (kept - 1)
    return TabulatedCosts(table, costs, -worths)


def preemptive_loss_costs(
    services: Sequence[PhaseType], arrivals: MarkovianArrivals, *, longest: int = 512
) -> TabulatedCosts:
    r"""Return the probabilities that a packet sent to a server finds the last one in service.

    Parameters
    ----------
    services : service time of each server, of phase type; need not be exponential
    arrivals : Poisson, MMPP or MAP

    Raises
    ------
    InvalidModel
        When such a cost is not convex (as for regular services), so that nothing here applies.

    Notes
    -----
    Example 2.1 of Altman et al. 2000: :math:`f_m(n) = P(S_m \ge \tau_1 + \dots + \tau_n)`, with
    the phases of arrivals and service side by side: :math:`(q \otimes \alpha)[(-C \oplus T)^{-1}(D
    \otimes I)]^n e`. Non-preemptive costs depend on more than the distance unless service is
    exponential.
    """
    rows = []
    for service in services:
        k, m = arrivals.hidden.shape[0], service.initial.size
        inside = np.kron(arrivals.hidden, np.eye(m)) + np.kron(np.eye(k), service.generator)
        step = np.linalg.solve(-inside, np.kron(arrivals.visible, np.eye(m)))
        row = np.kron(arrivals.at_arrivals, service.initial)
        values = np.empty(longest)
        for n in range(longest):
            row = row @ step
            values[n] = row.sum()
        rows.append(values)
    zero = np.zeros(len(rows))
    return TabulatedCosts(np.array(rows), zero, zero)


def _positive(name: str, values: ArrayLike) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size or not np.all(np.isfinite(array) & (array > 0)):
        raise InvalidModel(f"{name} must be a vector of finite numbers > 0")
    return array
