"""Exact policy iteration on any controlled queue, whatever its policies look like on the way.

Howard's improvement with an evaluation that is exact and free of subtractions. A policy may have
several recurrent classes, even in this model, whose states all communicate: then the cheapest
class is kept and all other states are led into it, which never costs more.
"""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import NotConverged
from recrawl.fleet.curve import TOLERANCE
from recrawl.fleet.events import EventModel
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.kernels.fleet_graph import (
    best_choices,
    closed_classes,
    components,
    evaluate_graph,
    lead_into,
)

_LIMIT = 1000


@dataclass(frozen=True, eq=False, slots=True)
class EventOptimum:
    """An optimal policy of an event model.

    Parameters
    ----------
    choice : the option taken by each decision
    gain : average cost per unit of time
    values : relative value of each state, shape (n,)
    occupancy : long-run fraction of time in each state, shape (n,)
    iterations : policies evaluated
    residual : the largest gain of any single deviation, relative to the terms compared
    rerouted : policies with several recurrent classes met on the way
    """

    choice: Counts
    gain: float
    values: Matrix
    occupancy: Matrix
    iterations: int
    residual: float
    rerouted: int


def improve_policy(model: EventModel, choice: Counts) -> EventOptimum:
    """Return the optimal policy, starting from any.

    Parameters
    ----------
    model : events, decisions and costs
    choice : shape (decisions,), place of the option that each decision takes at first

    Returns
    -------
    EventOptimum
        Optimal among all policies: no option of any decision gains more than 1e-11 relative to
        the terms compared.

    Raises
    ------
    NotConverged
        If 1,000 policies did not suffice, or states that cannot reach each other keep costs apart.

    Notes
    -----
    With C and T the expected cost and time until an anchor state, the gain is C / T over one
    cycle and the relative value is C - gain T. O(n b^2) time and O(n b) memory for each policy
    with n states in a band of half-width b (the narrowest of the model's orders).

    References
    ----------
    M. L. Puterman, "Markov decision processes", Wiley 1994, chapter 9.
    """
    hint, rerouted, residual = -1, 0, np.inf
    for iteration in range(1, _LIMIT + 1):
        choice, was_split = _keep_cheapest(model, choice)
        rerouted += was_split
        graph = model.graph(choice)
        part, n_parts = components(graph[0], graph[1])
        closed = closed_classes(graph[0], graph[1], part, n_parts)
        gains, value, anchors, occupancy = evaluate_graph(
            graph, model.cost, model.keys, part, closed, hint
        )
        only = int(np.flatnonzero(closed)[0])
        hint, gain = int(anchors[only]), float(gains[only])
        improved, residual = best_choices(
            (model.option_start, model.option_state), choice, gain, value, TOLERANCE
        )
        if np.array_equal(improved, choice):
            values = value[:, 0] - gain * value[:, 1]
            return EventOptimum(choice, gain, values, occupancy, iteration, residual, rerouted)
        choice = improved
    raise NotConverged("the policy still changes", iterations=_LIMIT, residual=residual)


def _keep_cheapest(model: EventModel, choice: Counts) -> tuple[Counts, bool]:
    """Lead all states into the cheapest recurrent class, if there are several."""
    graph = model.graph(choice)
    part, n_parts = components(graph[0], graph[1])
    closed = closed_classes(graph[0], graph[1], part, n_parts)
    if np.count_nonzero(closed) == 1:
        return choice, False
    gains, *_ = evaluate_graph(graph, model.cost, model.keys, part, closed, -1)
    inside = part == np.nanargmin(gains)
    led, all_reached = lead_into(
        inside,
        (model.event_start, model.event_decision),
        (model.option_start, model.option_state),
        choice,
    )
    if not all_reached:
        raise NotConverged(
            "some states can never reach the cheapest ones", iterations=0, residual=np.inf
        )
    return led, True
