"""Relative value iteration, the paper's own method, with the paper's own stopping rule.

Kept as the historical method: it reproduces the printed numbers, those included that the rule
stopped too early. The rule bounds no error; use :func:`recrawl.fleet.solve_robots` for answers.
"""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.fleet_value_iteration import iterate_values

PUBLISHED_DAMPING = 0.99999
PUBLISHED_CHANGE = 1e-5


@dataclass(frozen=True, slots=True)
class ValueIteration:
    """Result of relative value iteration.

    Parameters
    ----------
    cost : its estimate of the average cost
    low, high : bounds on the least average cost that its last step proves
    steps : steps made
    """

    cost: float
    low: float
    high: float
    steps: int


def iterate_as_published(model: ControlledBuffer, *, limit: int = 10_000_000) -> ValueIteration:
    r"""Stop when no relative value changes by more than 1e-5 of itself (Proposition 2).

    Parameters
    ----------
    model : the buffer
    limit : steps to make at most, >= 1

    Raises
    ------
    InvalidModel
        If the model has arrays of rates, or costs of holding or robots: the paper has none.
    NotConverged
        If the rule does not hold by then.

    Notes
    -----
    :math:`h_{k+1} = (1 - \tau) h_k + \tau (T h_k - T h_k(\hat x))` with :math:`\tau = 0.99999`,
    :math:`h_0 = 0` and :math:`\hat x = (1, 1, 1)`; the cost is :math:`T h(\hat x)` (not
    :math:`\tau T h(\hat x)`, as printed). O(K N) time a step, O(N + mu/lambda) steps for each
    digit.

    References
    ----------
    J. Talim, Z. Liu, Ph. Nain and E. G. Coffman, "Controlling the robots of Web search engines",
    ACM SIGMETRICS 2001, Proposition 2 and Section 3.
    """
    return _iterate(model, (PUBLISHED_CHANGE, -1.0, limit))


def iterate_to_span(
    model: ControlledBuffer, tolerance: float, *, limit: int = 10_000_000
) -> ValueIteration:
    """Stop when the last step proves the least cost to within ``tolerance``.

    Parameters
    ----------
    model : as of :func:`iterate_as_published`
    tolerance : in cost per unit of time, > 0
    limit : steps to make at most, >= 1

    Raises
    ------
    NotConverged
        If it does not by then; it never does below rounding.
    """
    return _iterate(model, (-1.0, tolerance, limit))


def _iterate(model: ControlledBuffer, stop: tuple[float, float, int]) -> ValueIteration:
    if not model.is_homogeneous:
        raise InvalidModel(
            "the paper's value iteration knows constant rates and the weights of starvation and "
            "loss only; use solve_robots"
        )
    _, low, high, steps, cost = iterate_values(
        model.robots,
        model.buffer,
        float(np.asarray(model.fetch_rate)),
        float(np.asarray(model.index_rate)),
        (float(model.starvation_weight), float(model.loss_weight)),
        PUBLISHED_DAMPING,
        stop,
    )
    if steps >= stop[2]:
        raise NotConverged("relative value iteration", iterations=steps, residual=high - low)
    return ValueIteration(cost=cost, low=low, high=high, steps=steps)
