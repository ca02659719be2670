"""The optimal control of the robots, exact, for a given number of robots or for any number."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.curve import TOLERANCE, BestCurve, evaluate_targets, find_best_curve
from recrawl.fleet.events import from_buffer
from recrawl.fleet.measures import FleetMeasures, measure_occupancy
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.policy import RobotPolicy
from recrawl.fleet.policy_iteration import improve_policy
from recrawl.kernels.arrays import Matrix

_MOST_STATES = 100_000_000  # an unrestricted search stops here
_MOST_GENERAL = 200_000_000  # numbers in one band of the general method


@dataclass(frozen=True, eq=False)
class RobotOptimum:
    """An optimal policy, its long-run measures and its certificate.

    Parameters
    ----------
    model : what was solved
    measures : long-run averages of the optimal policy
    targets : robots at which the relative value is least, for 0, ..., K pages
    policy : what to do at every event
    is_curve : whether the policy is to aim for ``targets`` and ``targets`` does not increase
    values : relative value of (q, r), shape (K + 1, N + 1), any additive constant
    iterations : policies evaluated
    residual : the largest gain of any other action in any state, relative to the terms compared;
        at most 1e-11, or there would be no result
    """

    model: ControlledBuffer
    measures: FleetMeasures
    targets: tuple[int, ...]
    policy: RobotPolicy
    is_curve: bool
    values: Matrix
    iterations: int
    residual: float

    @property
    def cost(self) -> float:
        """The least average cost per unit of time."""
        return self.measures.cost


def solve_robots(model: ControlledBuffer) -> RobotOptimum:
    r"""Minimise the average cost over all policies.

    Returns
    -------
    RobotOptimum
        Optimal among all policies, those that are no curve included: every action of every state
        was compared. The cost is exact to about 1e-13 relative, even at 1e-200.

    Raises
    ------
    NotConverged
        If no policy passed the comparison.

    Notes
    -----
    Every action only chooses between r and r + 1 robots at the new length q, so with

    .. math:: \theta = c(q,r) + a(q,r)\,[A v(q+1,r) - v(q,r)] + m(q)\,[D v(q-1,r) - v(q,r)]

    (A v: the smaller of v at r - 1 and r; D v: of v at r and r + 1) a curve is optimal exactly
    when v(q, .) falls up to its target and rises from there. The curve method is tried first; what
    it cannot certify goes to general policy iteration.

    References
    ----------
    J. Talim, Z. Liu, Ph. Nain and E. G. Coffman, "Controlling the robots of Web search engines",
    ACM SIGMETRICS 2001, Proposition 1.
    """
    best = find_best_curve(model)
    if best.residual > TOLERANCE:
        return solve_robots_generally(model, start=best)
    targets = tuple(map(int, best.targets))
    return RobotOptimum(
        model=model,
        measures=measure_occupancy(model, evaluate_targets(model, targets)),
        targets=targets,
        policy=RobotPolicy.from_targets(targets, model.robots),
        is_curve=True,
        values=best.values,
        iterations=best.iterations,
        residual=best.residual,
    )


def solve_robots_generally(
    model: ControlledBuffer, *, start: BestCurve | None = None
) -> RobotOptimum:
    """Minimise the average cost by policy iteration that assumes nothing about the policy.

    Slower than :func:`solve_robots`, with the same guarantee. O(K N min(K, N)^2) time for each
    policy at worst.

    Parameters
    ----------
    model : the buffer
    start : curve to start from, whose iterations count as well; None: about half of the robots
    """
    shape = (model.buffer + 1, model.robots + 1)
    if shape[0] * shape[1] * (2 * min(shape) + 1) > _MOST_GENERAL:
        raise NotConverged(
            f"no curve is optimal here, and a buffer of {model.buffer} with {model.robots} robots "
            "is too large for the general method; try a smaller one",
            iterations=start.iterations if start is not None else 0,
            residual=start.residual if start is not None else math.inf,
        )
    active = np.arange(shape[1])
    curve = start.targets if start is not None else np.full(shape[0], shape[1] // 2 + 1)
    choice = (active[None, :] < np.minimum(curve, model.robots)[:, None]).astype(np.int64)
    choice[0, 0] = 0
    found = improve_policy(from_buffer(model), choice.ravel())
    starts = found.choice.reshape(shape).astype(np.bool_)
    starts[0, 0] = True
    arrival, departure = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    arrival[:-1, 1:] = starts[1:, :-1]
    arrival[-1, 1:] = starts[-1, :-1]
    departure[1:] = starts[:-1]
    policy = RobotPolicy(arrival=arrival, departure=departure)
    values = np.append(np.inf, found.values).reshape(shape)
    targets = tuple(int(robots) for robots in np.argmin(values, axis=1))
    values[0, 0] = values[0, 1]
    occupancy = np.append(0.0, found.occupancy).reshape(shape)
    falls = all(a >= b for a, b in itertools.pairwise(targets))
    aimed = RobotPolicy.from_targets(targets, model.robots)
    same = np.array_equal(aimed.arrival[:, 1:], arrival[:, 1:]) and np.array_equal(
        aimed.departure[1:, :-1], departure[1:, :-1]
    )
    return RobotOptimum(
        model=model,
        measures=measure_occupancy(model, occupancy),
        targets=targets,
        policy=policy,
        is_curve=falls and same,
        values=values,
        iterations=found.iterations + (start.iterations if start is not None else 0),
        residual=found.residual,
    )


def solve_robots_unrestricted(model: ControlledBuffer) -> RobotOptimum:
    """Minimise the average cost with as many robots as are worth having.

    Parameters
    ----------
    model : its ``robots`` is where the search starts; its ``fetch_rate`` must be a number

    Returns
    -------
    RobotOptimum
        With room to spare: the most that any length aims for is at most three quarters of the
        robots that its model has.

    Raises
    ------
    InvalidModel
        If the fetch rate is an array, if robots and losses cost nothing, or if more than about
        1e8 states would be needed.
    """
    if np.ndim(model.fetch_rate) != 0:
        raise InvalidModel("fetch_rate must be a number where the number of robots is free")
    if np.ndim(model.index_rate) == 2:
        raise InvalidModel("index_rate must not depend on the robots where their number is free")
    if model.loss_weight == 0 and model.robot_cost == 0:
        raise InvalidModel(
            "loss_weight and robot_cost are both 0: every further robot would lower the cost; "
            "give the number of robots, or a weight to losses or robots"
        )
    while True:
        if (model.robots + 1) * (model.buffer + 1) > _MOST_STATES:
            raise InvalidModel(
                f"the best policy wants more than {model.robots // 2} robots; give their number"
            )
        found = solve_robots(model)
        if 4 * found.targets[0] <= 3 * model.robots:
            return found
        model = replace(model, robots=2 * model.robots)
