"""The simulator against the exact answers, within its own 95 % intervals.

Seeds are fixed and each measure may lie 2 half widths (about 4 standard errors) away.
"""

import numpy as np
import pytest

from recrawl.crawler.control.fleet import FixedRobots, TableRobots, TargetRobots
from recrawl.crawler.control.fleet.careful import lookup_policy
from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    FleetMeasures,
    PhasedFleet,
    RobotClass,
    erlang_service,
    evaluate_curve_policy,
    evaluate_policy,
    solve_phased,
    solve_robots,
    static_cost,
)
from recrawl.simulation.controlled_queue import (
    Interval,
    SimulatedFleet,
    simulate_fleet,
    simulate_phased_fleet,
)

NAMES = (
    "cost",
    "starvation",
    "loss_rate",
    "throughput",
    "buffer_mean",
    "response_time",
    "robots_mean",
)


def assert_agrees(simulated: SimulatedFleet, exact: FleetMeasures) -> None:
    for name in NAMES:
        interval = getattr(simulated, name)
        assert interval.holds(getattr(exact, name), widths=2.0), (name, interval, exact)


@pytest.mark.parametrize("weight", [1.0, 1.4, 2.0])
def test_the_papers_figures(weight: float) -> None:
    """Optimal control as the live crawler asks for it; the response time is measured by page."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, weight)
    best = solve_robots(model)

    simulated = simulate_fleet(
        model, TargetRobots(best.targets), np.random.default_rng(5), events=1_000_000
    )

    assert_agrees(simulated, best.measures)
    assert simulated.cost.half_width < 0.01 * best.cost


def test_a_fixed_number_of_robots() -> None:
    """Equation 9, starting from one robot."""
    simulated = simulate_fleet(
        ControlledBuffer(16, 5, 0.1, 1.0, 1.4), FixedRobots(12), np.random.default_rng(6)
    )

    assert simulated.cost.holds(static_cost(1.2, 1.4, 5), widths=2.0)
    assert simulated.robots_mean.mean == pytest.approx(12.0)


def test_a_policy_without_a_curve() -> None:
    """The counterexample with a holding cost, as two tables."""
    model = ControlledBuffer(3, 2, 50.0, 1.0, 500.0, holding_cost=20.0)
    best = solve_robots(model)
    policy = lookup_policy(best)

    simulated = simulate_fleet(model, policy, np.random.default_rng(7))

    assert isinstance(policy, TableRobots)
    assert_agrees(simulated, best.measures)


def test_rates_that_depend_on_the_state() -> None:
    """Slower robots in numbers, a faster indexer under pressure, and a price on robots."""
    model = ControlledBuffer(
        4, 3, [0.0, 0.5, 0.9, 1.2, 1.4], [0.0, 1.0, 1.2, 1.5], 1.0, robot_cost=0.05
    )
    targets = (4, 3, 2, 2)

    simulated = simulate_fleet(model, TargetRobots(targets), np.random.default_rng(8))

    assert_agrees(simulated, evaluate_curve_policy(model, targets))


def test_all_extensions_together() -> None:
    """Two classes with prices, a changing environment and Erlang indexing."""
    initial, generator = erlang_service(1.0, 3)
    fleet = PhasedFleet(
        (RobotClass(8, (0.05, 0.2)), RobotClass(4, (0.2, 0.1), cost=0.01)),
        5,
        initial,
        generator,
        1.4,
        [[-0.1, 0.1], [0.2, -0.2]],
        1.0,
        0.02,
    )
    best = solve_phased(fleet)

    simulated = simulate_phased_fleet(fleet, best.policy, np.random.default_rng(9))

    assert_agrees(simulated, best.measures)


def test_hyperexponential_indexing_with_three_environments() -> None:
    """A random first phase of the indexing time, and an environment that goes round."""
    fleet = PhasedFleet(
        (RobotClass(6, (0.1, 0.3, 0.9)),),
        4,
        [0.8, 0.2],
        [[-2.0, 0.5], [0.0, -0.4]],
        2.0,
        [[-0.2, 0.2, 0.0], [0.0, -0.3, 0.3], [0.5, 0.0, -0.5]],
    )
    best = solve_phased(fleet)

    simulated = simulate_phased_fleet(fleet, best.policy, np.random.default_rng(10))

    assert_agrees(simulated, best.measures)


def test_the_same_seed_gives_the_same_run() -> None:
    """Randomness comes from the generator and nowhere else."""
    model = ControlledBuffer(3, 2, 0.5, 1.0, 1.0)
    runs = [
        simulate_fleet(model, FixedRobots(2), np.random.default_rng(1), events=10_000)
        for _ in range(2)
    ]

    assert runs[0] == runs[1]


def test_intervals_cover_as_often_as_they_say() -> None:
    """95 % of 200 short runs, within three standard errors."""
    model = ControlledBuffer(6, 3, 0.2, 1.0, 1.0)
    policy = TargetRobots((6, 5, 4, 2))
    (exact,) = evaluate_policy(model, solve_robots(model).policy)
    exact = evaluate_curve_policy(model, policy.targets)
    rng = np.random.default_rng(12)

    held = [
        simulate_fleet(model, policy, rng, events=40_000).cost.holds(exact.cost) for _ in range(200)
    ]

    assert abs(np.mean(held) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 200)


def test_too_few_events_and_absorbing_policies_are_refused() -> None:
    """An interval needs batches, and a queue needs a robot."""
    model = ControlledBuffer(3, 2, 0.5, 1.0, 1.0)
    rng = np.random.default_rng(0)

    with pytest.raises(InvalidModel, match="events must be at least 3200"):
        simulate_fleet(model, FixedRobots(1), rng, events=100)
    with pytest.raises(InvalidModel, match="starts no robot at an empty buffer"):
        simulate_fleet(model, _Never(), rng)


class _Never:
    """Starts nothing, ever."""

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """No."""
        return False

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """No."""
        return False


def test_an_interval_knows_what_it_holds() -> None:
    """Its ends included."""
    assert Interval(1.0, 0.5).holds(1.5)
    assert not Interval(1.0, 0.5).holds(1.6)
    assert Interval(1.0, 0.5).holds(1.6, widths=2)
