"""Best control that sees every phase: a yardstick for maps."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import NotConverged
from recrawl.fleet.bursty.generator import level_offsets, write_generators
from recrawl.fleet.bursty.measures import weigh
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.fleet.bursty.sojourn import chances_of_service
from recrawl.kernels.arrays import Counts, Matrix


@dataclass(frozen=True, eq=False)
class FullInformation:
    """A policy that sees the phases of arrivals, service and all waiting pages.

    Parameters
    ----------
    cost : its J
    modes : shape (states,); the mode in each state
    is_bound : whether no policy at all can do better; so if the sojourn time costs nothing
        (otherwise J is not linear in the law, and this one is attained but only locally optimal)
    iterations : policies that were tried
    """

    cost: float
    modes: Counts
    is_bound: bool
    iterations: int


def solve_full_information(model: BurstyBuffer, *, most_iterations: int = 200) -> FullInformation:
    """Minimise J over policies that see the whole state, from the best fixed number.

    Parameters
    ----------
    model : the buffer
    most_iterations : policies to try, >= 1

    Raises
    ------
    InvalidModel
        If the chain is too large to be written out.
    NotConverged
        After ``most_iterations`` policies.

    Notes
    -----
    Howard's policy iteration on the criterion linearised at the policy in force: with h the pages
    present that will be served and b the rate of services, h/b is replaced by (h - V b)/B, V and
    B being their long-run ratio and rate. O(states^3) for each policy.
    """
    rates = write_generators(model)
    gains = _gains(model)
    modes = np.zeros(rates.shape[1], dtype=np.int64)
    costs = [_evaluate(model, rates, gains, modes + r)[0] for r in range(rates.shape[0])]
    modes += int(np.argmin(costs))
    cost, linear = _evaluate(model, rates, gains, modes)
    for iteration in range(1, most_iterations + 1):
        better = _improve(rates, linear, modes)
        changed = better != modes
        if not np.any(changed):
            return FullInformation(cost, modes, model.costs.sojourn == 0, iteration)
        found = _evaluate(model, rates, gains, better)
        if found[0] >= cost * (1 - 1e-13):
            return FullInformation(cost, modes, model.costs.sojourn == 0, iteration)
        cost, linear = found
        modes = better
    raise NotConverged(
        "full information", iterations=most_iterations, residual=float(np.mean(changed))
    )


def _gains(model: BurstyBuffer) -> Matrix:
    """Rates of the eight sums by mode and state, shape (modes, states, 8)."""
    w, m, v = model.phases
    at = level_offsets(model)
    chances = chances_of_service(model)
    stale = model.obsolescence.exits if model.obsolescence is not None else np.zeros(1)
    out = np.zeros((len(model.robots), at[-1], 8))
    out[..., 6] = np.array(model.robots)[:, None]
    out[:, : at[1], 7] = 1.0
    total, pages = np.zeros(1), np.zeros((1, m, 2))
    for n in range(model.levels):
        here = slice(at[n], at[n + 1])
        width = (at[n + 1] - at[n]) // w
        out[:, here, 0] = np.repeat(model.brought, width, axis=1)
        out[:, here, 1] = np.repeat(model.lost[model.room[n]], width, axis=1)
        if not n:
            continue
        if n > 1:
            total = (total[:, None] + stale).ravel()
            pages = np.repeat(pages, v, axis=0)
        pages = pages + chances[n - 1]
        fate = pages.transpose(1, 0, 2).reshape(-1, 2)  # (m, eta), as the states are ordered
        out[:, here, 2] = np.tile(total, w * m)
        out[:, here, 3] = np.tile(np.repeat(model.service.exits, total.size), w)
        out[:, here, 4:6] = np.tile(fate, (w, 1))
    return out


def _evaluate(
    model: BurstyBuffer, rates: Matrix, gains: Matrix, modes: Counts
) -> tuple[float, Matrix]:
    """Return J, and the criterion linearised at this policy, shape (modes, states)."""
    states = np.arange(modes.size)
    chain = rates[modes, states]
    system = chain.T.copy()
    system[0] = 1.0
    law = np.linalg.solve(system, np.eye(modes.size)[0])
    sums = law @ gains[modes, states]
    costs = model.costs
    linear = costs.loss * gains[..., 1] + costs.obsolescence * gains[..., 2]
    linear = linear + costs.robots * gains[..., 6] + costs.starvation * gains[..., 7]
    mean = sums[4] / sums[3]
    linear = linear + costs.sojourn * (gains[..., 4] - mean * gains[..., 3]) / sums[3]
    return float(weigh(sums[None, :], costs)[0]), linear


def _improve(rates: Matrix, linear: Matrix, modes: Counts) -> Counts:
    """Return the mode of least marginal cost in each state, the present one where it is a tie."""
    states = np.arange(modes.size)
    system = rates[modes, states].copy()
    system[:, 0] = -1.0  # bias of state 0 is 0; its place holds the average
    solved = np.linalg.solve(system, -linear[modes, states])
    bias = solved.copy()
    bias[0] = 0.0
    worth = linear + rates @ bias
    best = np.argmin(worth, axis=0)
    gain = worth[modes, states] - worth[best, states]
    return np.where(gain > 1e-9 * np.abs(worth).max(), best, modes)
