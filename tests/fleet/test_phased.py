"""Beyond the paper: classes of robots, environments, phase-type indexing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    PhasedFleet,
    RobotClass,
    erlang_service,
    solve_phased,
    solve_phased_static,
    solve_robots,
    solve_static,
)

ONE, RATE = erlang_service(1.0, 1)


def fleet(
    *classes: RobotClass,
    buffer: int = 5,
    phases: int = 1,
    environment: ArrayLike | None = None,
    weight: float = 1.4,
    holding_cost: float = 0.0,
) -> PhasedFleet:
    initial, generator = erlang_service(1.0, phases)
    return PhasedFleet(
        classes,
        buffer,
        initial,
        generator,
        weight,
        environment,
        1.0,
        holding_cost,
    )


def test_one_class_one_phase_is_the_papers_model() -> None:
    """Figure 3, through the general state space."""
    best = solve_phased(fleet(RobotClass(16, (0.1,))))

    expected = solve_robots(ControlledBuffer(16, 5, 0.1, 1.0, 1.4))
    assert best.measures.cost == pytest.approx(expected.cost, rel=1e-13)
    assert best.measures.response_time == pytest.approx(expected.measures.response_time, rel=1e-12)
    assert best.targets is not None
    assert tuple(best.targets[0, 0]) == expected.targets
    assert best.is_curve


def test_two_classes_that_are_equal_are_one_class() -> None:
    """8 + 8 robots of equal rate cost what 16 do."""
    best = solve_phased(fleet(RobotClass(8, (0.05,)), RobotClass(8, (0.05,))))

    assert best.measures.cost == pytest.approx(0.43407645393681665, rel=1e-12)
    assert best.targets is None


def test_an_environment_that_changes_nothing_changes_nothing() -> None:
    """Two phases with the same rate: the one-phase optimum in both."""
    switching = [[-0.1, 0.1], [0.3, -0.3]]

    best = solve_phased(fleet(RobotClass(12, (0.1, 0.1)), environment=switching))

    expected = solve_robots(ControlledBuffer(12, 5, 0.1, 1.0, 1.4))
    assert best.measures.cost == pytest.approx(expected.cost, rel=1e-12)
    assert best.targets is not None
    assert best.targets[:, 0].tolist() == [list(expected.targets)] * 2


def test_phases_of_equal_speed_in_a_hyperexponential_are_one() -> None:
    """A mixture of equal exponentials is that exponential."""
    best = solve_phased(
        PhasedFleet((RobotClass(8, (0.2,)),), 4, [0.3, 0.7], [[-1.0, 0.0], [0.0, -1.0]], 1.0)
    )

    expected = solve_robots(ControlledBuffer(8, 4, 0.2, 1.0, 1.0))
    assert best.measures.cost == pytest.approx(expected.cost, rel=1e-12)


def test_regular_indexing_is_easier_to_feed() -> None:
    """Less variation of the indexing time, less cost."""
    costs = [
        solve_phased(fleet(RobotClass(16, (0.1,)), phases=phases)).measures.cost
        for phases in (1, 2, 4)
    ]

    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 1.2 * costs[2]


def test_holding_costs_reach_the_general_model() -> None:
    """The counterexample to the conjecture costs the same in both state spaces."""
    one, rate = erlang_service(1.0, 1)
    best = solve_phased(
        PhasedFleet((RobotClass(3, (50.0,)),), 2, one, rate, 500.0, None, 1.0, 20.0)
    )

    assert best.measures.cost == pytest.approx(500 / 17, rel=1e-12)
    assert not best.is_curve


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_each_phase_has_its_own_falling_curve(seed: int) -> None:
    """Markov-modulated arrivals: every target falls with the length, more where robots are slow."""
    rng = np.random.default_rng(seed)
    slow, fast = sorted(10 ** rng.uniform(-2, 1, 2))
    leave = 10 ** rng.uniform(-2, 1, 2)
    environment = [[-leave[0], leave[0]], [leave[1], -leave[1]]]
    model = fleet(
        RobotClass(int(rng.integers(1, 9)), (float(slow), float(fast))),
        buffer=int(rng.integers(1, 7)),
        environment=environment,
        weight=float(10 ** rng.uniform(-1, 1)),
    )

    best = solve_phased(model)

    assert best.targets is not None
    assert np.all(np.diff(best.targets, axis=-1) <= 0)
    assert np.all(best.targets[0] >= best.targets[1])
    assert best.residual <= 1e-11
    assert best.measures.cost <= solve_phased_static(model).cost * (1 + 1e-9)


def test_fixed_numbers_agree_with_the_simple_model() -> None:
    """One class and one phase: Proposition 3 by enumeration."""
    static = solve_phased_static(fleet(RobotClass(16, (0.1,))))

    expected = solve_static(ControlledBuffer(16, 5, 0.1, 1.0, 1.4))
    assert static.robots == (expected.robots,)
    assert static.cost == pytest.approx(expected.cost, rel=1e-10)


def test_dear_robots_stay_at_home() -> None:
    """Of two classes alike but for their price the cheap one does the work."""
    best = solve_phased(fleet(RobotClass(12, (0.1,)), RobotClass(12, (0.1,), cost=10.0)))

    assert best.robots_by_class[1] < 1e-3
    assert best.robots_by_class[0] > 5


def test_too_many_combinations_are_refused() -> None:
    """Enumeration has its limit, and says so."""
    classes = [RobotClass(30, (0.1,))] * 3
    with pytest.raises(InvalidModel, match="29791 combinations"):
        solve_phased_static(fleet(*classes, buffer=1))


GOOD = {
    "classes": (RobotClass(2, (0.1,)),),
    "buffer": 2,
    "service_initial": [1.0],
    "service_generator": [[-1.0]],
    "starvation_weight": 1.0,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": ()}, "at least one class"),
        ({"buffer": 0}, "buffer must be at least 1"),
        ({"starvation_weight": -1.0}, "starvation_weight must be finite"),
        ({"starvation_weight": 0.0, "loss_weight": 0.0}, "both 0"),
        ({"service_initial": [0.5]}, "service_initial must be a distribution"),
        ({"service_initial": [1.0, 0.0]}, r"must be \(M,\) and \(M, M\)"),
        ({"service_generator": [[1.0]]}, "service_generator must have rates"),
        ({"service_generator": [[0.0]]}, "service_generator must have rates"),
        ({"environment": [[0.0, 0.0]]}, "environment must be square"),
        ({"environment": [[-1.0, 0.5], [1.0, -1.0]]}, "environment must be a generator"),
        ({"environment": [[-1.0, 1.0], [1.0, -1.0]]}, "one entry for each of 2 phases"),
        ({"classes": (RobotClass(999, (0.1,)), RobotClass(999, (0.1,)))}, "has 3000000 states"),
    ],
)
def test_fleets_outside_the_domain(change: dict[str, object], message: str) -> None:
    """The message names what is wrong and what would be right."""
    with pytest.raises(InvalidModel, match=message):
        PhasedFleet(**{**GOOD, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, (0.1,)), "robots of a class must be at least 1"),
        ((1, (0.0,)), "fetch_rates must be finite and > 0"),
        ((1, (0.1,), -1.0), "cost of a class"),
    ],
)
def test_classes_outside_the_domain(arguments: tuple[object, ...], message: str) -> None:
    """A class has robots, positive rates and a cost of at least 0."""
    with pytest.raises(InvalidModel, match=message):
        RobotClass(*arguments)  # type: ignore[arg-type]


def test_erlang_needs_a_phase_and_a_rate() -> None:
    """Both bounds are named."""
    with pytest.raises(InvalidModel, match="phases must be at least 1"):
        erlang_service(1.0, 0)
    with pytest.raises(InvalidModel, match="index_rate must be finite"):
        erlang_service(0.0, 2)
