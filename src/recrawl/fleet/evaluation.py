"""Exact long-run measures of any policy of the controlled buffer."""

from collections.abc import Sequence

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.events import Graph
from recrawl.fleet.measures import FleetMeasures, measure_occupancy
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.policy import RobotPolicy
from recrawl.kernels.fleet_graph import (
    closed_classes,
    components,
    evaluate_graph,
    occupy_class,
)


def evaluate_policy(model: ControlledBuffer, policy: RobotPolicy) -> tuple[FleetMeasures, ...]:
    """Long-run averages of a policy, one entry for each recurrent class, the cheapest first.

    Parameters
    ----------
    model : the buffer, with N robots and K pages
    policy : tables of shape (K + 1, N + 1)

    Returns
    -------
    tuple of FleetMeasures
        Relative accuracy close to the machine's, however small the cost. With one entry the
        averages do not depend on the start; with more they do, and each entry is what those
        starts get that end in its class.

    Raises
    ------
    InvalidModel
        If the policy is for another number of robots or another buffer.

    Notes
    -----
    O(K N b^2) time with b = min(K, N) at most; see :mod:`recrawl.kernels.fleet_graph`.
    """
    expected = (model.buffer + 1, model.robots + 1)
    if policy.arrival.shape != expected:
        raise InvalidModel(
            f"the policy's tables have shape {policy.arrival.shape}; a buffer of {model.buffer} "
            f"and {model.robots} robots need {expected}"
        )
    graph = policy_graph(model, policy)
    part, n_parts = components(graph[0], graph[1])
    closed = closed_classes(graph[0], graph[1], part, n_parts)
    lengths, robots = expected
    q, r = (axis.ravel()[1:] for axis in np.indices(expected))
    keys = np.stack([q * robots + r, r * lengths + q, (q + r) * (lengths + robots) + q])
    cost = np.ascontiguousarray(model.cost_rates.ravel()[1:])
    *_, occupancy = evaluate_graph(graph, cost, keys, part, closed, -1)
    found = []
    for label in np.flatnonzero(closed):
        share = np.zeros(lengths * robots)
        share[1:] = occupy_class(occupancy, part, int(label))
        found.append(measure_occupancy(model, share.reshape(expected)))
    return tuple(sorted(found, key=lambda measures: measures.cost))


def evaluate_curve_policy(model: ControlledBuffer, targets: Sequence[int]) -> FleetMeasures:
    """Long-run averages of "aim for targets[q] robots at length q".

    Through the staircase of the curve: much faster than :func:`evaluate_policy` at large sizes.

    Parameters
    ----------
    model : the buffer, with N robots and K pages
    targets : K + 1 of them, nonincreasing, within 1..N at q = 0 and 0..N elsewhere
    """
    return measure_occupancy(model, evaluate_targets(model, tuple(targets)))


def policy_graph(model: ControlledBuffer, policy: RobotPolicy) -> Graph:
    """Return the chain of a policy; state (q, r) is number q (N + 1) + r - 1, (0, 0) is absent.

    Parameters
    ----------
    model, policy : as of :func:`evaluate_policy`
    """
    q, r = np.indices(policy.arrival.shape)
    width = model.robots + 1
    arrived = np.minimum(q + 1, model.buffer) * width + r - 1 + policy.arrival
    departed = (q - 1) * width + np.minimum(r + policy.departure, model.robots)
    target = np.stack([arrived, departed], axis=-1) - 1
    rate = np.stack([model.arrival_rates, model.index_rates], axis=-1)
    possible = rate > 0
    possible[0, 0] = False
    ptr = np.zeros(q.size, dtype=np.int64)
    np.cumsum(possible.sum(axis=-1).ravel()[1:], out=ptr[1:])
    return ptr, np.ascontiguousarray(target[possible]), np.ascontiguousarray(rate[possible])
