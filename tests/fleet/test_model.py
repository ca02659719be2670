"""The buffer model: what it accepts, and the rates that it works out."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import ControlledBuffer

GOOD = {
    "robots": 3,
    "buffer": 2,
    "fetch_rate": 0.5,
    "index_rate": 2.0,
    "starvation_weight": 1.4,
}


def test_rates_and_costs_state_by_state() -> None:
    """Arrivals grow with the robots, the indexer idles at q = 0, and losses cost at q = K."""
    model = ControlledBuffer(3, 2, 0.5, 2.0, 1.4, 10.0, 0.1, 0.01)

    assert model.arrival_rates.tolist() == [[0, 0.5, 1, 1.5]] * 3
    assert model.index_rates.tolist() == [[0] * 4, [2] * 4, [2] * 4]
    np.testing.assert_allclose(
        model.cost_rates,
        [
            [1.4, 1.41, 1.42, 1.43],
            [0.1, 0.11, 0.12, 0.13],
            [0.2, 0.21 + 5, 0.22 + 10, 0.23 + 15],
        ],
    )


def test_rates_may_depend_on_the_state() -> None:
    """One rate per number of robots, one per length, or one per state."""
    fetch, index = [0.0, 1.0, 1.5, 1.7], [9.0, 2.0, 3.0]

    model = ControlledBuffer(3, 2, fetch, index, 1.0)
    same = ControlledBuffer(3, 2, np.tile(fetch, (3, 1)), np.tile(np.c_[index], 4), 1.0)

    assert model.arrival_rates.tolist() == same.arrival_rates.tolist() == [fetch] * 3
    assert (
        model.index_rates.tolist() == same.index_rates.tolist() == [[0.0] * 4, [2.0] * 4, [3.0] * 4]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"robots": 0}, "robots must be at least 1, got 0"),
        ({"buffer": -2}, "buffer must be at least 1, got -2"),
        ({"fetch_rate": 0.0}, "fetch_rate must be finite and > 0, got 0.0"),
        ({"fetch_rate": float("nan")}, "fetch_rate must be finite and > 0, got nan"),
        ({"fetch_rate": [0, 1, -1, 1]}, "fetch_rate must be finite and > 0, got -1.0"),
        ({"fetch_rate": [1, 1, 1, 1]}, "fetch_rate must be 0 where no robot is active"),
        ({"fetch_rate": [0, 1]}, r"fetch_rate must be a number, \(4,\) or \(3, 4\), got shape"),
        ({"index_rate": float("inf")}, "index_rate must be finite and > 0, got inf"),
        ({"index_rate": [0, 1, 0]}, "index_rate must be finite and > 0, got 0.0"),
        ({"index_rate": [0, 1]}, r"index_rate must be a number, \(3,\) or \(3, 4\), got shape"),
        ({"starvation_weight": -1.0}, "starvation_weight must be finite and >= 0, got -1.0"),
        ({"holding_cost": float("inf")}, "holding_cost must be finite and >= 0, got inf"),
        ({"robot_cost": -0.1}, "robot_cost must be finite and >= 0"),
        ({"starvation_weight": 0.0, "loss_weight": 0.0}, "are both 0"),
    ],
)
def test_numbers_outside_the_domain_are_refused(change: dict[str, object], message: str) -> None:
    """The message names the argument, the bound and the value."""
    with pytest.raises(InvalidModel, match=message):
        ControlledBuffer(**{**GOOD, **change})  # type: ignore[arg-type]
