"""Beyond the paper: classes of robots, a modulated environment, phase-type indexing times.

The same control on a larger state: (q, z, i, r_1, ..., r_J) holds pages, the phase of the
environment (robots' travelling changes with it: a Markov-modulated Poisson process), the phase of
the page being indexed, and the active robots of each class. The controller sees the phases.

It is longer than most, because the model, its states and its policy are one numbering of one space:
apart, each would have to explain it again.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.fleet.events import EventModel, join_events
from recrawl.fleet.measures import FleetMeasures
from recrawl.fleet.policy_iteration import EventOptimum, improve_policy
from recrawl.kernels.arrays import Counts, Flags, Matrix

__all__ = [
    "PhasedFleet",
    "PhasedOptimum",
    "PhasedPolicy",
    "RobotClass",
    "erlang_service",
    "solve_phased",
]

_MOST_STATES = 400_000


@dataclass(frozen=True, slots=True)
class RobotClass:
    """Robots of one kind.

    Parameters
    ----------
    robots : how many there are, >= 1
    fetch_rates : pages one of them brings per unit of time, for each phase of the environment,
        > 0; one number if there is one phase
    cost : cost per active robot and unit of time, >= 0
    """

    robots: int
    fetch_rates: tuple[float, ...]
    cost: float = 0.0

    def __post_init__(self) -> None:
        if self.robots < 1:
            raise InvalidModel(f"robots of a class must be at least 1, got {self.robots}")
        for rate in self.fetch_rates:
            if not (np.isfinite(rate) and rate > 0):
                raise InvalidModel(f"fetch_rates must be finite and > 0, got {rate!r}")
        if not (np.isfinite(self.cost) and self.cost >= 0):
            raise InvalidModel(f"cost of a class must be finite and >= 0, got {self.cost!r}")


def erlang_service(index_rate: float, phases: int) -> tuple[Matrix, Matrix]:
    """Return initial distribution and generator of an Erlang indexing time.

    More phases, less variation: the squared coefficient of variation is 1 / phases.

    Parameters
    ----------
    index_rate : pages indexed per unit of time, > 0, finite
    phases : M, >= 1
    """
    if phases < 1:
        raise InvalidModel(f"phases must be at least 1, got {phases}")
    if not (np.isfinite(index_rate) and index_rate > 0):
        raise InvalidModel(f"index_rate must be finite and > 0, got {index_rate!r}")
    speed = index_rate * phases
    return np.eye(phases)[0], speed * (np.eye(phases, k=1) - np.eye(phases))


@dataclass(frozen=True, eq=False)
class PhasedFleet:
    """Classes of robots that feed one buffer, under a changing environment.

    Parameters
    ----------
    classes : the robots, at least one class
    buffer : K, pages that fit, the one in service included, >= 1
    service_initial, service_generator : phase-type indexing time: shapes (M,) and (M, M)
    environment : generator of the phases, shape (Z, Z), rows summing to 0; None for one phase
    starvation_weight, loss_weight, holding_cost : as in :class:`ControlledBuffer`
    """

    classes: tuple[RobotClass, ...]
    buffer: int
    service_initial: ArrayLike
    service_generator: ArrayLike
    starvation_weight: float
    environment: ArrayLike | None = None
    loss_weight: float = 1.0
    holding_cost: float = 0.0

    def __post_init__(self) -> None:
        if not self.classes:
            raise InvalidModel("classes must name at least one class of robots")
        if self.buffer < 1:
            raise InvalidModel(f"buffer must be at least 1, got {self.buffer}")
        for name in ("starvation_weight", "loss_weight", "holding_cost"):
            weight = getattr(self, name)
            if not (np.isfinite(weight) and weight >= 0):
                raise InvalidModel(f"{name} must be finite and >= 0, got {weight!r}")
        if self.starvation_weight == 0 and self.loss_weight == 0:
            raise InvalidModel("starvation_weight and loss_weight are both 0")
        self._check_service()
        self._check_environment()
        if self.n_states > _MOST_STATES:
            raise InvalidModel(
                f"the model has {self.n_states} states, more than {_MOST_STATES}: "
                "take fewer robots, phases or a smaller buffer"
            )

    def _check_service(self) -> None:
        initial, generator = self.initial, self.generator
        phases = initial.size
        if initial.ndim != 1 or generator.shape != (phases, phases):
            raise InvalidModel(
                f"service_initial {initial.shape} and service_generator {generator.shape} must "
                "be (M,) and (M, M)"
            )
        if np.any(initial < 0) or abs(initial.sum() - 1) > 1e-9:
            raise InvalidModel(f"service_initial must be a distribution, got {initial.tolist()}")
        if not _is_generator(generator) or np.linalg.matrix_rank(generator) < phases:
            raise InvalidModel(
                "service_generator must have rates >= 0 off the diagonal, rows summing to at "
                "most 0, and an end that is reached from every phase"
            )

    def _check_environment(self) -> None:
        switching = self.switching
        if switching.ndim != 2 or switching.shape[0] != switching.shape[1]:
            raise InvalidModel(f"environment must be square, got shape {switching.shape}")
        scale = np.abs(switching).max(initial=0.0)
        if not _is_generator(switching) or np.any(np.abs(switching.sum(axis=1)) > 1e-9 * scale):
            raise InvalidModel("environment must be a generator: rates >= 0, rows summing to 0")
        for robots in self.classes:
            if len(robots.fetch_rates) != len(switching):
                raise InvalidModel(
                    f"fetch_rates must have one entry for each of {len(switching)} phases of the "
                    f"environment, got {len(robots.fetch_rates)}"
                )

    @cached_property
    def initial(self) -> Matrix:
        """Distribution of the first phase of an indexing time, (M,)."""
        return np.asarray(self.service_initial, dtype=np.float64)

    @cached_property
    def generator(self) -> Matrix:
        """Rates between the phases of an indexing time, (M, M)."""
        return np.asarray(self.service_generator, dtype=np.float64)

    @cached_property
    def switching(self) -> Matrix:
        """Rates between the phases of the environment, (Z, Z)."""
        given = np.zeros((1, 1)) if self.environment is None else self.environment
        return np.asarray(given, dtype=np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The grid of (q, z, i, r_1, ..., r_J)."""
        robots = tuple(kind.robots + 1 for kind in self.classes)
        return (self.buffer + 1, len(self.switching), self.initial.size, *robots)

    @property
    def n_states(self) -> int:
        """Size of the grid."""
        return int(np.prod(self.shape))


def _is_generator(rates: Matrix) -> bool:
    off = rates - np.diag(np.diag(rates))
    scale = np.abs(rates).max(initial=0.0)
    return bool(np.all(np.isfinite(rates)) and np.all(off >= 0)) and bool(
        np.all(rates.sum(axis=1) <= 1e-9 * scale)
    )


@dataclass(frozen=True, eq=False, slots=True)
class PhasedPolicy:
    """Policy by the state that each event leaves behind.

    Parameters
    ----------
    arrival : shape (J, grid): whether a robot of class j that has just stopped is started again,
        the state counted without it
    departure : shape (grid): the class to start one more of, or -1
    """

    arrival: Flags
    departure: Counts


@dataclass(frozen=True, eq=False, slots=True)
class PhasedOptimum:
    """An optimal policy of a phased fleet.

    Parameters
    ----------
    measures : long-run averages; robots are counted over all classes
    robots_by_class : mean active robots of each class
    targets : with one class, robots to aim for, shape (Z, M, K + 1); otherwise None
    is_curve : with one class, whether no target increases with the buffer's length
    policy : what to do at every event
    values : relative value on the grid; nan where no state is
    iterations, residual, rerouted : as in the general method
    """

    measures: FleetMeasures
    robots_by_class: tuple[float, ...]
    targets: Counts | None
    is_curve: bool
    policy: PhasedPolicy
    values: Matrix
    iterations: int
    residual: float
    rerouted: int


def solve_phased(fleet: PhasedFleet) -> PhasedOptimum:
    """Minimise the average cost over all policies that see the phases.

    Returns
    -------
    PhasedOptimum
        Optimal among all policies: every option of every decision was compared.

    Raises
    ------
    NotConverged
        See :func:`recrawl.fleet.policy_iteration.improve_policy`.

    Notes
    -----
    With one class each phase has its own curve of targets. With several there is no curve.
    O(n b^2) time for each policy, n states in a band of half-width b.
    """
    model, real, decisions = phased_events(fleet)
    found = improve_policy(model, _balanced_choice(fleet, model, decisions))
    occupancy = np.zeros(fleet.n_states)
    occupancy[real] = found.occupancy
    values = np.full(fleet.n_states, np.nan)
    values[real] = found.values
    grid = values.reshape(fleet.shape)
    targets, falls = _targets(fleet, grid)
    return PhasedOptimum(
        measures=_measure(fleet, occupancy),
        robots_by_class=tuple(
            float(occupancy @ active) for active in _active(fleet).reshape(len(fleet.classes), -1)
        ),
        targets=targets,
        is_curve=falls,
        policy=_policy(fleet, model, (real, decisions), found),
        values=grid,
        iterations=found.iterations,
        residual=found.residual,
        rerouted=found.rerouted,
    )


def _active(fleet: PhasedFleet) -> Counts:
    """Active robots of each class at each grid point, shape (J, grid)."""
    return np.asarray(np.indices(fleet.shape)[3:])


def _rates(fleet: PhasedFleet) -> Matrix:
    """Arrival rate of each class at each grid point, shape (J, n)."""
    z = np.indices(fleet.shape)[1].ravel()
    per_robot = np.array([kind.fetch_rates for kind in fleet.classes])[:, z]
    return np.asarray(per_robot * _active(fleet).reshape(len(fleet.classes), -1))


def phased_events(fleet: PhasedFleet) -> tuple[EventModel, Counts, Counts]:
    """Write a phased fleet as events; also the grid point of each state, and of each decision.

    A decision is numbered kind n + g before compression: kind j for an arrival of class j, J for
    a departure, J + 1 for a change of phase, and g the grid point that the event leaves.
    """
    shape, size = fleet.shape, fleet.n_states
    grid = np.arange(size).reshape(shape)
    q, z, i, *robots = (axis.ravel() for axis in np.indices(shape))
    total = np.sum(robots, axis=0)
    exists = ~((q == 0) & ((i > 0) | (total == 0)))
    n_classes = len(fleet.classes)
    phases = range(fleet.initial.size)
    ends = -fleet.generator.sum(axis=1)
    rates = _rates(fleet)
    blocks: list[tuple[Counts, Matrix, Counts]] = []

    def add(states: Flags, rate: Matrix, kind: int, point: tuple[object, ...]) -> None:
        here = np.flatnonzero(states & exists)
        where = np.broadcast_arrays(*(np.asarray(axis) for axis in point))
        left = grid[tuple(np.clip(axis, 0, None)[here] for axis in where)]
        blocks.append((here, rate[here], kind * size + left))

    for j in range(n_classes):
        stopped = [axis - (k == j) for k, axis in enumerate(robots)]
        after = np.minimum(q + 1, fleet.buffer)
        add((q > 0) & (robots[j] > 0), rates[j], j, (after, z, i, *stopped))
        for first in phases:
            chance = rates[j] * fleet.initial[first]
            add((q == 0) & (robots[j] > 0), chance, j, (after, z, first + 0 * i, *stopped))
    add(q == 1, ends[i], n_classes, (q - 1, z, 0 * i, *robots))
    for first in phases:
        add(q > 1, ends[i] * fleet.initial[first], n_classes, (q - 1, z, first + 0 * i, *robots))
        move = np.where(i == first, 0.0, fleet.generator[i, first])
        add(q > 0, move, n_classes + 1, (q, z, first + 0 * i, *robots))
    for new in range(len(fleet.switching)):
        switch = np.where(z == new, 0.0, fleet.switching[z, new])
        add(z >= 0, switch, n_classes + 1, (q, new + 0 * z, i, *robots))

    decisions, renumbered = np.unique(
        np.concatenate([block[2][block[1] > 0] for block in blocks]), return_inverse=True
    )
    number = np.full(size, -1)
    number[exists] = np.arange(np.count_nonzero(exists))
    options = _options(fleet, decisions, number)
    packed, at = [], 0
    for state, rate, _ in blocks:
        happens = rate > 0
        count = int(np.count_nonzero(happens))
        packed.append((number[state[happens]], rate[happens], renumbered[at : at + count]))
        at += count
    real = np.flatnonzero(exists)
    orders = (
        np.arange(real.size),
        np.lexsort((real, total[real])),
        np.lexsort((real, (total + q)[real])),
    )
    keys = np.empty((len(orders), real.size), dtype=np.int64)
    for row, order in enumerate(orders):
        keys[row, order] = np.arange(real.size)
    model = join_events(real.size, packed, options, _cost(fleet)[real], keys)
    return model, real, decisions


def _options(fleet: PhasedFleet, decisions: Counts, number: Counts) -> Counts:
    """Return the state after each decision: column 0 starts nothing, 1 + j one of class j."""
    size, n_classes = fleet.n_states, len(fleet.classes)
    kind, point = np.divmod(decisions, size)
    options = np.full((decisions.size, n_classes + 1), -1, dtype=np.int64)
    options[:, 0] = number[point]
    strides = np.cumprod((1, *fleet.shape[:2:-1]))[:-1][::-1]
    active = np.stack(np.unravel_index(point, fleet.shape)[3:])
    for j, robots in enumerate(fleet.classes):
        may = ((kind == j) | (kind == n_classes)) & (active[j] < robots.robots)
        options[may, 1 + j] = number[point[may] + strides[j]]
    return options


def _cost(fleet: PhasedFleet) -> Matrix:
    q = np.indices(fleet.shape)[0].ravel()
    active = _active(fleet).reshape(len(fleet.classes), -1)
    lost = np.where(q == fleet.buffer, _rates(fleet).sum(axis=0), 0.0)
    running = np.array([kind.cost for kind in fleet.classes]) @ active
    return np.asarray(
        fleet.starvation_weight * (q == 0)
        + fleet.loss_weight * lost
        + fleet.holding_cost * q
        + running
    )


def _balanced_choice(fleet: PhasedFleet, model: EventModel, decisions: Counts) -> Counts:
    """Start a robot as long as all together bring no more than the indexer can take."""
    speed = 1.0 / float(
        fleet.initial @ np.linalg.solve(-fleet.generator, np.ones_like(fleet.initial))
    )
    point = decisions % fleet.n_states
    enough = _rates(fleet).sum(axis=0)[point] >= speed
    many = np.diff(model.option_start) > 1
    return np.asarray((many & ~enough).astype(np.int64))


def _policy(
    fleet: PhasedFleet, model: EventModel, labels: tuple[Counts, Counts], found: EventOptimum
) -> PhasedPolicy:
    size, n_classes = fleet.n_states, len(fleet.classes)
    real, decisions = labels
    kind, point = np.divmod(decisions, size)
    to = model.option_state[model.option_start[:-1] + found.choice]
    grown = real[to] - point  # the stride of the class started, 0 for none
    arrival = np.zeros((n_classes, size), dtype=np.bool_)
    departure = np.full(size, -1, dtype=np.int64)
    strides = np.cumprod((1, *fleet.shape[:2:-1]))[:-1][::-1]
    for j in range(n_classes):
        arrival[j, point[(kind == j) & (grown > 0)]] = True
        started = (kind == n_classes) & (grown == strides[j])
        departure[point[started]] = j
    return PhasedPolicy(
        arrival=arrival.reshape(n_classes, *fleet.shape), departure=departure.reshape(fleet.shape)
    )


def _targets(fleet: PhasedFleet, values: Matrix) -> tuple[Counts | None, bool]:
    if len(fleet.classes) > 1:
        return None, False
    filled = np.where(np.isnan(values), np.inf, values)
    best = np.argmin(filled, axis=-1)
    best[0] = best[0, :, :1]  # an empty buffer has no indexing phase
    targets = np.moveaxis(best, 0, -1)
    falls = np.all(np.diff(targets, axis=-1) <= 0) and bool(np.all(_unimodal(filled)))
    return targets, bool(falls)


def _unimodal(values: Matrix) -> Flags:
    with np.errstate(invalid="ignore"):
        rises = np.diff(values, axis=-1) > 1e-9 * np.abs(values[..., 1:])
        falls = np.diff(values, axis=-1) < -1e-9 * np.abs(values[..., 1:])
    risen = np.cumsum(rises, axis=-1) > 0
    return np.asarray(~np.any(risen & falls, axis=-1))


def _measure(fleet: PhasedFleet, occupancy: Matrix) -> FleetMeasures:
    q, _, i, *robots = (axis.ravel() for axis in np.indices(fleet.shape))
    total = np.sum(robots, axis=0)
    ends = -fleet.generator.sum(axis=1)
    throughput = float(occupancy @ np.where(q > 0, ends[i], 0.0))
    buffer_mean = float(occupancy @ q)
    visited = total[occupancy > 0]
    return FleetMeasures(
        cost=float(occupancy @ _cost(fleet)),
        starvation=float(occupancy @ (q == 0)),
        loss_rate=float(occupancy @ np.where(q == fleet.buffer, _rates(fleet).sum(axis=0), 0.0)),
        throughput=throughput,
        buffer_mean=buffer_mean,
        response_time=buffer_mean / throughput,
        robots_mean=float(occupancy @ total),
        robots_min=int(visited.min()),
        robots_max=int(visited.max()),
        recurrent_states=int(visited.size),
    )
