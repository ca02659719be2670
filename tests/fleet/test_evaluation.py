"""Exact evaluation of any policy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.strategies import any_policies, curves, dense_occupancy, models, rational_cost

from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    RobotPolicy,
    evaluate_curve_policy,
    evaluate_policy,
    solve_static,
    static_cost,
)
from recrawl.fleet.curve import evaluate_targets


@given(st.data())
def test_the_curve_method_and_the_general_one_agree(data: st.DataObject) -> None:
    """Two independent eliminations: through the staircase of the curve, and band by band."""
    model = data.draw(models(7, general=data.draw(st.booleans())))
    targets = data.draw(curves(model.buffer, model.robots))

    (general,) = evaluate_policy(model, RobotPolicy.from_targets(targets, model.robots))
    curve = evaluate_curve_policy(model, targets)

    assert curve.cost == pytest.approx(general.cost, rel=1e-11)
    assert curve.starvation == pytest.approx(general.starvation, rel=1e-11)
    assert curve.loss_rate == pytest.approx(general.loss_rate, rel=1e-11)
    assert curve.response_time == pytest.approx(general.response_time, rel=1e-11)
    assert curve.robots_mean == pytest.approx(general.robots_mean, rel=1e-11)
    assert (curve.robots_min, curve.robots_max) == (general.robots_min, general.robots_max)
    assert curve.recurrent_states == general.recurrent_states


@given(st.data())
def test_occupancy_solves_the_balance_equations(data: st.DataObject) -> None:
    """The slow twin: a dense system built event by event."""
    model = data.draw(models(5, general=True))
    policy = data.draw(any_policies(model.buffer, model.robots))

    classes = evaluate_policy(model, policy)

    if len(classes) == 1:
        share = dense_occupancy(model, policy)
        assert classes[0].cost == pytest.approx(float(np.sum(share * model.cost_rates)), rel=1e-7)
        assert classes[0].starvation == pytest.approx(float(share[0].sum()), rel=1e-7, abs=1e-12)


@settings(max_examples=15)
@given(st.data())
def test_against_rational_arithmetic(data: st.DataObject) -> None:
    """Every digit but the last few, on models small enough for fractions."""
    robots, buffer = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    tenths = st.integers(1, 50).map(lambda n: n / 10)
    model = ControlledBuffer(robots, buffer, data.draw(tenths), data.draw(tenths), 1.4)
    targets = data.draw(curves(buffer, robots))

    expected = rational_cost(model, RobotPolicy.from_targets(targets, robots))

    assert evaluate_curve_policy(model, targets).cost == pytest.approx(float(expected), rel=1e-13)


@given(models(8), st.data())
def test_conservation(model: ControlledBuffer, data: st.DataObject) -> None:
    """What is brought is lost or indexed, and the indexer works whenever there is a page."""
    targets = data.draw(curves(model.buffer, model.robots))

    found = evaluate_curve_policy(model, targets)

    brought = model.fetch_rate * found.robots_mean  # type: ignore[operator]
    assert brought == pytest.approx(found.throughput + found.loss_rate, rel=1e-10)
    assert found.throughput == pytest.approx(
        model.index_rate * (1 - found.starvation),  # type: ignore[operator]
        rel=1e-10,
    )
    assert found.buffer_mean == pytest.approx(found.throughput * found.response_time, rel=1e-12)


def test_a_fixed_number_costs_what_equation_9_says() -> None:
    """The static policy is a queue with one server and K places."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)

    for n in (1, 7, 10, 16):
        (found,) = evaluate_policy(model, RobotPolicy.static(n, buffer=5, robots=16))
        assert found.cost == pytest.approx(static_cost(n / 10, 1.4, 5), rel=1e-12)
        assert (found.robots_min, found.robots_max) == (n, n)
        assert found.robots_mean == pytest.approx(n, rel=1e-12)
    assert solve_static(model).cost == pytest.approx(static_cost(1.0, 1.4, 5), rel=1e-12)


def test_the_papers_policy_with_two_recurrent_classes() -> None:
    """Its example of a multichain policy: one robot for ever, or two for ever."""
    always = np.ones((4, 3), np.bool_)
    only_when_empty = np.zeros((4, 3), np.bool_)
    only_when_empty[1, 0] = True
    model = ControlledBuffer(2, 3, 0.5, 1.0, 1.0)

    found = evaluate_policy(model, RobotPolicy(arrival=always, departure=only_when_empty))

    assert [part.robots_mean for part in found] == [pytest.approx(2.0), pytest.approx(1.0)]
    assert [part.cost for part in found] == [
        pytest.approx(static_cost(1.0, 1.0, 3)),
        pytest.approx(static_cost(0.5, 1.0, 3)),
    ]


def test_a_policy_for_another_size_is_refused() -> None:
    """The message gives both shapes."""
    with pytest.raises(InvalidModel, match=r"shape \(3, 3\); a buffer of 5 and 4 robots need"):
        evaluate_policy(
            ControlledBuffer(4, 5, 1.0, 1.0, 1.0), RobotPolicy.static(1, buffer=2, robots=2)
        )


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ((3, 2), "targets must have 4 entries"),
        ((1, 2, 3, 4), "must not increase"),
        ((0, 0, 0, 0), "must not increase, from 1..4"),
        ((5, 2, 1, 1), "must not increase, from 1..4"),
        ((2, 1, 0, -1), "must not increase"),
    ],
)
def test_what_is_no_curve_is_refused(targets: tuple[int, ...], message: str) -> None:
    """The curve method takes nonincreasing targets of the right length only."""
    with pytest.raises(InvalidModel, match=message):
        evaluate_targets(ControlledBuffer(4, 3, 1.0, 1.0, 1.0), targets)
