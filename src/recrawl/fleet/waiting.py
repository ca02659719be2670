"""How long pages wait in the buffer: what share of them outlives a limit."""

import math

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.model import ControlledBuffer, Matrix

__all__ = ["share_waiting_longer"]


def share_waiting_longer(model: ControlledBuffer, occupancy: Matrix, limit: float) -> float:
    r"""Share of the accepted pages whose service has not begun when a limit has passed.

    Parameters
    ----------
    model : with one index rate, mu
    occupancy : shape (K + 1, N + 1), long-run fraction of time in each state (q, r)
    limit : time, >= 0

    Returns
    -------
    float
        In [0, 1]. Pages that outlive the limit are taken to be served all the same; where they
        leave instead, those behind them wait less, so that this bounds their share from above.

    Raises
    ------
    InvalidModel
        If the index rate is no single number, or the limit is negative.

    Notes
    -----
    A page that finds q others waits for q services, whose sum is Erlang:
    :math:`P(W_q > t) = \sum_{k < q} e^{-\mu t} (\mu t)^k / k!`. Arrivals see q in proportion to
    :math:`\sum_r \pi(q, r) \lambda(q, r)`. O(K N).
    """
    if np.ndim(model.index_rate) != 0:
        raise InvalidModel("index_rate must be one number to tell how long pages wait")
    if not limit >= 0:
        raise InvalidModel(f"limit must be at least 0, got {limit!r}")
    arrivals = np.sum(occupancy * model.arrival_rates, axis=1)[:-1]
    total = float(np.sum(arrivals))
    if total <= 0:
        return 0.0
    expected = float(np.asarray(model.index_rate)) * limit
    k = np.arange(model.buffer)
    with np.errstate(divide="ignore"):
        logs = k * np.log(expected) if expected > 0 else np.where(k == 0, 0.0, -np.inf)
    chances = np.exp(logs - expected - np.array([math.lgamma(n + 1.0) for n in k]))
    longer = np.concatenate([[0.0], np.cumsum(chances)[:-1]])
    return float(min(np.sum(arrivals * longer) / total, 1.0))
