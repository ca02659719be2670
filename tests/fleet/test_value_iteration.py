"""The paper's relative value iteration."""

import pytest

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet import (
    ControlledBuffer,
    iterate_as_published,
    iterate_to_span,
    solve_robots,
)


def test_bounds_close_on_the_optimum() -> None:
    """Iterated to a small span it agrees with the exact solver."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)

    found = iterate_to_span(model, 1e-9)

    assert found.high - found.low <= 1e-9
    assert found.low <= solve_robots(model).cost <= found.high


def test_it_says_when_it_has_not_converged() -> None:
    """A limit of ten steps is not enough for anything."""
    with pytest.raises(NotConverged, match="relative value iteration") as raised:
        iterate_as_published(ControlledBuffer(16, 5, 0.1, 1.0, 1.4), limit=10)

    assert raised.value.iterations == 10


def test_it_knows_the_papers_model_only() -> None:
    """Holding costs and arrays of rates belong to the exact solver."""
    with pytest.raises(InvalidModel, match="use solve_robots"):
        iterate_as_published(ControlledBuffer(3, 2, 0.1, 1.0, 1.4, holding_cost=1.0))
