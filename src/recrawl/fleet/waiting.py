"""Waiting times of pages in the buffer: what share of them outlives a limit."""

import math

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.arrays import Matrix


def share_waiting_longer(
    model: ControlledBuffer, occupancy: Matrix, limit: float, *, servers: int = 1
) -> float:
    r"""Share of the accepted pages whose service has not begun when a limit has passed.

    Parameters
    ----------
    model : with one index rate, mu; or that of several servers, mu times those at work
    occupancy : shape (K + 1, N + 1), long-run fraction of time in each state (q, r)
    limit : time, >= 0
    servers : c, pages that are indexed at a time, >= 1

    Returns
    -------
    float
        In [0, 1]. Pages that outlive the limit are taken to be served all the same; where they
        leave instead, those behind them wait less, so that this bounds their share from above.

    Raises
    ------
    InvalidModel
        If the index rate is not that of so many servers, or the limit is negative.

    Notes
    -----
    A page that finds q >= c others waits for q - c + 1 services of rate c mu, whose sum is Erlang:
    :math:`P(W_q > t) = \sum_{k \le q - c} e^{-c\mu t} (c\mu t)^k / k!`. Arrivals see q in
    proportion to :math:`\sum_r \pi(q, r) \lambda(q, r)`. O(K N).
    """
    rates = model.index_rates[:, 0]
    at_work = np.minimum(np.arange(model.buffer + 1.0), servers)
    if not np.allclose(model.index_rates, (rates[1] * at_work)[:, None], rtol=1e-12):
        raise InvalidModel(
            f"index_rate must be one number for each of {servers} at work, to tell how long pages "
            "wait"
        )
    if not limit >= 0:
        raise InvalidModel(f"limit must be at least 0, got {limit!r}")
    arrivals = np.sum(occupancy * model.arrival_rates, axis=1)[:-1]
    total = float(np.sum(arrivals))
    if total <= 0:
        return 0.0
    expected = servers * float(rates[1]) * limit
    k = np.arange(model.buffer)
    with np.errstate(divide="ignore"):
        logs = k * np.log(expected) if expected > 0 else np.where(k == 0, 0.0, -np.inf)
    chances = np.exp(logs - expected - np.array([math.lgamma(n + 1.0) for n in k]))
    longer = np.concatenate([np.zeros(servers), np.cumsum(chances)])[: model.buffer]
    return float(min(np.sum(arrivals * longer) / total, 1.0))
