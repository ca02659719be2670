"""A queue under control as a list of events, each with a decision: the general form.

State s sees event e at a rate; the event's decision names the states that it may lead to. Events
that leave the controller in the same place share one decision, so a policy is one choice per
decision. Everything beyond one class of robots with constant rates is written in this form.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.arrays import Counts, Matrix

Graph = tuple[Counts, Counts, Matrix]


@dataclass(frozen=True, eq=False, slots=True)
class EventModel:
    """States, events and decisions in compressed rows.

    Parameters
    ----------
    event_start : shape (n + 1,), the events of state s are event_start[s] : event_start[s + 1]
    event_rate, event_decision : shape (E,), rate > 0 and the decision that the event asks for
    option_start, option_state : the states that decision d may lead to, from option_start[d] on
    cost : shape (n,), cost per unit of time in each state, >= 0
    keys : shape (k, n), orders of the states, one of which makes narrow bands
    """

    event_start: Counts
    event_rate: Matrix
    event_decision: Counts
    option_start: Counts
    option_state: Counts
    cost: Matrix
    keys: Counts

    def graph(self, choice: Counts) -> Graph:
        """Return the chain of a policy: edges in compressed rows, with their rates."""
        target = self.option_state[self.option_start[:-1] + choice][self.event_decision]
        return self.event_start, target, self.event_rate


def join_events(
    n_states: int,
    blocks: Sequence[tuple[Counts, Matrix, Counts]],
    options: Matrix | Counts,
    cost: Matrix,
    keys: Counts,
) -> EventModel:
    """Put blocks of events together, and group them by state.

    Parameters
    ----------
    n_states : n, >= 1
    blocks : of events, three arrays of one shape: states in 0 .. n - 1, rates per unit of time,
        >= 0 (those of 0 are dropped), and decisions, which are rows of ``options``
    options : shape (decisions, k), state that each option leads to, -1 where there is none
    cost : shape (n,), cost per unit of time in each state, >= 0
    keys : shape (any, n), orders of the states, one of which makes narrow bands
    """
    state, rate, decision = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    real = rate > 0
    order = np.argsort(state[real], kind="stable")
    start = np.zeros(n_states + 1, dtype=np.int64)
    np.cumsum(np.bincount(state[real], minlength=n_states), out=start[1:])
    available = options >= 0
    option_start = np.zeros(len(options) + 1, dtype=np.int64)
    np.cumsum(available.sum(axis=1), out=option_start[1:])
    return EventModel(
        event_start=start,
        event_rate=np.ascontiguousarray(rate[real][order]),
        event_decision=np.ascontiguousarray(decision[real][order]),
        option_start=option_start,
        option_state=np.ascontiguousarray(options[available].astype(np.int64)),
        cost=np.ascontiguousarray(cost),
        keys=np.ascontiguousarray(keys),
    )


def from_buffer(model: ControlledBuffer) -> EventModel:
    """Write the controlled buffer as events: state (q, r) is number q (N + 1) + r - 1.

    Decision q (N + 1) + r is that of an event which leaves q pages and r robots: start one more
    or not. Option 0 is not to start, except at (0, 0), where starting is the only one.
    """
    lengths, robots = model.buffer + 1, model.robots + 1
    q, r = (part.ravel() for part in np.indices((lengths, robots)))
    state = q * robots + r - 1  # (0, 0), number -1, does not exist
    decision = q * robots + r
    arrival = model.arrival_rates.ravel()
    service = model.index_rates.ravel()
    real = state >= 0
    after = np.minimum(q + 1, model.buffer)
    up = real & (r > 0)
    down = real & (q > 0)
    blocks = [
        (state[up], arrival[up], (after * robots + r - 1)[up]),
        (state[down], service[down], ((q - 1) * robots + r)[down]),
    ]
    options = np.stack([state, np.where(r < model.robots, state + 1, -1)], axis=1)
    keys = np.stack([decision, r * lengths + q, (q + r) * (lengths + robots) + q])[:, 1:]
    return join_events(state.size - 1, blocks, options, model.cost_rates.ravel()[1:], keys)
